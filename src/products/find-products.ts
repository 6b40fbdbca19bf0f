import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import { folded, type SearchPatterns, searchPatterns } from "../platform/fold-text.ts";
import { parseUuid } from "../platform/ids.ts";
import { type PagePosition, UUID_MIN } from "../platform/wire/cursor.ts";
import type { Product, ProductStatus } from "./product.ts";
import { readProducts } from "./products-sql.ts";

export type FoundProduct = {
  readonly id: string;
  readonly sku: string;
  readonly name: string;
  readonly merchantId: string;
  readonly merchantName: string;
};

/** Products whose names are looked at, of all merchants together, or 10 of each. SKUs are found by their index. */
const NAMES_READ_MAX = 500;

/**
 * Products of these merchants (null: all) with the text as their id, with a SKU that begins with it, or one of the newest products
 * with a name that contains it. Looks a text up as it is, in lower case and in upper case: a part for each, because Citus cannot join
 * with their list. A scan over all shards, each by an index.
 */
export async function findProducts(
  db: Queryable,
  merchantIds: readonly string[] | null,
  text: string,
  limit: number,
): Promise<FoundProduct[]> {
  const merchantCount = merchantIds?.length ?? (await countMerchants(db));
  const spellings = [text, text.toLowerCase(), text.toUpperCase()];
  return db.query<FoundProduct>({
    name: "find-products",
    text: `
      select distinct on (found.id) found.id, found.sku, found.name, m.id as "merchantId", m.name as "merchantName"
      from merchants m
      cross join lateral (
        (select p.id, p.sku, p.name
         from products p
         where p.merchant_id = m.id and p.sku >= ($2::text[])[1] and p.sku < ($3::text[])[1]
           and starts_with(p.sku, ($2::text[])[1])
         order by p.sku
         limit $5)
        union all
        (select p.id, p.sku, p.name
         from products p
         where p.merchant_id = m.id and p.sku >= ($2::text[])[2] and p.sku < ($3::text[])[2]
           and starts_with(p.sku, ($2::text[])[2])
         order by p.sku
         limit $5)
        union all
        (select p.id, p.sku, p.name
         from products p
         where p.merchant_id = m.id and p.sku >= ($2::text[])[3] and p.sku < ($3::text[])[3]
           and starts_with(p.sku, ($2::text[])[3])
         order by p.sku
         limit $5)
        union all
        (select p.id, p.sku, p.name
         from (
           select p.id, p.sku, p.name
           from products p
           where p.merchant_id = m.id
           order by p.id desc
           limit $6) as p
         where ${folded("p.name")} like any($4::text[])
         limit $5)
        union all
        (select p.id, p.sku, p.name
         from products p
         where p.merchant_id = m.id and p.id = $7)) as found
      where $1::uuid[] is null or m.id = any($1)
      order by found.id desc
      limit $5`,
    values: [
      merchantIds,
      spellings,
      spellings.map((spelling) => `${spelling}\u{10ffff}`),
      searchPatterns(text),
      limit,
      Math.floor(NAMES_READ_MAX / Math.max(1, Math.min(NAMES_READ_MAX / 10, merchantCount))),
      // Not null: of a part that a null empties, Citus no longer sees that it joins by the merchant.
      parseUuid(text) ?? UUID_MIN,
    ],
  });
}

/**
 * A statement of its own: Citus limits no part of a join by a value that it has to read first
 * (docs/design/distribution.md, "Merchant by merchant").
 */
async function countMerchants(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-merchants-to-search",
    text: "select count(*)::integer as count from merchants",
    values: [],
  });
  return row?.count ?? 0;
}

/** A null restricts nothing. */
type ExposedFilter = {
  readonly sku: string | null;
  readonly status: ProductStatus | null;
  /** Of a part of the SKU or of the name. */
  readonly text: SearchPatterns | null;
};

type ExposedProductId = {
  readonly id: string;
  /** False for the last one that was read, if only that is why it is returned. */
  readonly fits: boolean;
  readonly isLast: boolean;
};

/**
 * The oldest products that are exposed to a connection and fit, one more than the page if there is one. Most filters have no
 * index, so a page reads at most ROWS_READ_MAX products of the connection.
 */
async function findExposedProducts(
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
                 and ($7::text[] is null or ${folded("p.sku")} like any($7) or ${folded("p.name")} like any($7)) as fits,
               row_number() over (order by e.product_id) = 5000 as is_last
        from exposed_products e
        join products p on p.merchant_id = $1 and p.id = e.product_id
        where e.merchant_id = $1 and e.connection_id = $2 and e.product_id > $3 and e.withdrawn_at is null
        order by e.product_id
        limit 5000) as found
      where found.fits or found.is_last
      order by found.id
      limit $4 + 1`,
    values: [connection.merchantId, connection.connectionId, afterId, limit, sku, status, text],
  });
}

/** `readTo`: the last product that was read, if reading ended before the page was full. */
type FoundProducts = { readonly products: readonly Product[]; readonly readTo: string | null };

/** The products that are exposed to a connection and fit the filter, oldest first, one more than the page if there is one. */
export async function searchExposedProducts(
  db: Queryable,
  connection: ConnectionKey,
  filter: ExposedFilter,
  position: PagePosition,
): Promise<FoundProducts> {
  const found = await findExposedProducts(db, connection, filter, position);
  const fitting = found.filter(({ fits }) => fits).map(({ id }) => id);
  const last = found.at(-1);
  return {
    products: await readProducts(db, connection.merchantId, fitting),
    readTo: last?.isLast ? last.id : null,
  };
}
