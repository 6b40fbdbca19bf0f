import { expect } from "vitest";
import { SERVICE, type TransitionCause } from "../../src/lifecycle/applied-transition.ts";
import { appliedTransitions, applyTransition, type Outcome } from "../../src/lifecycle/lifecycle.ts";
import type { Transition } from "../../src/lifecycle/order.ts";
import { inOrderTransaction } from "../../src/orders/changes/change-order.ts";
import { storeTransitions } from "../../src/orders/changes/store-transitions.ts";
import { parseOrderRef } from "../../src/orders/order-wire.ts";
import type { ConnectionKey } from "../../src/platform/connection-key.ts";
import type { Context } from "../../src/platform/context.ts";
import { fromTypeId, wireOrderId } from "../../src/platform/ids.ts";
import { sentenceOf, type Violation } from "../../src/platform/wire/rules.ts";
import { type Partner, readEvents } from "./builders.ts";
import type { Answer, TestService } from "./test-service.ts";

/** A partner's connection as the tables name it. */
export function connectionUuid({ connectionId }: Pick<Partner, "connectionId">): string {
  const id = fromTypeId("con", connectionId);
  if (id === null) throw new Error(`${connectionId} is no connection's id.`);
  return id;
}

/** A partner's connection and its merchant, as the tables name them. */
export const connectionKey = ({
  merchantId,
  connectionId,
}: Pick<Partner, "merchantId" | "connectionId">): ConnectionKey => ({
  merchantId: fromTypeId("mer", merchantId) ?? "",
  connectionId: connectionUuid({ connectionId }),
});

/** An order as it is stored in the tables, whatever its state at the time of the clock. */
export type StoredOrder = {
  id: string;
  idempotencyKey: string;
  externalOrderId: string | null;
  status: string;
  updatedAt: string;
  /** Number of its lines. */
  lines: number;
  /** Types of its events, by sequence. */
  events: string[];
};

/** A connection's orders as they are stored, oldest first, in one snapshot; no event may belong to any other order. */
export async function readStoredOrders(test: TestService, partner: Partner): Promise<StoredOrder[]> {
  const rows = await test.db.query<StoredOrder & { testMode: boolean; updatedAt: Date }>({
    name: "test-read-stored-orders",
    text: `
      select o.id, o.test_mode as "testMode", r.idempotency_key as "idempotencyKey",
             r.external_order_id as "externalOrderId", o.status, o.updated_at as "updatedAt",
             (select count(*)::integer from order_lines l
              where l.merchant_id = o.merchant_id and l.connection_id = $1 and l.order_id = o.id) as lines,
             (select coalesce(array_agg(e.type order by e.sequence), '{}') from events e
              where e.merchant_id = o.merchant_id and e.connection_id = $1 and e.order_id = o.id) as events
      from orders o
      join order_requests r on r.merchant_id = o.merchant_id and r.order_id = o.id
      where o.connection_id = $1
      order by o.id`,
    values: [connectionUuid(partner)],
  });
  expect(await readOrphanedEvents(test, partner)).toEqual([]);
  return rows.map(({ testMode, ...row }) => ({
    ...row,
    id: wireOrderId({ id: row.id, testMode }),
    updatedAt: row.updatedAt.toISOString(),
  }));
}

/** Types of events about orders that do not exist. */
function readOrphanedEvents(test: TestService, partner: Partner): Promise<{ type: string }[]> {
  return test.db.query({
    name: "test-read-orphaned-events",
    text: `
      select e.type
      from events e
      where e.connection_id = $1 and e.order_id is not null
        and not exists (select from orders o where o.merchant_id = e.merchant_id and o.connection_id = $1 and o.id = e.order_id)`,
    values: [connectionUuid(partner)],
  });
}

/** The events that were published to a partner about its orders, oldest first; all of them, or those of one order. */
export async function readOrderEvents(test: TestService, partner: Partner, orderId?: string) {
  const events = await readEvents(test, partner.connectionId);
  return events.filter(({ data }) => data.order && (orderId === undefined || data.order.id === orderId));
}

