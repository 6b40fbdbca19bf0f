import { bringMerchantForward } from "../../ledger/due-payments-sql.ts";
import { SERVICE } from "../../lifecycle/applied-transition.ts";
import type { Context } from "../../platform/context.ts";
import { isOutOfReach } from "../../platform/database/database.ts";
import { retried } from "../../platform/database/retry.ts";
import { wireOrderId } from "../../platform/ids.ts";
import { notFound } from "../../platform/wire/problems.ts";
import { listGivenUpOrders, type OrderKey } from "./declined-charges-sql.ts";
import { retryPayment } from "./retry-payment.ts";

/**
 * Tries a merchant's declined charges again at once, since it can pay more than before: the attempts that wait for
 * their time, and one more for each order that nothing is scheduled for any more. Orders of many connections are
 * concerned, so each is a step of its own, and one that fails keeps no other from it. What a crash leaves out is done
 * when this is asked for again.
 */
export async function retryDeclinedCharges(context: Context, merchantId: string): Promise<void> {
  const { db, clock, log } = context;
  await retried(db, clock, () => bringMerchantForward(db, merchantId, clock.now()));
  for (const order of await listGivenUpOrders(db, merchantId)) {
    try {
      await retryOrder(context, order);
    } catch (err) {
      if (isOutOfReach(err)) throw err;
      const place = { order: { id: order.orderId }, connection: { id: order.connectionId } };
      log.error({ err, ...place }, "a declined charge could not be tried again; a later payment finds it");
    }
  }
}

/** Somebody may have paid, canceled or retried the order since the look; then there is nothing to do for it. */
async function retryOrder(context: Context, { merchantId, connectionId, orderId }: OrderKey): Promise<void> {
  const externalOrderId = wireOrderId({ id: orderId, testMode: false });
  await retryPayment(context, {
    merchantId,
    connectionId,
    ref: { id: orderId, testMode: false, externalOrderId },
    actor: SERVICE,
    missing: notFound("order"),
  });
}
