import type pg from "pg";
import type { Receiver } from "../support/receivers.ts";
import type { Load, PlacedOrder } from "./load.ts";
import { until } from "./programs.ts";

/** A claim whose response was lost lasts a minute. */
const DELIVERED_WITHIN_MS = 180_000;

type Event = {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly data: { readonly order: { readonly id: string } };
};

/** Everything that was lost, doubled or out of order. */
export async function findFaults(session: pg.Client, load: Load, receiver: Receiver): Promise<string[]> {
  const { orders } = load;
  await until("all events and charges are processed", DELIVERED_WITHIN_MS, () => allProcessed(session)).catch(
    () => undefined, // What is missing is reported below.
  );
  return [
    ...load.faults,
    ...(await findWrongOrders(session, orders)),
    ...(await findWrongCharges(session, orders)),
    ...findWrongEvents(receiver, orders),
  ];
}

async function allProcessed(session: pg.Client): Promise<true | null> {
  const { rows } = await session.query<{ due: string }>(
    "select (select count(*) from due_deliveries) + (select count(*) from due_payments) as due",
  );
  return Number(rows[0]?.due) === 0 ? true : null;
}

/** Ids as they are stored, by the form that partners see. */
async function findWrongOrders(session: pg.Client, orders: readonly PlacedOrder[]): Promise<string[]> {
  const { rows } = await session.query<{ external_order_id: string; status: string; count: string }>(`
    select r.external_order_id, min(o.status) as status, count(*) as count
    from orders o
    join order_requests r on r.merchant_id = o.merchant_id and r.order_id = o.id
    group by r.external_order_id`);
  const stored = new Map(rows.map((row) => [row.external_order_id, row]));
  const wrong = orders.flatMap(({ externalId, canceled }) => {
    const row = stored.get(externalId);
    if (row === undefined) return [`${externalId} was acknowledged and is lost`];
    if (row.count !== "1") return [`${externalId} exists ${row.count} times`];
    const expected = canceled ? "CANCELED" : "NEW";
    return row.status === expected ? [] : [`${externalId} is ${row.status} and not ${expected}`];
  });
  return rows.length === orders.length
    ? wrong
    : [...wrong, `${rows.length} orders are stored, ${orders.length} acknowledged`];
}

/** Each order has one charge, each canceled one a refund, and the account has each of them once. */
async function findWrongCharges(session: pg.Client, orders: readonly PlacedOrder[]): Promise<string[]> {
  const { rows } = await session.query<{
    external_order_id: string;
    goods: number;
    refunds: number;
    booked: number;
  }>(`
    select
      r.external_order_id,
      count(*) filter (where e.kind = 'goods' and e.outcome = 'succeeded')::int as goods,
      count(*) filter (where e.kind = 'refund' and e.outcome = 'succeeded')::int as refunds,
      count(a.id)::int as booked
    from orders o
    join order_requests r on r.merchant_id = o.merchant_id and r.order_id = o.id
    left join ledger_entries e on e.merchant_id = o.merchant_id and e.order_id = o.id
    left join account_entries a on a.merchant_id = e.merchant_id and a.id = e.id
    group by r.external_order_id`);
  const charged = new Map(rows.map((row) => [row.external_order_id, row]));
  return orders.flatMap(({ externalId, canceled }) => {
    const { goods = 0, refunds = 0, booked = 0 } = charged.get(externalId) ?? {};
    // An order that was canceled before its charge was processed is never charged.
    const isRight =
      goods + refunds === booked &&
      (canceled ? goods === refunds && goods <= 1 : goods === 1 && refunds === 0);
    return isRight
      ? []
      : [`${externalId}: ${goods} charges, ${refunds} refunds, ${booked} entries of the account`];
  });
}

/** Each event arrived, always with the same body, and for the first time after the earlier ones of its order. */
function findWrongEvents({ requests }: Receiver, orders: readonly PlacedOrder[]): string[] {
  const wrong: string[] = [];
  const bodies = new Map<string, string>();
  const arrived = new Map<string, string[]>();
  for (const { body } of requests) {
    const { id, type, sequence, data } = JSON.parse(body) as Event; // As documented.
    if (bodies.has(id)) {
      if (bodies.get(id) !== body) wrong.push(`${id} arrived with two bodies`);
      continue;
    }
    bodies.set(id, body);
    const types = arrived.get(data.order.id) ?? [];
    arrived.set(data.order.id, types);
    types.push(type);
    if (sequence !== types.length)
      wrong.push(`${data.order.id}: event ${sequence} arrived as number ${types.length}`);
  }
  for (const { id, canceled } of orders) {
    const expected = canceled ? "order.created,order.canceled" : "order.created";
    const types = arrived.get(id)?.join() ?? "none";
    if (types !== expected) wrong.push(`${id}: the events ${types} arrived and not ${expected}`);
  }
  return wrong;
}
