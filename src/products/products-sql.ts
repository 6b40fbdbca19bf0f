import { recordChanges } from "../changes/record-changes.ts";
import { barcodeKey, barcodeKeysIn, readCode } from "../platform/codes.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { findReachable, merchantsOf } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import { folded, type SearchPatterns } from "../platform/fold-text.ts";
import type { ChangedPlace, PagePosition } from "../platform/wire/cursor.ts";
import type { ExposedProduct, Product, ProductStatus } from "./product.ts";

type ProductRow = {
  id: string;
  merchant_id: string;
  sku: string;
  name: string;
  description: string | null;
  image_url: string | null;
  weight_grams: number | null;
  barcode: string | null;
  low_stock_below: number | null;
  price_minor: bigint;
  currency: string;
  status: ProductStatus;
  created_at: Date;
  updated_at: Date;
};

/**
 * Products exposed to a connection, oldest first. Product ids are made from the creation time, so their order is the
 * order of creation. Returns one row more than the page if there is one.
 */
export async function listExposedProducts(
  db: Queryable,
  connection: ConnectionKey,
  { afterId, limit }: PagePosition,
): Promise<ExposedProduct[]> {
  return db.query<ExposedProduct>({
    name: "list-exposed-products",
    text: `
      select p.id, p.sku, p.name, p.description, p.image_url as "imageUrl", p.weight_grams as "weightGrams",
             p.status, p.created_at as "createdAt", p.updated_at as "updatedAt"
      from exposed_products e
      join products p on p.merchant_id = $1 and p.id = e.product_id
      where e.merchant_id = $1 and e.connection_id = $2 and e.product_id > $3 and e.withdrawn_at is null
      order by e.product_id
      limit $4 + 1`,
    values: [connection.merchantId, connection.connectionId, afterId, limit],
  });
}

/** The same list for one SKU. It is a statement of its own because it uses the SKU's index. */
export async function listExposedProductsBySku(
  db: Queryable,
  connection: ConnectionKey,
  { afterId, limit }: PagePosition,
  sku: string,
): Promise<ExposedProduct[]> {
  return db.query<ExposedProduct>({
    name: "list-exposed-products-by-sku",
    text: `
      select p.id, p.sku, p.name, p.description, p.image_url as "imageUrl", p.weight_grams as "weightGrams",
             p.status, p.created_at as "createdAt", p.updated_at as "updatedAt"
      from products p
      join exposed_products e on e.product_id = p.id
      where p.merchant_id = $1 and p.sku = $5 and p.id > $3 and e.merchant_id = $1 and e.connection_id = $2 and e.withdrawn_at is null
      order by p.id
      limit $4 + 1`,
    values: [connection.merchantId, connection.connectionId, afterId, limit, sku],
  });
}

export async function readExposedProduct(
  db: Queryable,
  connection: ConnectionKey,
  productId: string,
): Promise<ExposedProduct | null> {
  const [product] = await db.query<ExposedProduct>({
    name: "read-exposed-product",
    text: `
      select p.id, p.sku, p.name, p.description, p.image_url as "imageUrl", p.weight_grams as "weightGrams",
             p.status, p.created_at as "createdAt", p.updated_at as "updatedAt"
      from exposed_products e
      join products p on p.merchant_id = $1 and p.id = e.product_id
      where e.merchant_id = $1 and e.connection_id = $2 and e.product_id = $3 and e.withdrawn_at is null`,
    values: [connection.merchantId, connection.connectionId, productId],
  });
  return product ?? null;
}

/** A product of any merchant, by its id. Null if there is none. */
export async function findProductById(db: Queryable, productId: string): Promise<Product | null> {
  const row = await findReachable(db, (merchants) =>
    db.query<ProductRow>({
      name: "find-product-by-id",
      text: `
        select p.id, p.merchant_id, p.sku, p.name, p.description, p.image_url, p.weight_grams, p.barcode, p.low_stock_below,
               p.price_minor, p.currency, p.status, p.created_at, p.updated_at
        from products p
        where p.id = $1 and ($2::uuid[] is null or p.merchant_id = any($2))`,
      values: [productId, merchants],
    }),
  );
  return row === undefined ? null : toProduct(row);
}

