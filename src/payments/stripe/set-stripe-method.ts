import type { Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { retryDeclinedCharges } from "../retry/retry-declined-charges.ts";
import {
  endStripeMethod,
  insertStripeMethod,
  lockMerchantOfMethod,
  readStripeMethod,
  type StripeMethod,
} from "./stripe-methods-sql.ts";

/**
 * Lets a merchant's new charges go to this method at Stripe, and its declined ones be tried again at once. What is under
 * way keeps the method that it was begun with. A retry is safe: the method that is in use already stays.
 */
export async function setStripeMethod(
  context: Context,
  { id: merchantId }: Merchant,
  fields: Pick<StripeMethod, "customerId" | "paymentMethodId">,
): Promise<StripeMethod> {
  const inUse = await inTransaction(context, async (tx) => {
    await lockMerchantOfMethod(tx, merchantId);
    const current = await readStripeMethod(tx, merchantId);
    if (current?.customerId === fields.customerId && current.paymentMethodId === fields.paymentMethodId)
      return current;
    const now = context.clock.now();
    const method = { ...fields, id: context.newId(), merchantId, createdAt: now };
    await endStripeMethod(tx, merchantId, now);
    await insertStripeMethod(tx, method);
    return method;
  });
  await retryDeclinedCharges(context, merchantId);
  return inUse;
}
