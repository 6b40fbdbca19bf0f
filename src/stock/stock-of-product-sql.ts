import type { Queryable } from "../platform/database/database.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";
import type { ProductKey, StockRecord } from "./stock.ts";
import { type StockRow, toStockRecord } from "./stock-sql.ts";

/** The stock of a product at a facility. */
export type StockAtFacility = StockRecord & {
  /** The id of the facility. */
  readonly id: string;
  readonly facilityName: string;
  readonly facilityClosedAt: Date | null;
};

/**
 * The stock of a product at all facilities that have a record of it, or at those of these, the oldest facility first.
 * Returns one row more than the page if there is one. A look-up by the primary key for each facility.
 */
export async function listStockOfProduct(
  db: Queryable,
  { merchantId, id }: ProductKey,
  facilityIds: readonly string[] | null,
  { afterId, limit }: PagePosition,
): Promise<StockAtFacility[]> {
  const rows = await db.query<StockRow & { facility_name: string; closed_at: Date | null }>({
    name: "list-stock-of-product",
    text: `
      select s.merchant_id, s.facility_id, s.product_id, s.on_hand, s.reserved, s.updated_at, f.name as facility_name,
             f.closed_at
      from facilities f
      join facility_stock s on s.merchant_id = $1 and s.facility_id = f.id and s.product_id = $2
      where f.id > $3 and ($5::uuid[] is null or f.id = any($5))
      order by f.id
      limit $4 + 1`,
    values: [merchantId, id, afterId, limit, facilityIds],
  });
  return rows.map((row) => ({
    ...toStockRecord(row),
    id: row.facility_id,
    facilityName: row.facility_name,
    facilityClosedAt: row.closed_at,
  }));
}
