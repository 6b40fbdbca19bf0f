import type { Queryable } from "../platform/database/database.ts";
import { type PagePosition, ROWS_READ_MAX } from "../platform/wire/cursor.ts";
import type { Product, ProductStatus } from "./product.ts";
import { PRODUCT_COLUMNS, type ProductRow, toProduct } from "./products-sql.ts";

/** Which products are listed. A null restricts nothing. */
export type ProductFilter = {
  readonly sku: string | null;
  readonly status: ProductStatus | null;
  /** Only products that are exposed, or are not: to `connectionId`, or without it to any connection. */
  readonly isExposed: boolean | null;
  /** The connection that `isExposed` is about. */
  readonly connectionId: string | null;
  /** A part of the SKU or of the name, in lower case. */
  readonly text: string | null;
};

/** `readTo`: the last product that was read, if reading ended before the page was full. */
type ListedProducts = { readonly products: readonly Product[]; readonly readTo: string | null };

/**
 * Whether a product of the merchant $1 is exposed: to the connection of a parameter, or without a connection to any. It has
 * a limit because PostgreSQL may compute `exists` from all exposed products of the merchant.
 */
export const isExposedTo = (
  parameter: `$${number}`,
  connectionId: string | null,
  product: "p" | "part",
): string => `coalesce((
                   select true
                   from exposed_products e
                   where e.merchant_id = $1 and e.product_id = ${product}.id and e.withdrawn_at is null
                     and ${connectionId === null ? `${parameter}::uuid is null` : `e.connection_id = ${parameter}`}
                   limit 1), false)`;

/** Products of a merchant `p` that fit. */
const oldest = ({ sku, connectionId }: ProductFilter): string => `
      select p.*
      from (
        select ${PRODUCT_COLUMNS},
               ($5::text is null or p.status = $5)
                 and ($6::text is null or strpos(lower(p.sku), $6) > 0 or strpos(lower(p.name), $6) > 0)
                 and ($8::boolean is null or $8 = ${isExposedTo("$7", connectionId, "p")}) as fits,
               row_number() over (order by p.id) = ${ROWS_READ_MAX} as is_last
        from products p
        where p.merchant_id = $1 and p.id > $2 and ${sku === null ? "$4::text is null" : "p.sku = $4"}
        order by p.id
        limit ${ROWS_READ_MAX}) as p
      where p.fits or p.is_last
      order by p.id
      limit $3 + 1`;

/**
 * A merchant's catalog, oldest first, one row more than the page if there is one. Most filters have no index, so a page
 * reads at most ROWS_READ_MAX products (decision 0067). A SKU and a connection have statements of their own, because they
 * are found by other indexes.
 */
export async function listProducts(
  db: Queryable,
  merchantId: string,
  filter: ProductFilter,
  { afterId, limit }: PagePosition,
): Promise<ListedProducts> {
  const { sku, status, isExposed, connectionId, text } = filter;
  const rows = await db.query<ProductRow & { fits: boolean; is_last: boolean }>({
    name: `list-products${sku === null ? "" : "-of-sku"}${connectionId === null ? "" : "-of-connection"}`,
    text: oldest(filter),
    values: [merchantId, afterId, limit, sku, status, text, connectionId, isExposed],
  });
  const last = rows.at(-1);
  return {
    products: rows.filter(({ fits }) => fits).map(toProduct),
    readTo: last?.is_last ? last.id : null,
  };
}
