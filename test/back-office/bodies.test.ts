import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { created, createPartner, type Partner } from "../support/builders.ts";
import { dumpTables } from "../support/tables.ts";
import { type RequestOptions, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const connectionPath = () => `/api/connections/${partner.connectionId}`;
const productPath = () => `/api/products/${partner.productIds[0]}`;

/** Every route of the back office whose body has only optional fields. */
const OPTIONAL_BODIES: [method: string, path: () => string, status: number][] = [
  ["POST", () => `${connectionPath()}/keys`, 201],
  ["PATCH", connectionPath, 200],
  ["PATCH", productPath, 200],
];

describe("a body whose fields are all optional", () => {
  it.each(OPTIONAL_BODIES)("may be left out: %s %s", async (method, path, status) => {
    const forms: RequestOptions[] = [
      {},
      { rawBody: "", headers: { "content-type": "application/json" } },
      { rawBody: "", headers: { "content-type": "application/x-www-form-urlencoded" } },
    ];
    for (const form of forms)
      expect((await test.backOffice.request(method, path(), form)).status).toBe(status);
  });

  it("that is left out says the same as {}", async () => {
    const { id, key, prefix, ...bare } = await created(test.backOffice.post(`${connectionPath()}/keys`));
    expect(bare).toMatchObject({ connectionId: partner.connectionId, name: null, expiresAt: null });
    expect((await test.partner(key).get("/v1/me")).body.key).toMatchObject({ id, prefix });
    const before = await test.backOffice.get(connectionPath());
    expect((await test.backOffice.request("PATCH", connectionPath())).body).toEqual(before.body);
  });

  it.each(OPTIONAL_BODIES)("is read when it is there: %s %s", async (method, path) => {
    const before = await dumpTables(test);
    const send = (rawBody: string, type = "application/json") =>
      test.backOffice.request(method, path(), { rawBody, headers: { "content-type": type } });
    expect((await send(" ")).status).toBe(400);
    expect((await send("{")).status).toBe(400);
    expect((await send("{}", "text/plain")).status).toBe(415);
    for (const other of ["null", "[]", '""', "0"]) expect((await send(other)).status, other).toBe(422);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("is not one with a required field: that must be there", async () => {
    for (const path of ["/api/merchants", `/api/merchants/${partner.merchantId}/connections`])
      expect((await test.backOffice.post(path)).status).toBe(400);
  });
});
