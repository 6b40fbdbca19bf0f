import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { retryDeclinedCharges } from "../retry/retry-declined-charges.ts";
import { endStripeMethod } from "./stripe-methods-sql.ts";

/**
 * Sends a merchant's new charges to its account with the service, and makes its declined ones due at once. A retry is
 * safe.
 */
export async function removeStripeMethod(
  context: Context,
  { id: merchantId }: Merchant,
  by: Initiator,
): Promise<void> {
  await inTransaction(context, async (tx) => {
    const ended = await endStripeMethod(tx, merchantId, context.clock.now());
    if (ended) await recordAudit(tx, context, by, { merchantId, subject: "mer", ids: [merchantId] });
  });
  await retryDeclinedCharges(context, merchantId);
}
