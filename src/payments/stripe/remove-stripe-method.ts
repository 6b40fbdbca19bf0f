import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { requestPaymentRetry } from "../retry/payment-retries-sql.ts";
import { endStripeMethod } from "./stripe-methods-sql.ts";

/**
 * Sends a merchant's new charges to its account with the service, and requests that its declined ones are attempted again. A
 * retry is safe.
 */
export async function removeStripeMethod(
  context: Context,
  { id: merchantId }: Merchant,
  by: Initiator,
): Promise<void> {
  await inTransaction(context, async (tx) => {
    const ended = await endStripeMethod(tx, merchantId, context.clock.now());
    if (!ended) return;
    await recordAudit(tx, context, by, { merchantId, subject: "mer", ids: [merchantId] });
    await requestPaymentRetry(tx, context, merchantId);
  });
}
