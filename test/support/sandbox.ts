import { expect } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import type { Partner } from "./builders.ts";
import { dumpTables } from "./tables.ts";
import type { Answer, TestService } from "./test-service.ts";

/** The transitions of the sandbox, in the order of the specification. */
export const SANDBOX_TRANSITIONS = [
  "process",
  "accept",
  "hold",
  "releaseHold",
  "ship",
  "returnShipment",
  "complete",
  "cancel",
];

export const transitionPath = (orderId: string): string =>
  `/v1/test/orders/${encodeURIComponent(orderId)}/transitions`;

/** Requests one transition of a test order. */
export const transition = (
  partner: Pick<Partner, "client">,
  orderId: string,
  name: string,
  fields: object = {},
): Promise<Answer> => partner.client.post(transitionPath(orderId), { transition: name, ...fields });

/** Applies a transition that must succeed; returns the order. */
export async function applied(
  partner: Pick<Partner, "client">,
  orderId: string,
  name: string,
  fields: object = {},
): Promise<Answer["body"]> {
  const { status, body } = await transition(partner, orderId, name, fields);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** Requests a transition that must be rejected, and checks that nothing was stored. */
export async function expectRejected(
  test: TestService,
  partner: Partner,
  orderId: string,
  name: string,
  expected: { orderStatus: string; rule: string },
  fields: object = {},
): Promise<void> {
  const before = await dumpTables(test);
  const { status, headers, body } = await transition(partner, orderId, name, fields);
  expect(status, JSON.stringify(body)).toBe(409);
  expect(headers["content-type"]).toContain("application/problem+json");
  expect(body).toEqual({
    type: `${test.context.config.errorsBaseUrl}/transition-refused`,
    code: "transition-refused",
    title: "Transition not allowed",
    status: 409,
    detail: expect.stringMatching(/./),
    instance: transitionPath(orderId),
    transition: name,
    ...expected,
  });
  expect(await dumpTables(test)).toEqual(before);
}

/** Events about one order, oldest first. */
export async function eventsOf(test: TestService, orderId: string): Promise<Answer["body"][]> {
  const id = fromTypeId("test", orderId) ?? fromTypeId("ord", orderId);
  const rows = await test.db.query<{ body: string }>({
    name: "test-read-events-of-order",
    text: "select body from events where order_id = $1 order by id",
    values: [id],
  });
  return rows.map(({ body }) => JSON.parse(body));
}

export const typesOf = (events: readonly { type: string }[]): string[] => events.map(({ type }) => type);
