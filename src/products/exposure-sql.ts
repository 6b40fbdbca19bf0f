import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import { type FittingRow, toFitting } from "../platform/database/day-partitions.ts";
import { folded, type SearchPatterns } from "../platform/fold-text.ts";
import { type PagePosition, ROWS_READ_MAX } from "../platform/wire/cursor.ts";
import type { Product } from "./product.ts";
import { isExposedTo, type ProductFilter } from "./products-sql.ts";

/** Returns true if the product was not exposed before. */
export async function exposeProduct(
  tx: Queryable,
  connection: ConnectionKey,
  productId: string,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    name: "expose-product",
    text: `
      insert into exposed_products (merchant_id, connection_id, product_id, exposed_at)
      values ($1, $2, $3, $4)
      on conflict (merchant_id, connection_id, product_id) do update
      set exposed_at = excluded.exposed_at, withdrawn_at = null
      where exposed_products.withdrawn_at is not null
      returning product_id`,
    values: [connection.merchantId, connection.connectionId, productId, now],
  });
  return rows.length > 0;
}

/**
 * Exposes to a new connection the products that are exposed to another one of the merchant, at most `limit`, those first that
 * were created first. It publishes nothing: no endpoint exists yet.
 */
export async function copyExposures(
  tx: Queryable,
  from: ConnectionKey,
  { connectionId }: ConnectionKey,
  now: Date,
  limit: number,
): Promise<void> {
  await tx.query({
    name: "copy-exposures",
    text: `
      insert into exposed_products (merchant_id, connection_id, product_id, exposed_at)
      select e.merchant_id, $3, e.product_id, $4
      from exposed_products e
      where e.merchant_id = $1 and e.connection_id = $2 and e.withdrawn_at is null
      order by e.product_id
      limit $5`,
    values: [from.merchantId, from.connectionId, connectionId, now, limit],
  });
}

/** Deletes what was exposed to a connection that is deleted in this transaction, and has no orders any more. */
export async function deleteExposures(tx: Queryable, connection: ConnectionKey): Promise<void> {
  await tx.query({
    name: "delete-exposures",
    text: "delete from exposed_products where merchant_id = $1 and connection_id = $2",
    values: [connection.merchantId, connection.connectionId],
  });
}

/** True when the product was exposed before. */
export async function endExposure(
  db: Queryable,
  connection: ConnectionKey,
  productId: string,
  now: Date,
): Promise<boolean> {
  const rows = await db.query({
    name: "withdraw-product",
    text: `
      update exposed_products
      set withdrawn_at = $4
      where merchant_id = $1 and connection_id = $2 and product_id = $3 and withdrawn_at is null
      returning product_id`,
    values: [connection.merchantId, connection.connectionId, productId, now],
  });
  return rows.length > 0;
}

/**
 * Exposes products of the merchant to a connection. Returns those that were not exposed before. It takes them in the order
 * of their ids, so that concurrent changes wait for each other in one order.
 */
export async function exposeProducts(
  tx: Queryable,
  connection: ConnectionKey,
  productIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const rows = await tx.query<{ product_id: string }>({
    name: "expose-products",
    text: `
      insert into exposed_products (merchant_id, connection_id, product_id, exposed_at)
      select p.merchant_id, $2, p.id, $4
      from products p
      where p.merchant_id = $1 and p.id = any($3::uuid[])
      order by p.id
      on conflict (merchant_id, connection_id, product_id) do update
      set exposed_at = excluded.exposed_at, withdrawn_at = null
      where exposed_products.withdrawn_at is not null
      returning product_id`,
    values: [connection.merchantId, connection.connectionId, productIds, now],
  });
  return rows.map((row) => row.product_id);
}

