import { amongMerchants, merchantsOf } from "../../distribution/among-merchants.ts";
import { merchantByMerchant } from "../../distribution/merchant-by-merchant.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { AccountEntry } from "./account-entries-sql.ts";
import { type Account, type Booking, type Decision, signed } from "./bookings.ts";

type AccountRow = { merchant_id: string; balance_minor: bigint; credit_limit_minor: bigint | null };

const toAccount = (row: AccountRow): Account => ({
  merchantId: row.merchant_id,
  balanceMinor: row.balance_minor,
  creditLimitMinor: row.credit_limit_minor,
});

/** A merchant's account, empty before its first booking. Null if there is no such merchant. */
export async function readAccount(db: Queryable, merchantId: string): Promise<Account | null> {
  const [row] = await db.query<AccountRow>({
    name: "read-account",
    text: `
      select m.id as merchant_id, coalesce(a.balance_minor, 0) as balance_minor, m.credit_limit_minor
      from merchants m
      left join merchant_accounts a on a.merchant_id = m.id
      where m.id = $1`,
    values: [merchantId],
  });
  return row === undefined ? null : toAccount(row);
}

/**
 * Locks accounts, in the order of their merchants' ids; missing accounts are created. Read them after the lock: a
 * statement that waits for a lock still uses the credit limits that it saw before.
 */
export async function lockAccounts(tx: Queryable, merchantIds: readonly string[]): Promise<Account[]> {
  const locked = await lockExisting(tx, merchantIds);
  if (locked < merchantIds.length) {
    await makeAccounts(tx, merchantIds);
    await lockExisting(tx, merchantIds);
  }
  return readLockedAccounts(tx, merchantIds);
}

async function lockExisting(tx: Queryable, merchantIds: readonly string[]): Promise<number> {
  const rows = await merchantByMerchant(tx, keysOf(merchantIds), (own) =>
    tx.query({
      name: "lock-accounts",
      text: `
        select merchant_id
        from merchant_accounts
        where merchant_id = any($1::uuid[])
        order by merchant_id
        for no key update`,
      values: [own.map(({ merchantId }) => merchantId)],
    }),
  );
  return rows.length;
}

const keysOf = (merchantIds: readonly string[]) => merchantIds.map((merchantId) => ({ merchantId }));

async function makeAccounts(tx: Queryable, merchantIds: readonly string[]): Promise<void> {
  await tx.query({
    name: "make-accounts",
    text: `
      insert into merchant_accounts (merchant_id, balance_minor)
      select merchant_id, 0
      from unnest($1::uuid[]) as requested (merchant_id)
      order by merchant_id
      on conflict do nothing`,
    values: [merchantIds],
  });
}

/** Returns earlier decisions about bookings. The caller has locked the accounts. */
export async function readDecided(
  tx: Queryable,
  bookings: readonly Booking[],
): Promise<(booking: Booking) => Decision | null> {
  const rows = await tx.query<{ merchant_id: string; id: string; decision: Decision }>({
    name: "read-decided",
    text: `
      with requested as (
        select *
        from unnest($1::uuid[], $2::uuid[]) as requested (merchant_id, id)
      )
      select e.merchant_id, e.id, 'made' as decision
      from requested
      join account_entries e on e.merchant_id = requested.merchant_id and e.id = requested.id
      where ${amongMerchants("$3", "e.merchant_id")}
      union all
      select d.merchant_id, d.id, 'declined'
      from requested
      join account_declines d on d.merchant_id = requested.merchant_id and d.id = requested.id
      where ${amongMerchants("$3", "d.merchant_id")}`,
    values: [
      bookings.map(({ merchantId }) => merchantId),
      bookings.map(({ id }) => id),
      await merchantsOf(tx, bookings),
    ],
  });
  const decided = new Map(rows.map((row) => [`${row.merchant_id} ${row.id}`, row.decision]));
  return ({ merchantId, id }) => decided.get(`${merchantId} ${id}`) ?? null;
}

