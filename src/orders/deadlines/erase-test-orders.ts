import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import type { OrderRef } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { notFound, type Problem } from "../../platform/wire/problems.ts";
import { eraseFaults } from "../../webhooks/faults/faults-sql.ts";
import { eraseDeliveries } from "../../webhooks/log/erase-sql.ts";
import { eraseEvents } from "../../webhooks/publishing-sql.ts";
import { inOrderTransaction } from "../changes/change-order.ts";
import {
  deleteOrders,
  eraseTimelines,
  expireTestOrders,
  listConnectionsWithExpiredOrders,
  lockErasedOrders,
  markErased,
  markExpiredOrders,
} from "./erase-test-orders-sql.ts";

/** Orders marked by one statement. */
const MARKED_MAX = 500;
/** Orders erased in one transaction. Each has at most 100 lines and as many shipments. */
const ORDERS_MAX = 100;
/** Deliveries, attempts and entries of timelines deleted in one transaction. So it is short and needs little memory. */
const ROWS_MAX = 2_000;
/** Fewer events, because their bodies are large. */
const EVENTS_MAX = 500;

/** The rows that a batch has deleted. `rows` counts orders and their data. It is 0 if nothing was left to erase. */
type ErasedBatch = { readonly orders: number; readonly rows: number };

/**
 * Erases a test order before its time, so that its key and its external id are free at once. The order is as good as missing
 * from the commit on, and the job deletes its data within seconds (docs/design/isolation-and-limits.md, "Test orders are erased
 * in batches"). A real order gets the same response as a missing one. Null: it is erased.
 */
export async function eraseTestOrder(
  context: Context,
  connection: ConnectionKey,
  ref: OrderRef,
  by: Initiator,
): Promise<Problem | null> {
  return inOrderTransaction(context, connection, ref, async (tx, order, at) => {
    if (!order?.testMode) return notFound("test order");
    await markErased(tx, order, at.now);
    const { merchantId, connectionId, id } = order;
    await recordAudit(tx, at, by, { merchantId, connectionId, subject: "test", ids: [id] });
    return null;
  });
}

/** Erases all expired test orders. Returns how many it erased. */
export async function eraseAllExpiredTestOrders(context: Context, stopping?: AbortSignal): Promise<number> {
  let orders = 0;
  await runInTurn(
    listedEachPass(() => listConnectionsWithExpiredOrders(context.db, context.clock.now())),
    async (connection) => {
      const erased = await eraseExpiredTestOrders(context, connection);
      orders += erased.orders;
      return erased.rows;
    },
    stopping,
  );
  return orders;
}

/**
 * Erases a batch of a connection's expired test orders, with all data that belongs to them (specification, part 3, rule 4).
 * First they are marked, by a short statement: they give up their keys and external ids, so that no creation waits for an
 * erasure. Then a transaction deletes a bounded number of rows, and the orders' own rows last. After a crash the next run
 * continues with what is left (docs/design/isolation-and-limits.md, "Test orders are erased in batches").
 */
export async function eraseExpiredTestOrders(
  context: Context,
  connection: ConnectionKey,
): Promise<ErasedBatch> {
  const now = context.clock.now();
  await markExpiredOrders(context.db, connection, now, MARKED_MAX);
  return inTransaction(context, (tx) => eraseBatch(tx, connection, now));
}

/** Lets the next test orders of a connection that has ended expire. Returns how many. */
export const expireNextTestOrders = ({ db, clock }: Context, connection: ConnectionKey): Promise<number> =>
  expireTestOrders(db, connection, clock.now(), MARKED_MAX);

async function eraseBatch(tx: Queryable, connection: ConnectionKey, now: Date): Promise<ErasedBatch> {
  const marked = await lockErasedOrders(tx, connection, now, ORDERS_MAX);
  const [first] = marked;
  if (first === undefined) return { orders: 0, rows: 0 };
  const orderIds = marked.map(({ id }) => id);
  const createdFrom = marked.reduce(
    (earliest, { createdAt }) => (createdAt < earliest ? createdAt : earliest),
    first.createdAt,
  );
  const deliveries = await eraseDeliveries(tx, { ...connection, orderIds, createdFrom }, ROWS_MAX);
  if (!deliveries.isDone) return { orders: 0, rows: deliveries.rows };
  const events = await eraseEvents(tx, connection, orderIds, EVENTS_MAX);
  if (events === EVENTS_MAX) return { orders: 0, rows: events };
  const entries = await eraseTimelines(tx, connection, orderIds, ROWS_MAX);
  if (entries === ROWS_MAX) return { orders: 0, rows: entries };
  await eraseFaults(tx, connection, orderIds);
  await deleteOrders(tx, connection, orderIds);
  return { orders: orderIds.length, rows: orderIds.length };
}