export const readOrderEventTypes = async (
  test: TestService,
  partner: Partner,
  orderId?: string,
): Promise<string[]> => (await readOrderEvents(test, partner, orderId)).map(({ type }) => type);

/** Nothing of a connection's orders has been stored or published. */
export async function expectNothingHappened(test: TestService, partner: Partner): Promise<void> {
  expect(await readStoredOrders(test, partner)).toEqual([]);
  expect(await readOrderEvents(test, partner)).toEqual([]);
}

/** Applies a transition in one transaction, by default as the service itself does. Null if there is no such order. */
export const applyToOrder = (
  context: Context,
  connection: ConnectionKey,
  orderId: string,
  transition: Transition,
  cause: TransitionCause = { actor: SERVICE, operation: transition.name },
): Promise<Outcome | null> =>
  inOrderTransaction(context, connection, parseOrderRef(orderId), async (tx, order, at) => {
    if (order === undefined) return null;
    const outcome = applyTransition(order, transition, at.now);
    await storeTransitions(tx, appliedTransitions(order, outcome, cause), at);
    return outcome;
  });

/** Applies a transition that a partner cannot request, such as a hold on a real order. */
export async function transitionOrder(
  { context }: TestService,
  partner: Partner,
  orderId: string,
  transition: Transition,
): Promise<void> {
  const outcome = await applyToOrder(context, connectionKey(partner), orderId, transition);
  expect(outcome).toMatchObject({ outcome: "applied" });
}

export const failPayment = (test: TestService, partner: Partner, orderId: string) =>
  transitionOrder(test, partner, orderId, { name: "hold", reasons: ["payment_failed"] });

export const orderPath = (orderId: string) => `/v1/orders/${encodeURIComponent(orderId)}`;

export async function readOrder(partner: Partner, orderId: string) {
  const { status, body } = await partner.client.get(orderPath(orderId));
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

export const cancelOrder = (partner: Partner, orderId: string) =>
  partner.client.post(`${orderPath(orderId)}/cancel`);

/** Cancels an order that can be canceled; returns the order. */
export async function expectCanceled(partner: Partner, orderId: string) {
  const { status, body } = await cancelOrder(partner, orderId);
  expect([status, body.status], JSON.stringify(body)).toEqual([200, "CANCELED"]);
  return body;
}

/** The response is exactly this problem: no member is missing, and there are none beyond `members`. */
export function expectProblem(answer: Answer, status: number, code: string, members: object = {}): void {
  const { instance, ...others } = answer.body;
  expect(others).toEqual({
    type: `http://localhost:8081/errors/${code}`,
    code,
    title: expect.stringMatching(/./),
    status,
    detail: expect.stringMatching(/./),
    ...members,
  });
  expect(instance).toMatch(/^\/(v1|api)\//);
  expect(answer.status).toBe(status);
  expect(answer.headers["content-type"]).toMatch(/^application\/problem\+json/);
}

/** 422 validation-failed with errors at exactly these positions, in any order. */
export function expectErrors(
  answer: Answer,
  positions: { pointer?: string; header?: string; parameter?: string }[],
) {
  expectProblem(answer, 422, "validation-failed", { errors: expect.any(Array) });
  const byText = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  const reported = answer.body.errors as (Violation & Record<string, string>)[];
  const positionsOf = reported.map(({ pointer, header, parameter }) => ({
    ...(pointer !== undefined && { pointer }),
    ...(header !== undefined && { header }),
    ...(parameter !== undefined && { parameter }),
  }));
  expect(positionsOf.sort(byText)).toEqual([...positions].sort(byText));
  for (const error of reported) expect(error["detail"]).toBe(sentenceOf(error));
}

/** A response without the parts that differ on every request: the request's id and path, and the time. */
export function withoutItsOwn({ status, headers, body }: Answer): string {
  const { "x-request-id": _id, date: _date, "content-length": _length, ...otherHeaders } = headers;
  return JSON.stringify({ status, headers: otherHeaders, body: { ...body, instance: null } });
}
