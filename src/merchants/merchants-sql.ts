import type { ConnectionScope } from "../audit/grant.ts";
import type { Queryable } from "../platform/database/database.ts";
import { folded, type SearchPatterns } from "../platform/fold-text.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";
import { type LimitOverrides, type MerchantLimitName, maximumOf } from "./limits.ts";

/** A company that opens its products to partners and is charged for orders. */
export type Merchant = {
  readonly id: string;
  readonly name: string;
  /** The recipient of tracking mails. */
  readonly accountEmail: string;
  readonly currency: string;
  /** How much the merchant may owe, in minor units. Null means unlimited. */
  readonly creditLimitMinor: bigint | null;
  /** True if orders are completed automatically once everything has been shipped and paid. */
  readonly completeWhenShipped: boolean;
  /** The operator's changes of the limits on what the merchant can have. */
  readonly limits: LimitOverrides;
  readonly createdAt: Date;
};

type MerchantRow = {
  id: string;
  name: string;
  account_email: string;
  currency: string;
  credit_limit_minor: bigint | null;
  complete_when_shipped: boolean;
  limits: LimitOverrides;
  created_at: Date;
};

export async function insertMerchant(db: Queryable, merchant: Merchant): Promise<void> {
  await db.query({
    name: "insert-merchant",
    text: `
      insert into merchants (id, name, account_email, currency, credit_limit_minor, complete_when_shipped, created_at)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      merchant.id,
      merchant.name,
      merchant.accountEmail,
      merchant.currency,
      merchant.creditLimitMinor,
      merchant.completeWhenShipped,
      merchant.createdAt,
    ],
  });
}

export async function readMerchant(db: Queryable, merchantId: string): Promise<Merchant | null> {
  const [row] = await db.query<MerchantRow>({
    name: "read-merchant",
    text: `
      select id, name, account_email, currency, credit_limit_minor, complete_when_shipped, limits, created_at
      from merchants
      where id = $1`,
    values: [merchantId],
  });
  return row === undefined ? null : toMerchant(row);
}

/** Those of these merchants that exist. */
export async function findMerchants(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "find-merchants",
    text: "select id from merchants where id = any($1::uuid[])",
    values: [ids],
  });
  return rows.map(({ id }) => id);
}

/** Reads a merchant and locks it until the transaction ends. */
export async function lockMerchant(tx: Queryable, merchantId: string): Promise<Merchant | null> {
  const [row] = await tx.query<MerchantRow>({
    name: "lock-merchant",
    text: `
      select id, name, account_email, currency, credit_limit_minor, complete_when_shipped, limits, created_at
      from merchants
      where id = $1
      for no key update`,
    values: [merchantId],
  });
  return row === undefined ? null : toMerchant(row);
}

export async function updateMerchant(tx: Queryable, merchant: Merchant): Promise<void> {
  await tx.query({
    name: "update-merchant",
    text: `
      update merchants
      set name = $2, account_email = $3, credit_limit_minor = $4, complete_when_shipped = $5, limits = $6
      where id = $1`,
    values: [
      merchant.id,
      merchant.name,
      merchant.accountEmail,
      merchant.creditLimitMinor,
      merchant.completeWhenShipped,
      JSON.stringify(merchant.limits),
    ],
  });
}

/** The maximum of a limit for each of these merchants. */
export async function readMerchantMaximum(
  db: Queryable,
  merchantIds: readonly string[],
  name: MerchantLimitName,
): Promise<(merchantId: string) => number> {
  const rows = await db.query<{ id: string; limits: LimitOverrides }>({
    name: "read-merchant-limits",
    text: "select id, limits from merchants where id = any($1::uuid[])",
    values: [merchantIds],
  });
  const overrides = new Map(rows.map(({ id, limits }) => [id, limits]));
  return (merchantId) => maximumOf(overrides.get(merchantId) ?? {}, name);
}

/**
 * Locks the counts of a merchant until the transaction ends: other transactions that count what it has wait. Lock them late, so
 * that they wait briefly. Returns how many products it has.
 */
export async function lockCounts(tx: Queryable, merchantId: string): Promise<number> {
  const [row] = await tx.query<{ products: number }>({
    name: "lock-merchant-counts",
    text: `
      insert into merchant_counts (merchant_id)
      values ($1)
      on conflict (merchant_id) do update set products = merchant_counts.products
      returning products`,
    values: [merchantId],
  });
  if (row === undefined) throw new Error("The row was inserted or updated.");
  return row.products;
}

/** Counts new products of a merchant whose counts this transaction has locked. */
export async function addProducts(tx: Queryable, merchantId: string, count: number): Promise<void> {
  await tx.query({
    name: "add-products",
    text: "update merchant_counts set products = products + $2 where merchant_id = $1",
    values: [merchantId, count],
  });
}

/** How many products a merchant has. */
export async function countProducts(db: Queryable, merchantId: string): Promise<number> {
  const [row] = await db.query<{ products: number }>({
    name: "count-products",
    text: "select products from merchant_counts where merchant_id = $1",
    values: [merchantId],
  });
  return row?.products ?? 0;
}

/** How many connections a merchant has, at most `countMax`. One that has ended is removed soon, and takes no place any more. */
export async function countConnections(
  db: Queryable,
  merchantId: string,
  now: Date,
  countMax: number,
): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-connections",
    text: `
      select count(*)::integer as count
      from (
        select
        from connections
        where merchant_id = $1 and (ends_at is null or ends_at > $2)
        limit $3) as counted`,
    values: [merchantId, now, countMax],
  });
  return row?.count ?? 0;
}

/** The recipient of mail about the orders of a connection. */
export async function readAccountEmail(db: Queryable, merchantId: string): Promise<string> {
  const [row] = await db.query<{ account_email: string }>({
    name: "read-account-email",
    text: "select account_email from merchants where id = $1",
    values: [merchantId],
  });
  if (row === undefined) throw new Error("An order has a merchant.");
  return row.account_email;
}

/** Which merchants are listed. A null restricts nothing. */
type MerchantFilter = {
  readonly ids: readonly string[] | null;
  /** Of a part of the name or of the account's address. */
  readonly text: SearchPatterns | null;
};

/** Oldest first. Returns one row more than the page if there is one. */
export async function listMerchants(
  db: Queryable,
  { ids, text }: MerchantFilter,
  { afterId, limit }: PagePosition,
): Promise<Merchant[]> {
  const rows = await db.query<MerchantRow>({
    name: "list-merchants",
    text: `
      select id, name, account_email, currency, credit_limit_minor, complete_when_shipped, limits, created_at
      from merchants
      where id > $1 and ($3::uuid[] is null or id = any($3))
        and ($4::text[] is null or ${folded("name")} like any($4) or ${folded("account_email")} like any($4))
      order by id
      limit $2 + 1`,
    values: [afterId, limit, ids, text],
  });
  return rows.map(toMerchant);
}

const toMerchant = (row: MerchantRow): Merchant => ({
  id: row.id,
  name: row.name,
  accountEmail: row.account_email,
  currency: row.currency,
  creditLimitMinor: row.credit_limit_minor,
  completeWhenShipped: row.complete_when_shipped,
  limits: row.limits,
  createdAt: row.created_at,
});

export type FoundMerchant = { readonly id: string; readonly name: string };
type NameOrId = { readonly name: SearchPatterns; readonly id: string | null };
export type FoundConnection = FoundMerchant & { readonly merchantId: string; readonly merchantName: string };

/** Patterns begin with `%`. */
const beginnings = (name: SearchPatterns): SearchPatterns => name.map((pattern) => pattern.slice(1));

/** Merchants of these (null: all) with a name that fits, or with this id. Names that begin so come first. */
export const findMerchantsByName = (
  db: Queryable,
  merchantIds: readonly string[] | null,
  { name, id }: NameOrId,
  limit: number,
): Promise<FoundMerchant[]> =>
  db.query<FoundMerchant>({
    name: "find-merchants-by-name",
    text: `
      select m.id, m.name
      from merchants m
      where ($1::uuid[] is null or m.id = any($1)) and (${folded("m.name")} like any($2::text[]) or m.id = $3)
      order by ${folded("m.name")} like any($5::text[]) desc, lower(m.name), m.id
      limit $4`,
    values: [merchantIds, name, id, limit, beginnings(name)],
  });

/** Connections of a scope with a name that fits, or with this id. Names that begin so come first. */
export const findConnectionsByName = (
  db: Queryable,
  scope: ConnectionScope,
  { name, id }: NameOrId,
  limit: number,
): Promise<FoundConnection[]> =>
  db.query<FoundConnection>({
    name: "find-connections-by-name",
    text: `
      select c.id, c.name, m.id as "merchantId", m.name as "merchantName"
      from connections c
      join merchants m on m.id = c.merchant_id
      where ($1::uuid[] is null or c.merchant_id = any($1) or c.id = any($2))
        and (${folded("c.name")} like any($3::text[]) or c.id = $4)
      order by ${folded("c.name")} like any($6::text[]) desc, lower(c.name), c.id
      limit $5`,
    values: [
      scope?.merchantIds ?? null,
      scope?.connections.map(({ connectionId }) => connectionId) ?? null,
      name,
      id,
      limit,
      beginnings(name),
    ],
  });
