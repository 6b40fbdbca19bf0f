import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { deleteDeliveriesOfOrders } from "../../webhooks/log/erase-deliveries-sql.ts";
import { deleteEventsOfOrders } from "../../webhooks/publishing/events-sql.ts";
import {
  deleteExpiredOrders,
  listConnectionsWithExpiredOrders,
  lockExpiredOrders,
} from "./erase-test-orders-sql.ts";

/** Orders erased in one transaction: small enough that it is short. */
const BATCH_SIZE = 500;

/** Erases all test orders whose time is over. Returns how many. */
export async function eraseAllExpiredTestOrders(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(() => listConnectionsWithExpiredOrders(context.db, context.clock.now())),
    (connection) => eraseExpiredTestOrders(context, connection),
    stopping,
  );
}

/** Erases a batch of a connection's expired test orders; returns how many. */
export async function eraseExpiredTestOrders(context: Context, connection: ConnectionKey): Promise<number> {
  const now = context.clock.now();
  return inTransaction(context, async (tx) => {
    const expired = await lockExpiredOrders(tx, connection, now, BATCH_SIZE);
    return eraseOrders(tx, connection, expired, now);
  });
}

/**
 * Erases expired test orders, with all data that belongs to them: lines, shipments, events, deliveries and attempts
 * (specification, part 3, rule 4). Orders that are not due, or no longer due, are left alone. Returns how many it
 * erased.
 */
export async function eraseTestOrders(
  context: Context,
  connection: ConnectionKey,
  orderIds: readonly string[],
  now: Date,
): Promise<number> {
  return inTransaction(context, (tx) => eraseOrders(tx, connection, orderIds, now));
}

async function eraseOrders(
  tx: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
  now: Date,
): Promise<number> {
  const erased = await deleteExpiredOrders(tx, connection, orderIds, now);
  await deleteEventsOfOrders(tx, connection, erased);
  await deleteDeliveriesOfOrders(tx, connection, erased);
  return erased.length;
}