/** A product that a scanned code names, and by what. */
export type ProductOfCode = Product & { readonly matchedBy: "barcode" | "sku" };

/**
 * Products of all merchants that a scanned code names, those with the barcode first (docs/design/fulfilment.md, "Codes of products").
 * Of a merchant's products only those that fit best: by the first of the numbers that the code can mean, then by the SKU as it is,
 * then by the SKU without case. A look-up by index for each merchant.
 */
export async function findProductsByCode(
  db: Queryable,
  code: string,
  limit: number,
): Promise<ProductOfCode[]> {
  const keys = barcodeKeysIn(code);
  const rows = await db.query<ProductRow & { rank: number }>({
    name: "find-products-by-code",
    text: `
      select found.*
      from merchants m
      cross join lateral (
        select p.id, p.merchant_id, p.sku, p.name, p.description, p.image_url, p.weight_grams, p.barcode, p.low_stock_below,
               p.price_minor, p.currency, p.status, p.created_at, p.updated_at,
               array_position($1::text[], p.barcode_key) as rank
        from products p
        where p.merchant_id = m.id and p.barcode_key = any($1::text[])
        union all
        select p.id, p.merchant_id, p.sku, p.name, p.description, p.image_url, p.weight_grams, p.barcode, p.low_stock_below,
               p.price_minor, p.currency, p.status, p.created_at, p.updated_at, case when p.sku = $2 then 100 else 101 end
        from products p
        where p.merchant_id = m.id and lower(p.sku) = lower($2) and (p.barcode_key is null or p.barcode_key <> all($1::text[]))
        order by rank, id
        limit $3) as found
      order by found.rank >= 100, found.rank, found.id
      limit $3`,
    values: [keys, readCode(code), limit],
  });
  const best = Map.groupBy(rows, ({ merchant_id, rank }) => `${merchant_id} ${rank >= 100}`);
  const isBest = (row: (typeof rows)[number]) =>
    best.get(`${row.merchant_id} ${row.rank >= 100}`)?.[0]?.rank === row.rank;
  return rows
    .filter(isBest)
    .map((row) => ({ ...toProduct(row), matchedBy: row.rank >= 100 ? "sku" : "barcode" }));
}

/** What of a product of the merchant each code is: its barcode in any form, or its SKU in any case. Others are left out. */
export async function findProductsOfCodes(
  db: Queryable,
  merchantId: string,
  codes: readonly string[],
): Promise<ReadonlyMap<string, ProductOfCode["matchedBy"]>> {
  const keys = codes.flatMap((code) => barcodeKeysIn(code).map((key) => ({ code, key })));
  const rows = await db.query<{ code: string; matchedBy: ProductOfCode["matchedBy"] }>({
    name: "find-products-of-codes",
    text: `
      select k.code, found."matchedBy"
      from unnest($2::text[], $3::text[]) as k (code, sku)
      cross join lateral (
        select 'sku' as "matchedBy" from products p where p.merchant_id = $1 and lower(p.sku) = lower(k.sku) limit 1) as found
      union all
      select k.code, found."matchedBy"
      from unnest($4::text[], $5::text[]) as k (code, barcode_key)
      cross join lateral (
        select 'barcode' as "matchedBy" from products p where p.merchant_id = $1 and p.barcode_key = k.barcode_key limit 1)
        as found`,
    values: [
      merchantId,
      codes,
      codes.map(readCode),
      keys.map(({ code }) => code),
      keys.map(({ key }) => key),
    ],
  });
  return new Map(rows.map(({ code, matchedBy }) => [code, matchedBy])); // A barcode replaces an SKU.
}

/** A product of the merchant whose barcode means the same. Null if there is none. */
export async function readBarcodeOwner(
  db: Queryable,
  merchantId: string,
  barcode: string,
): Promise<Pick<Product, "id" | "sku"> | null> {
  const [owner] = await db.query<Pick<Product, "id" | "sku">>({
    name: "read-barcode-owner",
    text: "select p.id, p.sku from products p where p.merchant_id = $1 and p.barcode_key = $2",
    values: [merchantId, barcodeKey(barcode)],
  });
  return owner ?? null;
}

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