/** Withdraws products from a connection, in the order of their ids. Returns those that were exposed. */
export async function withdrawProducts(
  tx: Queryable,
  connection: ConnectionKey,
  productIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const rows = await tx.query<{ product_id: string }>({
    name: "withdraw-products",
    text: `
      update exposed_products e
      set withdrawn_at = $4
      from (
        select x.product_id
        from exposed_products x
        where x.merchant_id = $1 and x.connection_id = $2 and x.product_id = any($3::uuid[]) and x.withdrawn_at is null
        order by x.product_id
        for no key update
      ) as locked
      where e.merchant_id = $1 and e.connection_id = $2 and e.product_id = locked.product_id and e.withdrawn_at is null
      returning e.product_id`,
    values: [connection.merchantId, connection.connectionId, productIds, now],
  });
  return rows.map((row) => row.product_id);
}

/** Which products are looked for: those after an id that fit a filter, and that are so for the connection, or are not. */
export type ExposureSearch = {
  readonly filter: ProductFilter;
  /** Only products that are exposed to the connection of the request, or that are not. */
  readonly isExposedHere: boolean;
  readonly afterId: string;
  readonly limit: number;
};

/** Ids of the merchant's products, oldest first. It reads a bounded number of products; `readTo` is where that ended. */
export async function listByExposure(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  { filter: { sku, status, text, isExposed, connectionId: otherId }, ...search }: ExposureSearch,
): Promise<{ readonly ids: readonly string[]; readonly readTo: string | null }> {
  const rows = await db.query<FittingRow<{ id: string }>>({
    name: `list-products-by-exposure${otherId === null ? "" : "-of-other"}`,
    text: `
      with part as (
        select p.id, p.sku, p.name, p.status
        from products p
        where p.merchant_id = $1 and p.id > $3
        order by p.id
        limit 5000
      )
      select p.last_id, p.read_count, f.*
      from (
        select (array_agg(part.id order by part.id desc))[1] as last_id,
               count(*)::integer as read_count
        from part
      ) as p
      left join lateral (
        select part.id
        from part
        where $4::boolean = coalesce((
                select true
                from exposed_products e
                where e.merchant_id = $1 and e.product_id = part.id and e.withdrawn_at is null and e.connection_id = $2
                limit 1), false)
          and ($5::text is null or part.sku = $5) and ($6::text is null or part.status = $6)
          and ($7::text[] is null or ${folded("part.sku")} like any($7) or ${folded("part.name")} like any($7))
          and ($9::boolean is null or $9 = ${isExposedTo("$10", otherId, "part")})
        order by part.id
        limit $8
      ) as f on true
      order by f.id`,
    values: [
      merchantId,
      connectionId,
      search.afterId,
      search.isExposedHere,
      sku,
      status,
      text,
      search.limit,
      isExposed,
      otherId,
    ],
  });
  const { found, readTo } = toFitting(rows, ROWS_READ_MAX);
  return { ids: found.map(({ id }) => id), readTo };
}

/** How many of these products of the merchant are exposed to the connection. */
export async function countExposed(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  productIds: readonly string[],
): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-exposed",
    text: `
      select count(*)::integer as count
      from exposed_products e
      where e.merchant_id = $1 and e.connection_id = $2 and e.product_id = any($3::uuid[]) and e.withdrawn_at is null`,
    values: [merchantId, connectionId, productIds],
  });
  return row?.count ?? 0;
}

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
  /** Of a part of the connection's name. */
  readonly name: SearchPatterns | null;
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
        limit 5000
      )
      select p.last_id, p.read_count, f.*
      from (
        select (array_agg(part.id order by part.id desc))[1] as last_id,
               count(*)::integer as read_count
        from part
      ) as p
      left join lateral (
        select part.id, part.name, e.exposed_at
        from part
        left join exposed_products e
          on e.merchant_id = $1 and e.connection_id = part.id and e.product_id = $2 and e.withdrawn_at is null
        where ($5::boolean is null or (e.product_id is not null) = $5)
          and ($6::text[] is null or ${folded("part.name")} like any($6))
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
