import type { OrderStatus } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { PagePosition } from "../../platform/wire/cursor.ts";

/** Null does not filter. */
type TestOrderFilter = { readonly status: OrderStatus | null; readonly onHold: boolean | null };

/**
 * The ids of a connection's test orders that have not expired, newest first, one more than the page if there is one. It
 * reads all of them by orders_expires_idx, at most as many as the limit `testOrders` allows.
 */
export async function listTestOrderIds(
  db: Queryable,
  connection: ConnectionKey,
  { status, onHold }: TestOrderFilter,
  { afterId, limit }: PagePosition,
  now: Date,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "list-test-order-ids",
    text: `
      select o.id
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.test_mode and o.expires_at > $3 and o.id < $4
        and ($6::text is null or o.status = $6) and ($7::boolean is null or (o.hold_reasons <> '{}') = $7)
      order by o.id desc
      limit $5 + 1`,
    values: [connection.merchantId, connection.connectionId, now, afterId, limit, status, onHold],
  });
  return rows.map(({ id }) => id);
}