/** Products of a merchant, in the order of their ids. */
export async function readProducts(
  db: Queryable,
  merchantId: string,
  productIds: readonly string[],
): Promise<Product[]> {
  const rows = await db.query<ProductRow>({
    name: "read-products",
    text: `
      select p.id, p.merchant_id, p.sku, p.name, p.description, p.image_url, p.weight_grams, p.barcode, p.low_stock_below,
             p.price_minor, p.currency, p.status, p.created_at, p.updated_at
      from products p
      where p.merchant_id = $1 and p.id = any($2::uuid[])
      order by p.id`,
    values: [merchantId, productIds],
  });
  return rows.map(toProduct);
}

/** What people call a product. */
export type ProductName = { readonly sku: string; readonly name: string };

/** The present names of products of several merchants, by their ids. */
export async function readProductNames(
  db: Queryable,
  products: readonly Pick<Product, "merchantId" | "id">[],
): Promise<ReadonlyMap<string, ProductName>> {
  if (products.length === 0) return new Map();
  const each = [...new Map(products.map((product) => [product.id, product])).values()];
  const rows = await db.query<ProductName & { id: string }>({
    name: "read-product-names",
    text: `
      select p.id, p.sku, p.name
      from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, id)
      join products p on p.merchant_id = listed.merchant_id and p.id = listed.id
      where ($3::uuid[] is null or p.merchant_id = any($3))`,
    values: [each.map(({ merchantId }) => merchantId), each.map(({ id }) => id), await merchantsOf(db, each)],
  });
  return new Map(rows.map(({ id, ...named }) => [id, named]));
}

/** The merchants of products, by the ids of the products. */
export async function readProductMerchants(
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.query<{ id: string; merchantId: string }>({
    name: "read-product-merchants",
    text: `
      select p.id, p.merchant_id as "merchantId"
      from products p
      where p.id = any($1::uuid[])`,
    values: [ids],
  });
  return new Map(rows.map(({ id, merchantId }) => [id, merchantId]));
}

/** Reads a product and locks it until the transaction ends. */
export async function lockProduct(
  tx: Queryable,
  { merchantId, id }: Pick<Product, "merchantId" | "id">,
): Promise<Product | null> {
  const [row] = await tx.query<ProductRow>({
    name: "lock-product",
    text: `
      select p.id, p.merchant_id, p.sku, p.name, p.description, p.image_url, p.weight_grams, p.barcode, p.low_stock_below,
             p.price_minor, p.currency, p.status, p.created_at, p.updated_at
      from products p
      where p.merchant_id = $1 and p.id = $2
      for no key update`,
    values: [merchantId, id],
  });
  return row === undefined ? null : toProduct(row);
}

