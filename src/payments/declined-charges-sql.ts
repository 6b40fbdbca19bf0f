import type { Queryable } from "../database/database.ts";
import { hasDuePayment } from "./due-payments-sql.ts";

/** Makes every scheduled attempt of a merchant's orders due now. A scan over all shards. */
export async function bringMerchantForward(db: Queryable, merchantId: string, now: Date): Promise<void> {
  await db.query({
    name: "bring-merchant-forward",
    text: `
      update due_payments d
      set due_at = $2
      from connections c
      where c.merchant_id = $1 and d.connection_id = c.id and d.tries = 0 and d.due_at > $2`,
    values: [merchantId, now],
  });
}

/** An order as the tables name it. */
export type OrderKey = { readonly connectionId: string; readonly orderId: string };

/**
 * A merchant's orders that are held because payment failed and for which nothing is scheduled any more, oldest first. A
 * scan over all shards; uses orders_held_idx.
 */
export async function listGivenUpOrders(db: Queryable, merchantId: string): Promise<OrderKey[]> {
  const rows = await db.query<{ connection_id: string; id: string }>({
    name: "list-given-up-orders",
    text: `
      select o.connection_id, o.id
      from connections c
      join orders o on o.connection_id = c.id
      where c.merchant_id = $1
        and o.hold_reasons <> '{}' and not o.test_mode and o.hold_reasons @> '{payment_failed}'
        and not ${hasDuePayment("o")}
      order by o.id`,
    values: [merchantId],
  });
  return rows.map((row) => ({ connectionId: row.connection_id, orderId: row.id }));
}
