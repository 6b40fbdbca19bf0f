import type { Merchant } from "../../merchants/merchants-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { ImportHeader, ImportRow } from "./import-row.ts";

/** Those of the ids that are products of the merchant. */
export async function listOwnProducts(
  db: Queryable,
  merchantId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "list-own-products",
    text: "select id from products where merchant_id = $1 and id = any($2::uuid[])",
    values: [merchantId, ids],
  });
  return rows.map(({ id }) => id);
}

/** Stores new products of a merchant, in the order of their rows. */
export async function insertImported(
  tx: Queryable,
  { id, currency }: Merchant,
  rows: readonly ImportRow[],
  now: Date,
): Promise<void> {
  await tx.query({
    name: "insert-imported-products",
    text: `
      insert into products (id, merchant_id, sku, name, description, image_url, weight_grams,
                            price_minor, currency, status, created_at, updated_at)
      select n.id, $1, n.sku, n.name, n.description, n."imageUrl", n."weightGrams",
             n."priceMinor", $2, coalesce(n.status, 'active'), $4, $4
      from json_to_recordset($3) as n (
        id uuid, sku text, name text, description text, "imageUrl" text, "weightGrams" integer,
        "priceMinor" bigint, status text)`,
    values: [id, currency, JSON.stringify(rows), now],
  });
}

/**
 * Changes products of a merchant in the columns of the file. An empty status leaves it unchanged. Returns how many it
 * changed.
 */
export async function updateImported(
  tx: Queryable,
  merchantId: string,
  header: ImportHeader,
  rows: readonly ImportRow[],
  now: Date,
): Promise<number> {
  const changed = await tx.query({
    name: "update-imported-products",
    text: `
      update products p
      set sku = n.sku, name = n.name, price_minor = n."priceMinor", status = coalesce(n.status, p.status),
          description = case when $3 then n.description else p.description end,
          image_url = case when $4 then n."imageUrl" else p.image_url end,
          weight_grams = case when $5 then n."weightGrams" else p.weight_grams end,
          updated_at = $6
      from json_to_recordset($2) as n (
        id uuid, sku text, name text, description text, "imageUrl" text, "weightGrams" integer,
        "priceMinor" bigint, status text)
      where p.id = n.id and p.merchant_id = $1
      returning p.id`,
    values: [
      merchantId,
      JSON.stringify(rows),
      header.includes("description"),
      header.includes("imageUrl"),
      header.includes("weightGrams"),
      now,
    ],
  });
  return changed.length;
}
