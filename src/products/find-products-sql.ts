import type { Queryable } from "../platform/database/database.ts";

export type FoundProduct = {
  readonly id: string;
  readonly sku: string;
  readonly name: string;
  readonly merchantId: string;
  readonly merchantName: string;
};

/** Products whose names are looked at, of all merchants together, or 10 of each. SKUs are found by their index. */
const NAMES_READ_MAX = 500;

/** One of three spellings of the text, as the beginning of a SKU: a part for each, because Citus cannot join with their list. */
const bySku = (spelling: number): string => `
        (select p.id, p.sku, p.name
         from products p
         where p.merchant_id = m.id and p.sku >= ($2::text[])[${spelling}] and p.sku < ($3::text[])[${spelling}]
           and starts_with(p.sku, ($2::text[])[${spelling}])
         order by p.sku
         limit $5)
        union all`;

/**
 * Products of these merchants (null: all) with a SKU that begins with the text, or one of the newest products with a name
 * that contains it. Looks a text up as it is, in lower case and in upper case. A scan over all shards, each by an index.
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
      cross join lateral (${[1, 2, 3].map(bySku).join("")}
        (select p.id, p.sku, p.name
         from (
           select p.id, p.sku, p.name
           from products p
           where p.merchant_id = m.id
           order by p.id desc
           limit $6) as p
         where strpos(lower(p.name), $4) > 0
         limit $5)) as found
      where $1::uuid[] is null or m.id = any($1)
      order by found.id desc
      limit $5`,
    values: [
      merchantIds,
      spellings,
      spellings.map((spelling) => `${spelling}\u{10ffff}`),
      text.toLowerCase(),
      limit,
      Math.floor(NAMES_READ_MAX / Math.max(1, Math.min(NAMES_READ_MAX / 10, merchantCount))),
    ],
  });
}

/** A statement of its own: Citus limits no part of a join by a value that it has to read first (decision 0166). */
async function countMerchants(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-merchants-to-search",
    text: "select count(*)::integer as count from merchants",
    values: [],
  });
  return row?.count ?? 0;
}
