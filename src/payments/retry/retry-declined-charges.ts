import { bringMerchantForward } from "../../ledger/due-payments-sql.ts";
import type { Context } from "../../platform/context.ts";
import { isOutOfReach } from "../../platform/database/database.ts";
import { retried } from "../../platform/database/retry.ts";
import { listGivenUpOrders } from "./declined-charges-sql.ts";
import { retryPayment } from "./retry-payment.ts";

/**
 * Attempts a merchant's declined charges again at once, because it can pay more than before. Scheduled attempts become
 * due, and each order without one gets one. The orders belong to many connections, so each has its own transaction, and
 * a failure affects no other order. After a crash, repeating the request completes it.
 */
export async function retryDeclinedCharges(context: Context, merchantId: string): Promise<void> {
  const { db, clock, log } = context;
  await retried(db, clock, () => bringMerchantForward(db, merchantId, clock.now()));
  for (const order of await listGivenUpOrders(db, merchantId)) {
    try {
      // The charge may have been paid, canceled or retried since it was read. Then there is nothing to do.
      await retryPayment(context, order, null);
    } catch (err) {
      if (isOutOfReach(err)) throw err;
      const ids = { order: { id: order.id }, connection: { id: order.connectionId } };
      log.error({ err, ...ids }, "declined charge not retried; a later payment retries it");
    }
  }
}