export async function insertProduct(tx: Queryable, product: Product): Promise<void> {
  await tx.query({
    name: "insert-product",
    text: `
      insert into products (id, merchant_id, sku, name, description, image_url, weight_grams,
                            price_minor, currency, status, created_at, updated_at, barcode, low_stock_below)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: toValues(product),
  });
  recordProducts(tx, product.updatedAt, product.merchantId, [product.id]);
}

export async function updateProduct(tx: Queryable, product: Product): Promise<void> {
  await tx.query({
    name: "update-product",
    text: `
      update products
      set sku = $3, name = $4, description = $5, image_url = $6, weight_grams = $7,
          price_minor = $8, currency = $9, status = $10, created_at = $11, updated_at = $12,
          barcode = $13, low_stock_below = $14
      where id = $1 and merchant_id = $2`,
    values: toValues(product),
  });
  recordProducts(tx, product.updatedAt, product.merchantId, [product.id]);
}

export const recordProducts = (tx: Queryable, now: Date, merchantId: string, ids: readonly string[]): void =>
  recordChanges(
    tx,
    now,
    ids.map((objectId) => ({ merchantId, kind: "product", objectId })),
  );

const toValues = (product: Product): unknown[] => [
  product.id,
  product.merchantId,
  product.sku,
  product.name,
  product.description,
  product.imageUrl,
  product.weightGrams,
  product.priceMinor,
  product.currency,
  product.status,
  product.createdAt,
  product.updatedAt,
  product.barcode,
  product.lowStockBelow,
];

const toProduct = (row: ProductRow): Product => ({
  id: row.id,
  merchantId: row.merchant_id,
  sku: row.sku,
  name: row.name,
  description: row.description,
  imageUrl: row.image_url,
  weightGrams: row.weight_grams,
  barcode: row.barcode,
  lowStockBelow: row.low_stock_below,
  priceMinor: row.price_minor,
  currency: row.currency,
  status: row.status,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** Which products are listed. A null restricts nothing. */
export type ProductFilter = {
  readonly sku: string | null;
  readonly status: ProductStatus | null;
  /** Only products that are exposed, or are not: to `connectionId`, or without it to any connection. */
  readonly isExposed: boolean | null;
  /** The connection that `isExposed` is about. */
  readonly connectionId: string | null;
  /** Of a part of the SKU or of the name. */
  readonly text: SearchPatterns | null;
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

/** Products that have changed since a time, the longest ago first, as `listProducts` lists them by id. */
export async function listChangedProducts(
  db: Queryable,
  merchantId: string,
  { sku, status, isExposed, connectionId, text }: ProductFilter,
  { changedAt, id }: ChangedPlace,
  limit: number,
): Promise<{ readonly products: readonly Product[]; readonly readTo: ChangedPlace | null }> {
  const rows = await db.query<ProductRow & { fits: boolean; is_last: boolean }>({
    name: `list-changed-products${connectionId === null ? "" : "-of-connection"}`,
    text: `
      select p.*
      from (
        select p.id, p.merchant_id, p.sku, p.name, p.description, p.image_url, p.weight_grams, p.barcode, p.low_stock_below,
               p.price_minor, p.currency, p.status, p.created_at, p.updated_at,
               ($4::text is null or p.sku = $4)
                 and ($5::text is null or p.status = $5)
                 and ($6::text[] is null or ${folded("p.sku")} like any($6) or ${folded("p.name")} like any($6))
                 and ($8::boolean is null or $8 = ${isExposedTo("$7", connectionId, "p")}) as fits,
               row_number() over (order by p.updated_at, p.id) = 5000 as is_last
        from products p
        where p.merchant_id = $1 and (p.updated_at, p.id) > ($9::timestamptz, $2::uuid)
        order by p.updated_at, p.id
        limit 5000) as p
      where p.fits or p.is_last
      order by p.updated_at, p.id
      limit $3 + 1`,
    values: [merchantId, id, limit, sku, status, text, connectionId, isExposed, changedAt],
  });
  const last = rows.at(-1);
  return {
    products: rows.filter(({ fits }) => fits).map(toProduct),
    readTo: last?.is_last ? { changedAt: last.updated_at, id: last.id } : null,
  };
}

/** Products of a merchant `p` that fit. */
const oldest = ({ sku, connectionId }: ProductFilter): string => `
      select p.*
      from (
        select p.id, p.merchant_id, p.sku, p.name, p.description, p.image_url, p.weight_grams, p.barcode, p.low_stock_below,
               p.price_minor, p.currency, p.status, p.created_at, p.updated_at,
               ($5::text is null or p.status = $5)
                 and ($6::text[] is null or ${folded("p.sku")} like any($6) or ${folded("p.name")} like any($6))
                 and ($8::boolean is null or $8 = ${isExposedTo("$7", connectionId, "p")}) as fits,
               row_number() over (order by p.id) = 5000 as is_last
        from products p
        where p.merchant_id = $1 and p.id > $2 and ${sku === null ? "$4::text is null" : "p.sku = $4"}
        order by p.id
        limit 5000) as p
      where p.fits or p.is_last
      order by p.id
      limit $3 + 1`;

/**
 * A merchant's catalog, oldest first, one row more than the page if there is one. Most filters have no index, so a page reads
 * at most ROWS_READ_MAX products (docs/design/isolation-and-limits.md, "Bounded lists"). A SKU and a connection have statements
 * of their own, because they are found by other indexes.
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
