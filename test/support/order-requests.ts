import { anOrder, type Partner } from "./builders.ts";
import { expectErrors, expectNothingHappened } from "./orders.ts";
import type { Answer, TestService } from "./test-service.ts";

/** The texts of a shipping address. */
export const REQUIRED_TEXTS = ["firstName", "lastName", "address1", "city", "zip"];
export const OPTIONAL_TEXTS = ["address2", "company", "name", "phone", "stateCode"];

/** Fields of a request for a product that does not exist. */
export const UNKNOWN_PRODUCT = {
  lines: [{ productId: "00000000-0000-7000-8000-000000000000", quantity: 1 }],
};

type Caller = Pick<Partner, "client">;

/** Sends a request for an order, under an Idempotency-Key header or without one. */
export const sendOrder = (by: Caller, request: object, key?: string | string[]): Promise<Answer> =>
  by.client.post("/v1/orders", request, key === undefined ? {} : { headers: { "idempotency-key": key } });

/** Sends a valid request, except for these fields. */
export const requestOrder = (by: Partner, fields: object = {}): Promise<Answer> =>
  sendOrder(by, anOrder(by, fields));

export const sendRawOrder = (by: Caller, rawBody: string | Buffer, headers = {}): Promise<Answer> =>
  by.client.request("POST", "/v1/orders", { rawBody, headers });

/** The request has errors at exactly these pointers, and nothing of it is stored. */
export async function expectInvalid(
  test: TestService,
  partner: Partner,
  response: Promise<Answer>,
  ...pointers: string[]
): Promise<void> {
  expectErrors(
    await response,
    pointers.map((pointer) => ({ pointer })),
  );
  await expectNothingHappened(test, partner);
}
