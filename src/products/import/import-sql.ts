import type { Merchant } from "../../merchants/merchants-sql.ts";
import { barcodeKey } from "../../platform/codes.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { formatMoney } from "../../platform/money.ts";
import type { Product } from "../product.ts";
import { recordProducts } from "../products-sql.ts";
import type { Before, ImportHeader, ImportRow } from "./import-row.ts";

/**
 * Imports of one merchant can change the same products, so a process stores none while another one does. False: it does. The
 * merchant itself is not locked: its account and its name can be changed while an import stores rows.
 */
export async function tryToLockImports(tx: Queryable, merchantId: string): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>({
    name: "try-to-lock-imports",
    text: "select pg_try_advisory_xact_lock(7305222, hashtext($1)) as locked",
    values: [merchantId],
  });
  return row?.locked ?? false;
}

type SkuOwner = { readonly id: string; readonly name: string; readonly count: number };

/** The merchant's products with these SKUs: of each SKU the oldest, and how many there are. */
export async function listSkuOwners(
  db: Queryable,
  merchantId: string,
  skus: readonly string[],
): Promise<ReadonlyMap<string, SkuOwner>> {
  if (skus.length === 0) return new Map();
  const rows = await db.query<SkuOwner & { sku: string }>({
    name: "list-sku-owners",
    text: `
      select p.sku, (array_agg(p.id order by p.id))[1] as id, (array_agg(p.name order by p.id))[1] as name,
             count(*)::integer as count
      from products p
      where p.merchant_id = $1 and p.sku = any($2::text[])
      group by p.sku`,
    values: [merchantId, skus],
  });
  return new Map(rows.map(({ sku, ...owner }) => [sku, owner]));
}

/** SKUs that the merchant has in another mixture of upper and lower case, by those of which they are spellings. */
export async function listSkusInOtherCase(
  db: Queryable,
  merchantId: string,
  skus: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (skus.length === 0) return new Map();
  const rows = await db.query<{ sku: string; stored: string }>({
    name: "list-skus-in-other-case",
    text: `
      select k.sku, found.stored
      from unnest($2::text[]) as k (sku)
      cross join lateral (
        select p.sku as stored from products p
        where p.merchant_id = $1 and lower(p.sku) = lower(k.sku) and p.sku <> k.sku limit 1) as found`,
    values: [merchantId, skus],
  });
  return new Map(rows.map(({ sku, stored }) => [sku, stored]));
}

/** Stores new products of a merchant, in the order of their rows. */
export async function insertImported(
  tx: Queryable,
  { id, currency }: Merchant,
  rows: readonly ImportRow[],
  now: Date,
): Promise<void> {
  const created = await tx.query<{ id: string }>({
    name: "insert-imported-products",
    text: `
      insert into products (id, merchant_id, sku, name, description, image_url, weight_grams,
                            price_minor, currency, status, created_at, updated_at, barcode, low_stock_below)
      select n.id, $1, n.sku, n.name, n.description, n."imageUrl", n."weightGrams",
             n."priceMinor", $2, coalesce(n.status, 'active'), $4, $4, n.barcode, n."lowStockBelow"
      from json_to_recordset($3) as n (
        id uuid, sku text, name text, description text, "imageUrl" text, "weightGrams" integer,
        "priceMinor" bigint, status text, barcode text, "lowStockBelow" integer)
      returning id`,
    values: [id, currency, JSON.stringify(rows), now],
  });
  recordProducts(
    tx,
    now,
    id,
    created.map((product) => product.id),
  );
}

/**
 * Changes products of a merchant in the columns of the file. An empty status leaves it unchanged. Returns the ids of those
 * that differ from their rows; the others are not written.
 */
