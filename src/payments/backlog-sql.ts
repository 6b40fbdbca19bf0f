import type { Queryable } from "../platform/database/database.ts";

/** When the oldest retry of declined charges that is not finished was requested; null without one. */
export async function readOldestPaymentRetry(db: Queryable): Promise<Date | null> {
  const [row] = await db.query<{ created_at: Date }>({
    name: "read-oldest-payment-retry",
    text: "select created_at from payment_retries order by created_at limit 1",
    values: [],
  });
  return row?.created_at ?? null;
}
