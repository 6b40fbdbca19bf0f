import type { Queryable } from "../../platform/database/database.ts";
import { type FittingRow, selectFitting, toFitting } from "../../platform/database/fitting-rows.ts";
import { type PagePosition, ROWS_READ_MAX } from "../../platform/wire/cursor.ts";
import type { Product } from "../product.ts";

/** A connection of the product's merchant. */
export type ProductExposure = {
  /** Of the connection. */
  readonly id: string;
  readonly name: string;
  /** Null: the connection does not see the product. */
  readonly exposedAt: Date | null;
};

/** Which connections are listed. A null restricts nothing. */
type ProductExposureFilter = {
  readonly isExposed: boolean | null;
  /** A part of the connection's name, in lower case. */
  readonly name: string | null;
};

type ProductExposureRow = { id: string; name: string; exposed_at: Date | null };

/**
 * The connections of a product's merchant, oldest first, with the exposure of the product. Returns one row more than the
 * page if there is one. It reads a bounded number of connections; `readTo` is where that ended.
 */
export async function listProductExposures(
  db: Queryable,
  { merchantId, id }: Pick<Product, "merchantId" | "id">,
  { isExposed, name }: ProductExposureFilter,
  { afterId, limit }: PagePosition,
): Promise<{ readonly exposures: readonly ProductExposure[]; readonly readTo: string | null }> {
  const rows = await db.query<FittingRow<ProductExposureRow>>({
    name: "list-product-exposures",
    text: `
      with part as (
        select c.id, c.name
        from connections c
        where c.merchant_id = $1 and c.id > $3
        order by c.id
        limit ${ROWS_READ_MAX}
      )
      ${selectFitting("oldest first")}
      left join lateral (
        select part.id, part.name, e.exposed_at
        from part
        left join exposed_products e
          on e.merchant_id = $1 and e.connection_id = part.id and e.product_id = $2 and e.withdrawn_at is null
        where ($5::boolean is null or (e.product_id is not null) = $5)
          and ($6::text is null or strpos(lower(part.name), $6) > 0)
        order by part.id
        limit $4 + 1
      ) as f on true
      order by f.id`,
    values: [merchantId, id, afterId, limit, isExposed, name],
  });
  const { found, readTo } = toFitting(rows, ROWS_READ_MAX);
  const exposures = found.map((row) => ({ id: row.id, name: row.name, exposedAt: row.exposed_at }));
  return { exposures, readTo };
}
