import type { Queryable } from "../database/database.ts";
import { inOneStep, type Service } from "../service.ts";
import { storeOutcome } from "./change-order.ts";
import { applyTransition } from "./lifecycle.ts";
import { failedOrders, goPastFailures } from "./order-failure.ts";
import { SERVICE } from "./order-step.ts";
import { readOrders } from "./orders-sql.ts";
import { lockShippedOrder, lockShippedOrders } from "./shipped-orders-sql.ts";

/** Orders completed in one transaction. */
const BATCH_SIZE = 50;

/**
 * Completes the next batch of a connection's orders whose merchant wants that to happen by itself: every line has
 * shipped, nothing holds the order, and no charge of it is still to be tried (decision 0050). It goes past those that
 * cannot be stored, which it adds to the round's failures; answers how many it looked at.
 */
export async function completeShippedOrders(
  service: Service,
  connectionId: string,
  failures: unknown[],
): Promise<number> {
  const except = failedOrders(failures, connectionId);
  let orderIds: string[] = [];
  try {
    await completeOrders(service, connectionId, async (tx) => {
      orderIds = await lockShippedOrders(tx, connectionId, { except, limit: BATCH_SIZE });
      return orderIds;
    });
  } catch (error) {
    const failed = await goPastFailures({ error, connectionId, orderIds, step: "completed" }, (orderId) =>
      completeOrders(service, connectionId, (tx) => lockShippedOrder(tx, connectionId, orderId)),
    );
    failures.push(...failed);
  }
  return orderIds.length;
}

async function completeOrders(
  service: Service,
  connectionId: string,
  lockOrders: (tx: Queryable) => Promise<string[]>,
): Promise<void> {
  const completed = await inOneStep(service, async (tx) => {
    const ids = await lockOrders(tx);
    const context = { newId: service.newId, now: service.clock.now() };
    for (const order of await readOrders(tx, connectionId, ids)) {
      const outcome = applyTransition(order, { name: "complete" }, context.now);
      await storeOutcome(tx, order, outcome, { actor: SERVICE, action: "complete" }, context);
    }
    return ids.length;
  });
  if (completed > 0) service.wakeDispatchers([connectionId]);
}
