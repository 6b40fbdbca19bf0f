import { SERVICE } from "../../lifecycle/applied-transition.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { NewId } from "../../platform/ids.ts";
import type { FeedPositions } from "../../webhooks/publishing/events-sql.ts";
import { listWantedTypes } from "../../webhooks/publishing/wanted-types-sql.ts";
import { tellOptIns } from "../changes/opt-in-events.ts";
import { failedOrders, goPastFailures } from "../changes/order-failure.ts";
import { insertTimelineEntries } from "../changes/timeline-sql.ts";
import { readOrders } from "../orders-sql.ts";
import { type DueOrder, lockDueOrder, lockDueOrders, saveAcceptances } from "./acceptance-sql.ts";

/** Rows taken in one transaction: small enough that a partner's cancel never waits for long. */
const BATCH_SIZE = 500;

/**
 * Stores the acceptance of the next batch of a connection's orders whose window has closed. Skips those that cannot be
 * stored, and adds them to the run's failures; returns how many orders it processed. The lifecycle decides, exactly as
 * it does for a read or a cancel at the same time (decision 0012).
 */
export async function acceptDueOrders(
  context: Context,
  connection: ConnectionKey,
  failures: unknown[],
): Promise<number> {
  const now = context.clock.now();
  const except = failedOrders(failures, connection); // They are still due, and would come first again.
  let orderIds: string[] = [];
  try {
    return await acceptOrders(context, connection, now, async (tx) => {
      const due = await lockDueOrders(tx, connection, now, { except, limit: BATCH_SIZE });
      orderIds = due.map(({ id }) => id);
      return due;
    });
  } catch (error) {
    const failed = await goPastFailures({ error, connection, orderIds, step: "accepted" }, (orderId) =>
      acceptOrders(context, connection, now, (tx) => lockDueOrder(tx, connection, now, orderId)),
    );
    failures.push(...failed);
    return orderIds.length;
  }
}

async function acceptOrders(
  context: Context,
  connection: ConnectionKey,
  now: Date,
  lockOrders: (tx: Queryable) => Promise<DueOrder[]>,
): Promise<number> {
  const { newId } = context;
  const accepted = await inTransaction(context, async (tx) => {
    const due = await lockOrders(tx);
    const accepted = due.flatMap((order) => {
      const current = asOf(order, now);
      return current === order ? [] : [current];
    });
    const positions = await saveAcceptances(tx, connection, accepted);
    const steps = accepted.map((order) => ({
      ...order,
      actor: SERVICE,
      operation: "accept",
      orderId: order.id,
    }));
    await insertTimelineEntries(tx, connection, steps, { newId, now });
    await tellAcceptances(tx, connection, accepted, { newId, now }, positions);
    return accepted.length;
  });
  if (accepted > 0) context.signals.send("deliveries_due", [connection]);
  return accepted;
}

/** Orders are read whole only where an endpoint receives acceptances, so that elsewhere a batch is a single update. */
async function tellAcceptances(
  tx: Queryable,
  connection: ConnectionKey,
  accepted: readonly { id: string }[],
  step: { newId: NewId; now: Date },
  positions: FeedPositions,
): Promise<void> {
  if (accepted.length === 0 || !(await listWantedTypes(tx, connection)).has("order.accepted")) return;
  const orders = await readOrders(
    tx,
    connection,
    accepted.map(({ id }) => id),
  );
  const steps = orders.map((after) => ({ before: { ...after, status: "NEW" as const }, after }));
  await tellOptIns(tx, connection, steps, step, positions);
}
