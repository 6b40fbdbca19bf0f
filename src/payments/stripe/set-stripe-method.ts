import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { lockMerchant, type Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { requestPaymentRetry } from "../retry/payment-retries-sql.ts";
import {
  endStripeMethod,
  insertStripeMethod,
  readStripeMethod,
  type StripeMethod,
} from "./stripe-methods-sql.ts";

/**
 * Sends a merchant's new charges to this method at Stripe, and requests that its declined charges are attempted again, also
 * if the method is already in use: its decline may have been cleared. Payments in progress keep their method.
 */
export async function setStripeMethod(
  context: Context,
  { id: merchantId }: Merchant,
  fields: Pick<StripeMethod, "customerId" | "paymentMethodId">,
  by: Initiator,
): Promise<StripeMethod> {
  return inTransaction(context, async (tx) => {
    await lockMerchant(tx, merchantId); // Concurrent changes of a merchant's method wait for each other.
    const current = await readStripeMethod(tx, merchantId);
    if (current?.customerId === fields.customerId && current.paymentMethodId === fields.paymentMethodId) {
      await requestPaymentRetry(tx, context, merchantId);
      return current;
    }
    const now = context.clock.now();
    const method = { ...fields, id: context.newId(), merchantId, createdAt: now };
    await endStripeMethod(tx, merchantId, now);
    await insertStripeMethod(tx, method);
    await recordAudit(tx, context, by, { merchantId, subject: "mer", ids: [merchantId], details: fields });
    await requestPaymentRetry(tx, context, merchantId);
    return method;
  });
}
