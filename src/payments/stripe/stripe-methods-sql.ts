import type { Queryable } from "../../platform/database/database.ts";

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
export async function endStripeMethod(db: Queryable, merchantId: string, now: Date): Promise<boolean> {
  const rows = await db.query({
    name: "end-stripe-method",
    text: "update stripe_methods set ended_at = $2 where merchant_id = $1 and ended_at is null returning id",
    values: [merchantId, now],
  });
  return rows.length > 0;
}

export async function insertStripeMethod(tx: Queryable, method: StripeMethod): Promise<void> {
  await tx.query({
    name: "insert-stripe-method",
    text: `
      insert into stripe_methods (id, merchant_id, customer_id, payment_method_id, created_at)
      values ($1, $2, $3, $4, $5)`,
    values: [method.id, method.merchantId, method.customerId, method.paymentMethodId, method.createdAt],
  });
}
