import type { Queryable } from "../platform/database/database.ts";
import { ROWS_READ_MAX } from "../platform/wire/cursor.ts";

export type OrdersMoved = { readonly shipped: number; readonly returned: number };

/**
 * Orders of which stock left a facility, or came back to it, since the time of an id. Of the newest ROWS_READ_MAX
 * movements, by stock_movements_facility_idx.
 */
export async function countOrdersMoved(
  db: Queryable,
  facilityId: string,
  sinceId: string,
): Promise<OrdersMoved> {
  const [row] = await db.query<OrdersMoved>({
    name: "count-orders-moved",
    text: `
      select count(distinct m.order_id) filter (where m.kind = 'shipped')::integer as shipped,
             count(distinct m.order_id) filter (where m.kind = 'returned')::integer as returned
      from (
        select m.merchant_id, m.order_id, m.kind
        from stock_movements m
        where m.facility_id = $1 and m.id >= $2
        order by m.id desc
        limit ${ROWS_READ_MAX}) as m`,
    values: [facilityId, sinceId],
  });
  return row ?? { shipped: 0, returned: 0 };
}
