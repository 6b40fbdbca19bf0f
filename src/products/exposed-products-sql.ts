import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import { type PagePosition, ROWS_READ_MAX } from "../platform/wire/cursor.ts";
import type { ProductStatus } from "./product.ts";

/** A null restricts nothing. */
export type ExposedFilter = {
  readonly sku: string | null;
  readonly status: ProductStatus | null;
  /** A part of the SKU or of the name, in lower case. */
  readonly text: string | null;
};

export type ExposedProductId = {
  readonly id: string;
  /** False for the last one that was read, if only that is why it is returned. */
  readonly fits: boolean;
  readonly isLast: boolean;
};

/**
 * The oldest products that are exposed to a connection and fit, one more than the page if there is one. Most filters have no
 * index, so a page reads at most ROWS_READ_MAX products of the connection.
 */
export async function findExposedProducts(
  db: Queryable,
  connection: ConnectionKey,
  { sku, status, text }: ExposedFilter,
  { afterId, limit }: PagePosition,
): Promise<ExposedProductId[]> {
  return db.query<ExposedProductId>({
    name: "find-exposed-products",
    text: `
      select found.id, found.fits, found.is_last as "isLast"
      from (
        select p.id,
               ($5::text is null or p.sku = $5) and ($6::text is null or p.status = $6)
                 and ($7::text is null or strpos(lower(p.sku), $7) > 0 or strpos(lower(p.name), $7) > 0) as fits,
               row_number() over (order by e.product_id) = ${ROWS_READ_MAX} as is_last
        from exposed_products e
        join products p on p.merchant_id = $1 and p.id = e.product_id
        where e.merchant_id = $1 and e.connection_id = $2 and e.product_id > $3 and e.withdrawn_at is null
        order by e.product_id
        limit ${ROWS_READ_MAX}) as found
      where found.fits or found.is_last
      order by found.id
      limit $4 + 1`,
    values: [connection.merchantId, connection.connectionId, afterId, limit, sku, status, text],
  });
}
