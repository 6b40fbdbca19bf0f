import { acceptanceOf } from "../../lifecycle/applied-transition.ts";
import type { OrderState } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { failedOrders, goPastFailures } from "../changes/order-failure.ts";
import { storeTransitions } from "../changes/store-transitions.ts";
import { lockDueOrder, lockDueOrders } from "./acceptance-sql.ts";

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

/** A batch stays a narrow read and one update, except where an endpoint wants to be sent acceptances. */
async function acceptOrders(
  context: Context,
  connection: ConnectionKey,
  now: Date,
  lockOrders: (tx: Queryable) => Promise<OrderState[]>,
): Promise<number> {
  const accepted = await inTransaction(context, async (tx) => {
    const due = await lockOrders(tx);
    const acceptances = due.flatMap((order) => acceptanceOf(order, now) ?? []);
    await storeTransitions(tx, acceptances, { newId: context.newId, now });
    return acceptances.length;
  });
  if (accepted > 0) context.signals.send("deliveries_due", [connection]);
  return accepted;
}