/** Records declined charges. Earlier declines do not change. The caller has locked the accounts. */
export async function insertDeclines(tx: Queryable, declined: readonly Booking[], now: Date): Promise<void> {
  if (declined.length === 0) return;
  await tx.query({
    name: "insert-account-declines",
    text: `
      insert into account_declines (merchant_id, id, created_at)
      select merchant_id, id, $3
      from unnest($1::uuid[], $2::uuid[]) as declined (merchant_id, id)
      on conflict do nothing`,
    values: [declined.map(({ merchantId }) => merchantId), declined.map(({ id }) => id), now],
  });
}

/**
 * Locks the accounts of merchants, in the order of their ids: until the transaction ends, no other books on them or
 * changes their limits. Accounts that there are not yet are left out. Read them after the lock: a statement that waits
 * for a lock still uses what it saw before.
 */
export async function lockAccountsShared(tx: Queryable, merchantIds: readonly string[]): Promise<Account[]> {
  if (merchantIds.length === 0) return [];
  await merchantByMerchant(tx, keysOf(merchantIds), (own) =>
    tx.query({
      name: "hold-accounts",
      text: `
        select merchant_id
        from merchant_accounts
        where merchant_id = any($1::uuid[])
        order by merchant_id
        for share`,
      values: [own.map(({ merchantId }) => merchantId)],
    }),
  );
  return readLockedAccounts(tx, merchantIds);
}

async function readLockedAccounts(tx: Queryable, merchantIds: readonly string[]): Promise<Account[]> {
  const rows = await tx.query<AccountRow>({
    name: "read-locked-accounts",
    text: `
      select a.merchant_id, a.balance_minor, m.credit_limit_minor
      from merchant_accounts a
      join merchants m on m.id = a.merchant_id
      where a.merchant_id = any($1::uuid[]) and ${amongMerchants("$2", "m.id")}`,
    values: [merchantIds, await merchantsOf(tx, keysOf(merchantIds))],
  });
  return rows.map(toAccount);
}

/** Stores bookings and their effect on the accounts, in one statement. The caller has locked the accounts. */
export async function insertBookings(tx: Queryable, bookings: readonly Booking[], now: Date): Promise<void> {
  if (bookings.length === 0) return;
  await tx.query({
    name: "insert-bookings",
    text: `
      with booked as (
        insert into account_entries (merchant_id, id, kind, amount_minor, created_at)
        select merchant_id, id, kind, amount_minor, $5
        from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[]) as made (merchant_id, id, kind, amount_minor)
        returning merchant_id, amount_minor
      )
      update merchant_accounts a
      set balance_minor = a.balance_minor + sums.amount_minor
      from (
        select merchant_id, sum(amount_minor)::bigint as amount_minor
        from booked
        group by merchant_id) as sums
      where a.merchant_id = sums.merchant_id and ${amongMerchants("$6", "a.merchant_id")}`,
    values: [
      bookings.map(({ merchantId }) => merchantId),
      bookings.map(({ id }) => id),
      bookings.map(({ kind }) => kind),
      bookings.map((booking) => signed(booking).toString()),
      now,
      await merchantsOf(tx, bookings),
    ],
  });
}

/** Stores a payment and adds it to the account, in one statement. The caller has locked the account. */
export async function insertPayment(tx: Queryable, merchantId: string, payment: AccountEntry): Promise<void> {
  await tx.query({
    name: "insert-account-payment",
    text: `
      with booked as (
        insert into account_entries (merchant_id, id, kind, amount_minor, reference, note, created_at, actor_kind,
          actor_name, actor_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        returning merchant_id, amount_minor
      )
      update merchant_accounts a
      set balance_minor = a.balance_minor + b.amount_minor
      from booked b
      where a.merchant_id = b.merchant_id and a.merchant_id = $1`,
    values: [
      merchantId,
      payment.id,
      payment.kind,
      payment.amountMinor.toString(),
      payment.reference,
      payment.note,
      payment.createdAt,
      payment.recordedBy?.kind ?? null,
      payment.recordedBy?.name ?? null,
      payment.recordedBy?.id ?? null,
    ],
  });
}
