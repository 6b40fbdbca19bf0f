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
  const spellings = [...new Set([text, text.toLowerCase(), text.toUpperCase()])];
  return db.query<FoundProduct>({
    name: "find-products",
    text: `
      select distinct on (found.id) found.id, found.sku, found.name, m.id as "merchantId", m.name as "merchantName"
      from merchants m
      cross join lateral (
        (select p.id, p.sku, p.name
         from unnest($2::text[], $3::text[]) as s (start, beyond)
         cross join lateral (
           select p.id, p.sku, p.name
           from products p
           where p.merchant_id = m.id and p.sku >= s.start and p.sku < s.beyond and starts_with(p.sku, s.start)
           order by p.sku
           limit $5) as p)
        union all
        (select p.id, p.sku, p.name
         from (
           select p.id, p.sku, p.name
           from products p
           where p.merchant_id = m.id
           order by p.id desc
           limit ${NAMES_READ_MAX} / (select greatest(1, least(${NAMES_READ_MAX / 10}, coalesce(cardinality($1::uuid[]), count(*)))) from merchants)) as p
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
    ],
  });
}
