import { amongMerchants, merchantsOf } from "../../distribution/among-merchants.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";

/**
 * Erases what partners returned to the deliveries of orders: a receiver may repeat the address that it was sent. Status,
 * time and error of each attempt stay.
 * @param since before the first delivery of the orders: it excludes older partitions
 */
export async function eraseResponses(
  tx: Queryable,
  orders: readonly { readonly merchantId: string; readonly id: string }[],
  since: Date,
): Promise<void> {
  await tx.query({
    name: "erase-responses",
    text: `
      update attempts a
      set response_body = null
      from unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, order_id)
      join deliveries d on d.merchant_id = erased.merchant_id and d.stream_id = erased.order_id
      where a.merchant_id = d.merchant_id and a.delivery_id = d.id and a.id >= $3 and a.response_body is not null
        and ${amongMerchants("$4", "a.merchant_id")} and ${amongMerchants("$4", "d.merchant_id")}`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      uuidAt(since),
      await merchantsOf(tx, orders),
    ],
  });
}
