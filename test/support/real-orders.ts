import { expect } from "vitest";
import { type Partner, placeOrder } from "./builders.ts";
import { runJob } from "./jobs.ts";
import type { Answer, Client, TestService } from "./test-service.ts";

/** An order as the back office shows it. */
export async function readDetail(test: TestService, orderId: string, client: Client = test.backOffice) {
  const { status, body } = await client.get(`/api/orders/${orderId}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** An operation of the back office on an order, by the operator or by another caller. */
export const requestOperation = (
  test: TestService,
  orderId: string,
  operation: string,
  body: object = {},
  client: Client = test.backOffice,
): Promise<Answer> => client.post(`/api/orders/${orderId}/${operation}`, body);

/** The same; it must be taken. */
export async function operationApplied(
  test: TestService,
  orderId: string,
  operation: string,
  body: object = {},
) {
  const answer = await requestOperation(test, orderId, operation, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

/** A real order that its partner can no longer cancel, and that the warehouse can ship. */
export async function placeAcceptedOrder(test: TestService, partner: Partner, fields: object = {}) {
  const { id } = await placeOrder(partner, fields);
  test.clock.advance({ hours: 2 });
  await runJob(test, "accept-orders");
  return readDetail(test, id);
}

export function expectRejected(answer: Answer, rule: string, transition: string, orderStatus?: string): void {
  expect(answer.body, JSON.stringify(answer.body)).toMatchObject({
    status: 409,
    rule,
    transition,
    ...(orderStatus && { orderStatus }),
  });
  expect(answer.body.type).toMatch(/\/transition-refused$/);
}

/** What was done, by whom, oldest first. */
export const operationsOf = (detail: {
  timeline: { operation: string; actor: { kind: string } }[];
}): string[] => detail.timeline.map(({ operation, actor }) => `${operation} by ${actor.kind}`);
