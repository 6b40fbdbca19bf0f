import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { lockMerchant, type Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { requestPaymentRetry } from "../retries-sql.ts";

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

/** Where a merchant's charges at Stripe go. */
export type StripeMethod = {
  readonly id: string;
  readonly merchantId: string;
  /** Stripe's ids: `cus_…` and `pm_…`. */
  readonly customerId: string;
  readonly paymentMethodId: string;
  readonly createdAt: Date;
};

/** The method in use. Null if the merchant is charged on its account. */
export async function readStripeMethod(db: Queryable, merchantId: string): Promise<StripeMethod | null> {
  const [row] = await db.query<{
    id: string;
    merchant_id: string;
    customer_id: string;
    payment_method_id: string;
    created_at: Date;
  }>({
    name: "read-stripe-method",
    text: `
      select id, merchant_id, customer_id, payment_method_id, created_at
      from stripe_methods
      where merchant_id = $1 and ended_at is null`,
    values: [merchantId],
  });
  if (row === undefined) return null;
  return {
    id: row.id,
    merchantId: row.merchant_id,
    customerId: row.customer_id,
    paymentMethodId: row.payment_method_id,
    createdAt: row.created_at,
  };
}

/** Removes the method for new charges. Payments in progress keep it. */
/** True if there was a method in use. */
async function endStripeMethod(db: Queryable, merchantId: string, now: Date): Promise<boolean> {
  const rows = await db.query({
    name: "end-stripe-method",
    text: "update stripe_methods set ended_at = $2 where merchant_id = $1 and ended_at is null returning id",
    values: [merchantId, now],
  });
  return rows.length > 0;
}

async function insertStripeMethod(tx: Queryable, method: StripeMethod): Promise<void> {
  await tx.query({
    name: "insert-stripe-method",
    text: `
      insert into stripe_methods (id, merchant_id, customer_id, payment_method_id, created_at)
      values ($1, $2, $3, $4, $5)`,
    values: [method.id, method.merchantId, method.customerId, method.paymentMethodId, method.createdAt],
  });
}
