import { inOneStep, type Service } from "../service.ts";
import { storeOutcome } from "./change-order.ts";
import { applyTransition } from "./lifecycle.ts";
import { SERVICE } from "./order-step.ts";
import { readOrders } from "./orders-sql.ts";
import { lockShippedOrders } from "./shipped-orders-sql.ts";

/** Orders completed in one transaction. */
const BATCH_SIZE = 50;

/**
 * Completes orders of a connection whose merchant wants that to happen by itself: every line has shipped, nothing holds
 * the order, and no charge of it is still to be tried (decision 0050). Answers how many.
 */
export async function completeShippedOrders(service: Service, connectionId: string): Promise<number> {
  const completed = await inOneStep(service, async (tx) => {
    const ids = await lockShippedOrders(tx, connectionId, BATCH_SIZE);
    const context = { newId: service.newId, now: service.clock.now() };
    for (const order of await readOrders(tx, connectionId, ids)) {
      const outcome = applyTransition(order, { name: "complete" }, context.now);
      await storeOutcome(tx, order, outcome, { actor: SERVICE, action: "complete" }, context);
    }
    return ids.length;
  });
  if (completed > 0) service.wakeDispatchers([connectionId]);
  return completed;
}
