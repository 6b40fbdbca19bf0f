import type { Problem } from "../http/problems.ts";
import { asOf, wasCanceled } from "../orders/lifecycle.ts";
import type { Order, OrderRef } from "../orders/order.ts";
import type { Actor } from "../orders/order-step.ts";
import { lockOrder } from "../orders/orders-sql.ts";
import { insertSteps } from "../orders/timeline-sql.ts";
import { transitionRefused } from "../orders/transition-refused.ts";
import { inOneStep, type Service } from "../service.ts";
import { isStorableText } from "../text.ts";
import { bringForward } from "./due-payments-sql.ts";
import { retriesOf } from "./ledger.ts";
import { insertEntries, readLedger } from "./ledger-sql.ts";

type PaymentRetry = {
  readonly connectionId: string;
  readonly ref: OrderRef;
  readonly actor: Actor;
  /** The answer when the connection has no such order. */
  readonly missing: Problem;
};

const ACTION = "retryPayment";

/**
 * Makes what was declined due at once: the attempt that waits for its time, or a further one after the schedule's last.
 * Of a canceled order these are its refunds. Answers the order, or 409 `nothing_to_pay`. A retry is safe: an attempt
 * that is due or under way stays the only one.
 */
export async function retryPayment(service: Service, retry: PaymentRetry): Promise<Order | Problem> {
  const { connectionId, ref, actor, missing } = retry;
  if (!isStorableText(ref.externalOrderId)) return missing; // No order can have such an id.
  return inOneStep(service, async (tx) => {
    const stored = await lockOrder(tx, connectionId, ref, service.clock);
    if (stored === undefined) return missing;
    const context = { newId: service.newId, now: service.clock.now() };
    const order = asOf(stored, context.now);
    const ledger = await readLedger(tx, connectionId, order.id);
    const retries = retriesOf(ledger, wasCanceled(order), context.now);
    const add = retries.add.map((entry) => ({ ...entry, orderId: order.id }));
    const waiting = retries.bringForward.map(({ id }) => id);
    if (add.length + waiting.length === 0) return transitionRefused(ACTION, order, "nothing_to_pay");
    await bringForward(tx, connectionId, order.id, waiting, context.now);
    await insertEntries(tx, connectionId, add, context);
    await insertSteps(tx, connectionId, [{ ...order, actor, action: ACTION, orderId: order.id }], context);
    return order;
  });
}
