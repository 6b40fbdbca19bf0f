import type { EntryKind } from "../../ledger/ledger.ts";
import type { Actor } from "../../lifecycle/applied-transition.ts";
import { merchantByMerchant, merchantsOf } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { PagePosition } from "../../platform/wire/cursor.ts";
import { type Booking, type BookingKind, type Decision, type MerchantAccount, signed } from "./bookings.ts";

type AccountRow = { merchant_id: string; balance_minor: bigint; credit_limit_minor: bigint | null };

const toAccount = (row: AccountRow): MerchantAccount => ({
  merchantId: row.merchant_id,
  balanceMinor: row.balance_minor,
  creditLimitMinor: row.credit_limit_minor,
});

/** A merchant's account, empty before its first booking. Null if there is no such merchant. */
export async function readAccount(db: Queryable, merchantId: string): Promise<MerchantAccount | null> {
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
 * The ids of those of the orders whose next charge can be booked on the account of its merchant: the merchant has no method at
 * Stripe, and no earlier charge of the order is pending. The caller has locked the orders.
 */
export async function listBookable(
  tx: Queryable,
  orders: readonly { readonly merchantId: string; readonly id: string }[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ id: string }>({
    name: "list-bookable-orders",
    text: `
      select o.id
      from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, order_id)
      join orders o on o.merchant_id = listed.merchant_id and o.id = listed.order_id
      where o.merchant_id = any($1::uuid[])
        and not exists (
          select from stripe_methods s
          where s.merchant_id = o.merchant_id and s.merchant_id = any($1::uuid[]) and s.ended_at is null)
        and not exists (
          select from due_payments d
          where d.merchant_id = o.merchant_id and d.merchant_id = any($1::uuid[]) and d.order_id = o.id)`,
    values: [orders.map(({ merchantId }) => merchantId), orders.map(({ id }) => id)],
  });
  return new Set(rows.map(({ id }) => id));
}

/**
 * Locks accounts, in the order of their merchants' ids; missing accounts are created. Read them after the lock: a
 * statement that waits for a lock still uses the credit limits that it saw before.
 */
export async function lockAccounts(
  tx: Queryable,
  merchantIds: readonly string[],
): Promise<MerchantAccount[]> {
  if (merchantIds.length === 0) return [];
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
      where ($3::uuid[] is null or e.merchant_id = any($3))
      union all
      select d.merchant_id, d.id, 'declined'
      from requested
      join account_declines d on d.merchant_id = requested.merchant_id and d.id = requested.id
      where ($3::uuid[] is null or d.merchant_id = any($3))`,
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
export async function lockAccountsShared(
  tx: Queryable,
  merchantIds: readonly string[],
): Promise<MerchantAccount[]> {
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

async function readLockedAccounts(tx: Queryable, merchantIds: readonly string[]): Promise<MerchantAccount[]> {
  const rows = await tx.query<AccountRow>({
    name: "read-locked-accounts",
    text: `
      select a.merchant_id, a.balance_minor, m.credit_limit_minor
      from merchant_accounts a
      join merchants m on m.id = a.merchant_id
      where a.merchant_id = any($1::uuid[]) and ($2::uuid[] is null or m.id = any($2))`,
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
      where a.merchant_id = sums.merchant_id and ($6::uuid[] is null or a.merchant_id = any($6))`,
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

/** A line of a merchant's account. */
export type AccountEntry = {
  readonly id: string;
  readonly kind: BookingKind;
  /** Negative for charges. */
  readonly amountMinor: bigint;
  /** The operator's reference of a payment. Null for charges and refunds. */
  readonly reference: string | null;
  readonly note: string | null;
  /** When it was booked. */
  readonly createdAt: Date;
  /** The order of a charge or a refund. Null for payments. */
  readonly charge: ChargeOfEntry | null;
  /** The actor that recorded a payment. Null for charges and refunds, and for payments of before that was stored. */
  readonly recordedBy: Actor | null;
};

type ChargeOfEntry = {
  readonly orderId: string;
  readonly externalOrderId: string | null;
  readonly kind: EntryKind;
  /** The charge that a refund returns, or a part of it. */
  readonly refundOf: string | null;
};

export type AccountEntryRow = {
  id: string;
  kind: BookingKind;
  amount_minor: bigint;
  reference: string | null;
  note: string | null;
  created_at: Date;
  order_id: string | null;
  external_order_id: string | null;
  charge_kind: EntryKind | null;
  refund_of: string | null;
  actor_kind: Actor["kind"] | null;
  actor_name: string | null;
  actor_id: string | null;
};

export const toAccountEntry = (row: AccountEntryRow): AccountEntry => ({
  id: row.id,
  kind: row.kind,
  amountMinor: row.amount_minor,
  reference: row.reference,
  note: row.note,
  createdAt: row.created_at,
  charge:
    row.order_id === null || row.charge_kind === null
      ? null
      : {
          orderId: row.order_id,
          externalOrderId: row.external_order_id,
          kind: row.charge_kind,
          refundOf: row.refund_of,
        },
  recordedBy:
    row.actor_kind === null ? null : { kind: row.actor_kind, name: row.actor_name, id: row.actor_id },
});

type ListedEntries = {
  readonly entries: readonly AccountEntry[];
  /** The last entry that was read, if reading ended before the page was full. Null if all were read. */
  readonly readTo: string | null;
};

/**
 * The entries of one kind, or all. Newest first. Returns one row more than the page if there is one. A page reads at most
 * ROWS_READ_MAX entries (docs/design/isolation-and-limits.md, "Bounded lists"): the payments of a merchant may be few among
 * millions of charges.
 */
export async function listAccountEntries(
  db: Queryable,
  merchantId: string,
  kind: BookingKind | null,
  { afterId, limit }: PagePosition,
): Promise<ListedEntries> {
  const rows = await db.query<AccountEntryRow & { fits: boolean; is_last: boolean }>({
    name: "list-account-entries",
    text: `
      select e.id, e.kind, e.amount_minor, e.reference, e.note, e.created_at,
             e.actor_kind, e.actor_name, e.actor_id, l.order_id, o.external_order_id, l.kind as charge_kind, l.refund_of,
             e.fits, e.is_last
      from (
        select part.*
        from (
          select a.id, a.kind, a.amount_minor, a.reference, a.note, a.created_at, a.actor_kind, a.actor_name, a.actor_id,
                 ($4::text is null or a.kind = $4) as fits, row_number() over (order by a.id desc) = 5000 as is_last
          from account_entries a
          where a.merchant_id = $1 and a.id < $2
          order by a.id desc
          limit 5000) as part
        where part.fits or part.is_last
        order by part.id desc
        limit $3 + 1) as e
      left join lateral (
        select g.order_id, g.kind, g.refund_of
        from ledger_entries g
        where g.merchant_id = $1 and g.order_id = e.id and g.id = e.id and e.kind = 'charge'
        union all
        select x.order_id, x.kind, x.refund_of
        from ledger_entries x
        where x.merchant_id = $1 and x.id = e.id and (x.kind <> 'goods' or x.attempt > 1) and e.kind <> 'payment'
        union all -- Booked, and its outcome not recorded yet.
        select d.order_id, d.kind, d.refund_of
        from due_payments d
        where d.merchant_id = $1 and d.order_id = e.id and d.purpose = 'goods 1' and e.kind = 'charge'
        union all
        select y.order_id, y.kind, y.refund_of
        from due_payments y
        where y.merchant_id = $1 and y.entry_id = e.id and (y.kind <> 'goods' or y.attempt > 1) and e.kind <> 'payment'
      ) as l on true
      left join order_requests o on o.merchant_id = $1 and o.order_id = l.order_id
      order by e.id desc`,
    values: [merchantId, afterId, limit, kind],
  });
  const last = rows.at(-1);
  return {
    entries: rows.filter(({ fits }) => fits).map(toAccountEntry),
    readTo: last?.is_last ? last.id : null,
  };
}

/** The same for one order, which has few entries. */
export async function listAccountEntriesOfOrder(
  db: Queryable,
  merchantId: string,
  orderId: string,
  kind: BookingKind | null,
  { afterId, limit }: PagePosition,
): Promise<AccountEntry[]> {
  const rows = await db.query<AccountEntryRow>({
    name: "list-account-entries-of-order",
    text: `
      select e.id, e.kind, e.amount_minor, e.reference, e.note, e.created_at,
             e.actor_kind, e.actor_name, e.actor_id, l.order_id, o.external_order_id, l.kind as charge_kind, l.refund_of
      from (
        select g.order_id, g.id, g.kind, g.refund_of
        from ledger_entries g
        where g.merchant_id = $1 and g.order_id = $5
        union all -- Booked, and its outcome not recorded yet.
        select d.order_id, d.entry_id, d.kind, d.refund_of
        from due_payments d
        where d.merchant_id = $1 and d.order_id = $5) as l
      join account_entries e on e.merchant_id = $1 and e.id = l.id
      join order_requests o on o.merchant_id = $1 and o.order_id = l.order_id
      where e.id < $2 and ($4::text is null or e.kind = $4)
      order by e.id desc
      limit $3 + 1`,
    values: [merchantId, afterId, limit, kind, orderId],
  });
  return rows.map(toAccountEntry);
}

/** The payment that a merchant has made under a reference, if any. */
export async function readPayment(
  tx: Queryable,
  merchantId: string,
  reference: string,
): Promise<AccountEntry | null> {
  const [row] = await tx.query<
    Omit<AccountEntryRow, "order_id" | "external_order_id" | "charge_kind" | "refund_of">
  >({
    name: "read-account-payment",
    text: `
      select id, kind, amount_minor, reference, note, created_at, actor_kind, actor_name, actor_id
      from account_entries
      where merchant_id = $1 and reference = $2`,
    values: [merchantId, reference],
  });
  const nothing = { order_id: null, external_order_id: null, charge_kind: null, refund_of: null };
  return row === undefined ? null : toAccountEntry({ ...row, ...nothing });
}