export async function updateImported(
  tx: Queryable,
  merchantId: string,
  header: ImportHeader,
  rows: readonly ImportRow[],
  now: Date,
): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const changed = await tx.query<{ id: string }>({
    name: "update-imported-products",
    text: `
      update products p
      set sku = n.sku, name = n.name, price_minor = n."priceMinor", status = coalesce(n.status, p.status),
          description = case when $3 then n.description else p.description end,
          image_url = case when $4 then n."imageUrl" else p.image_url end,
          weight_grams = case when $5 then n."weightGrams" else p.weight_grams end,
          barcode = case when $7 then n.barcode else p.barcode end,
          low_stock_below = case when $8 then n."lowStockBelow" else p.low_stock_below end,
          updated_at = $6
      from json_to_recordset($2) as n (
        id uuid, sku text, name text, description text, "imageUrl" text, "weightGrams" integer,
        "priceMinor" bigint, status text, barcode text, "lowStockBelow" integer)
      where p.id = n.id and p.merchant_id = $1
        and (p.sku, p.name, p.price_minor, p.status, p.description, p.image_url, p.weight_grams, p.barcode,
             p.low_stock_below) is distinct from (
          n.sku, n.name, n."priceMinor", coalesce(n.status, p.status),
          case when $3 then n.description else p.description end,
          case when $4 then n."imageUrl" else p.image_url end,
          case when $5 then n."weightGrams" else p.weight_grams end,
          case when $7 then n.barcode else p.barcode end,
          case when $8 then n."lowStockBelow" else p.low_stock_below end)
      returning p.id`,
    values: [
      merchantId,
      JSON.stringify(rows),
      header.includes("description"),
      header.includes("imageUrl"),
      header.includes("weightGrams"),
      now,
      header.includes("barcode"),
      header.includes("lowStockBelow"),
    ],
  });
  recordProducts(
    tx,
    now,
    merchantId,
    changed.map(({ id }) => id),
  );
  return new Set(changed.map(({ id }) => id));
}

/**
 * What products have in the columns in which rows differ from them, as `updateImported` would change them. By the id of the
 * product. Long texts are cut.
 */
export async function compareImported(
  db: Queryable,
  { id: merchantId, currency }: Merchant,
  header: ImportHeader,
  rows: readonly ImportRow[],
): Promise<ReadonlyMap<string, Before>> {
  if (rows.length === 0) return new Map();
  const compared = await db.query<{ id: string; before: Record<string, string | null>; columns: string[] }>({
    name: "compare-imported-products",
    text: `
      select p.id,
             json_build_object(
               'sku', p.sku, 'name', p.name, 'price', p.price_minor::text, 'status', p.status,
               'description', left(p.description, 200), 'imageUrl', p.image_url, 'weightGrams', p.weight_grams::text,
               'barcode', p.barcode, 'lowStockBelow', p.low_stock_below::text) as before,
             array_remove(array[
        case when p.sku <> n.sku then 'sku' end,
        case when p.name <> n.name then 'name' end,
        case when p.price_minor <> n."priceMinor" then 'price' end,
        case when p.status <> n.status then 'status' end,
        case when $3 and p.description is distinct from n.description then 'description' end,
        case when $4 and p.image_url is distinct from n."imageUrl" then 'imageUrl' end,
        case when $5 and p.weight_grams is distinct from n."weightGrams" then 'weightGrams' end,
        case when $6 and p.barcode is distinct from n.barcode then 'barcode' end,
        case when $7 and p.low_stock_below is distinct from n."lowStockBelow" then 'lowStockBelow' end], null) as columns
      from json_to_recordset($2) as n (
        id uuid, sku text, name text, description text, "imageUrl" text, "weightGrams" integer,
        "priceMinor" bigint, status text, barcode text, "lowStockBelow" integer)
      join products p on p.id = n.id and p.merchant_id = $1`,
    values: [
      merchantId,
      JSON.stringify(rows),
      header.includes("description"),
      header.includes("imageUrl"),
      header.includes("weightGrams"),
      header.includes("barcode"),
      header.includes("lowStockBelow"),
    ],
  });
  const shown = (column: string, value: string | null) =>
    column === "price" && value !== null ? formatMoney({ minor: BigInt(value), currency }).amount : value;
  return new Map(
    compared.map(({ id, before, columns }) => [
      id,
      Object.fromEntries(columns.map((column) => [column, shown(column, before[column] ?? null)])),
    ]),
  );
}

type BarcodeOwner = Pick<Product, "id" | "sku" | "name">;

/** The merchant's products with these barcodes, by what barcodes are compared by. */
export async function listBarcodeOwners(
  db: Queryable,
  merchantId: string,
  barcodes: readonly string[],
): Promise<ReadonlyMap<string, BarcodeOwner>> {
  if (barcodes.length === 0) return new Map();
  const rows = await db.query<BarcodeOwner & { key: string }>({
    name: "list-barcode-owners",
    text: `
      select p.barcode_key as key, p.id, p.sku, p.name
      from products p
      where p.merchant_id = $1 and p.barcode_key = any($2::text[])`,
    values: [merchantId, barcodes.map(barcodeKey)],
  });
  return new Map(rows.map(({ key, ...owner }) => [key, owner]));
}
