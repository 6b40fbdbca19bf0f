import type { Queryable } from "../database/database.ts";
import type { PagePosition } from "../http/cursor.ts";

/** A company whose products are opened to partners and who is charged for orders. */
export type Merchant = {
  readonly id: string;
  readonly name: string;
  /** Where carrier tracking mail goes. */
  readonly accountEmail: string;
  readonly currency: string;
  /** Minor units the merchant may owe; null means unlimited. */
  readonly creditLimitMinor: bigint | null;
  readonly createdAt: Date;
};

type MerchantRow = {
  id: string;
  name: string;
  account_email: string;
  currency: string;
  credit_limit_minor: bigint | null;
  created_at: Date;
};

export async function insertMerchant(db: Queryable, merchant: Merchant): Promise<void> {
  await db.query({
    name: "insert-merchant",
    text: `
      insert into merchants (id, name, account_email, currency, credit_limit_minor, created_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [
      merchant.id,
      merchant.name,
      merchant.accountEmail,
      merchant.currency,
      merchant.creditLimitMinor,
      merchant.createdAt,
    ],
  });
}

export async function readMerchant(db: Queryable, merchantId: string): Promise<Merchant | null> {
  const [row] = await db.query<MerchantRow>({
    name: "read-merchant",
    text: `
      select id, name, account_email, currency, credit_limit_minor, created_at
      from merchants
      where id = $1`,
    values: [merchantId],
  });
  return row === undefined ? null : toMerchant(row);
}

/** Oldest first; one row more than the page, if there is one. With `onlyId` at most that one. */
export async function listMerchants(
  db: Queryable,
  onlyId: string | null,
  { afterId, limit }: PagePosition,
): Promise<Merchant[]> {
  const rows = await db.query<MerchantRow>({
    name: "list-merchants",
    text: `
      select id, name, account_email, currency, credit_limit_minor, created_at
      from merchants
      where id > $1 and ($3::uuid is null or id = $3)
      order by id
      limit $2 + 1`,
    values: [afterId, limit, onlyId],
  });
  return rows.map(toMerchant);
}

const toMerchant = (row: MerchantRow): Merchant => ({
  id: row.id,
  name: row.name,
  accountEmail: row.account_email,
  currency: row.currency,
  creditLimitMinor: row.credit_limit_minor,
  createdAt: row.created_at,
});
