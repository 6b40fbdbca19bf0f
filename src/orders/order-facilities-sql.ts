import type { OrderKey } from "../lifecycle/order.ts";
import type { Queryable } from "../platform/database/database.ts";

/** The facilities that these orders are routed to, by the ids of the orders. Orders that are routed nowhere are left out. */
export async function readFacilitiesOfOrders(
  db: Queryable,
  orders: readonly Pick<OrderKey, "merchantId" | "id">[],
): Promise<ReadonlyMap<string, string>> {
  if (orders.length === 0) return new Map();
  const rows = await db.query<{ id: string; facility_id: string }>({
    name: "read-facilities-of-orders",
    text: `
      select o.id, o.facility_id
      from unnest($1::uuid[], $2::uuid[]) as k (merchant_id, id)
      join orders o on o.merchant_id = k.merchant_id and o.id = k.id
      where o.facility_id is not null`,
    values: [orders.map(({ merchantId }) => merchantId), orders.map(({ id }) => id)],
  });
  return new Map(rows.map((row) => [row.id, row.facility_id]));
}
