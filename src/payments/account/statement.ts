import type { Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { toTypeId } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import { CsvNumber } from "../../platform/tables/csv.ts";
import type { TableColumns } from "../../platform/tables/write-table.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import {
  type AccountEntry,
  type AccountEntryRow,
  lockAccountsShared,
  toAccountEntry,
} from "./account-sql.ts";

/** An entry, and the balance after it. */
export type StatementEntry = AccountEntry & { readonly balanceMinor: bigint };

/** Entries with the balance after each, from the balance before the first of them on. */
export function withBalances(beforeMinor: bigint, entries: readonly AccountEntry[]): StatementEntry[] {
  let balanceMinor = beforeMinor;
  return entries.map((entry) => {
    balanceMinor += entry.amountMinor;
    return { ...entry, balanceMinor };
  });
}

/** Where a statement begins. Ids are greater than this one. */
export const startOf = ({ from }: Period): StatementPosition => ({ bookedAt: from, id: UUID_MIN });

export const positionOf = ({ createdAt, id }: AccountEntry): StatementPosition => ({
  bookedAt: createdAt,
  id,
});

/**
 * The period up to now at the latest, after which no entry of it is booked any more: a booking takes its time under the
 * account's lock, so those that are in progress are waited for (docs/design/money.md, "Statements").
 */
export async function closePeriod(
  context: Context,
  merchantId: string,
  { from, to }: Period,
): Promise<Period> {
  return inTransaction(context, async (tx) => {
    const now = context.clock.now();
    await lockAccountsShared(tx, [merchantId]);
    return { from, to: to < now ? to : now };
  });
}

/** Entries that are in memory at a time. */
const PAGE_SIZE = 500;

const HEAD = [
  "bookedAt",
  "kind",
  "id",
  "orderId",
  "externalOrderId",
  "chargeKind",
  "refundOf",
  "reference",
  "note",
];

export const STATEMENT_COLUMNS: TableColumns = {
  columns: [...HEAD, "amount", "balance", "currency"],
  numbers: ["amount", "balance"],
};

/**
 * The rows of the statement of a closed period, page by page: a row for the opening balance, one for each entry, and one for the
 * closing balance. Without the last one the file is not complete.
 */
export async function* statementRows(
  { db }: Context,
  { id: merchantId, currency }: Merchant,
  period: Period,
): AsyncGenerator<unknown[][]> {
  const money = (minor: bigint) => new CsvNumber(formatMoney({ minor, currency }).amount);
  const balanceRow = (at: Date, kind: string, minor: bigint): unknown[][] => [
    [at.toISOString(), kind, ...Array(HEAD.length - 2).fill(""), "", money(minor), currency],
  ];
  const { sums, entries: first } = await readStatementPage(
    db,
    merchantId,
    period,
    startOf(period),
    PAGE_SIZE,
  );
  let read = first;
  let balanceMinor = sums.openingMinor;
  yield balanceRow(period.from, "opening", balanceMinor);
  for (;;) {
    const entries = withBalances(balanceMinor, read.slice(0, PAGE_SIZE));
    yield entries.map((entry) => [
      ...cellsOf(entry),
      money(entry.amountMinor),
      money(entry.balanceMinor),
      currency,
    ]);
    const last = entries.at(-1);
    balanceMinor = last?.balanceMinor ?? balanceMinor;
    if (last === undefined || read.length <= PAGE_SIZE) break;
    // The sums of the first page read all of the period. Each page would, and the file would cost its length squared.
    read = await readFurtherEntries(db, merchantId, period, positionOf(last), PAGE_SIZE);
  }
  yield balanceRow(period.to, "closing", balanceMinor);
}

const cellsOf = ({ id, kind, reference, note, createdAt, charge }: AccountEntry): string[] => [
  createdAt.toISOString(),
  kind,
  toTypeId(kind === "payment" ? "pay" : "chg", id),
  charge === null ? "" : toTypeId("ord", charge.orderId),
  charge?.externalOrderId ?? "",
  charge?.kind ?? "",
  charge?.refundOf ? toTypeId("chg", charge.refundOf) : "",
  reference ?? "",
  note ?? "",
];

/** From `from` on, and before `to`: the times at which entries were booked. */
export type Period = { readonly from: Date; readonly to: Date };

/** After which entry a page begins. Entries are sorted by the time of their booking, and then by id. */
export type StatementPosition = { readonly bookedAt: Date; readonly id: string };

/** The sums of a period, in minor units of the merchant's currency. */
type StatementSums = {
  readonly openingMinor: bigint;
  /** Negative. */
  readonly chargesMinor: bigint;
  readonly refundsMinor: bigint;
  readonly paymentsMinor: bigint;
  readonly closingMinor: bigint;
  readonly entryCount: number;
};

export type StatementPage = {
  readonly sums: StatementSums;
  /** The balance before the first entry of the page. */
  readonly beforeMinor: bigint;
  /** One more than the page has, if there is one. */
  readonly entries: readonly AccountEntry[];
};

type SumsRow = {
  opening_minor: bigint;
  /** Sums of gross amounts can be larger than a bigint holds. */
  charges_minor: string;
  refunds_minor: string;
  payments_minor: string;
  closing_minor: bigint;
  before_minor: bigint;
  entry_count: number;
};
type PageRow = SumsRow & { [Name in keyof AccountEntryRow]: AccountEntryRow[Name] | null };

/**
 * A page of a statement, and the sums of its period. One statement, so that all of it is of the same moment: the sums are
 * counted back from the present balance, over the entries since the begin of the period. Uses account_entries_booked_idx.
 */
export async function readStatementPage(
  db: Queryable,
  merchantId: string,
  { from, to }: Period,
  after: StatementPosition,
  limit: number,
): Promise<StatementPage> {
  const rows = await db.query<PageRow>({
    name: "read-statement-page",
    text: `
      with balance as (
        select coalesce(sum(a.balance_minor), 0)::bigint as minor
        from merchant_accounts a
        where a.merchant_id = $1
      ), since as (
        select
          coalesce(sum(e.amount_minor), 0)::bigint as all_minor,
          coalesce(sum(e.amount_minor) filter (where e.created_at >= $3), 0)::bigint as after_minor,
          coalesce(sum(e.amount_minor) filter (where (e.created_at, e.id) > ($4::timestamptz, $5::uuid)), 0)::bigint as rest_minor,
          coalesce(sum(e.amount_minor) filter (where e.created_at < $3 and e.kind = 'charge'), 0)::text as charges_minor,
          coalesce(sum(e.amount_minor) filter (where e.created_at < $3 and e.kind = 'refund'), 0)::text as refunds_minor,
          coalesce(sum(e.amount_minor) filter (where e.created_at < $3 and e.kind = 'payment'), 0)::text as payments_minor,
          (count(*) filter (where e.created_at < $3))::integer as entry_count
        from account_entries e
        where e.merchant_id = $1 and e.created_at >= $2
      ), page as (
        select e.merchant_id, e.id, e.kind, e.amount_minor, e.reference, e.note, e.created_at,
               e.actor_kind, e.actor_name, e.actor_id
        from account_entries e
        where e.merchant_id = $1 and e.created_at >= $2 and e.created_at < $3
          and (e.created_at, e.id) > ($4::timestamptz, $5::uuid)
        order by e.created_at, e.id
        limit $6 + 1)
      select b.minor - s.all_minor as opening_minor, s.charges_minor, s.refunds_minor, s.payments_minor,
             b.minor - s.after_minor as closing_minor, b.minor - s.rest_minor as before_minor, s.entry_count,
             e.id, e.kind, e.amount_minor, e.reference, e.note, e.created_at,
             e.actor_kind, e.actor_name, e.actor_id, l.order_id, o.external_order_id, l.kind as charge_kind, l.refund_of
      from balance b
      cross join since s
      left join page e on e.merchant_id = $1
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
      order by e.created_at, e.id`,
    values: [merchantId, from, to, after.bookedAt, after.id, limit],
  });
  const [first] = rows;
  if (first === undefined) throw new Error("A statement has sums.");
  return {
    sums: toSums(first),
    beforeMinor: first.before_minor,
    // Without any entry, there is one row that has only the sums.
    entries: rows.filter(({ id }) => id !== null).map((row) => toAccountEntry(row as AccountEntryRow)),
  };
}

/** A further page without the sums, which read all of the period. It reads no more than the page. */
async function readFurtherEntries(
  db: Queryable,
  merchantId: string,
  { from, to }: Period,
  after: StatementPosition,
  limit: number,
): Promise<readonly AccountEntry[]> {
  const rows = await db.query<AccountEntryRow>({
    name: "read-further-statement-entries",
    text: `
      with page as (
        select e.merchant_id, e.id, e.kind, e.amount_minor, e.reference, e.note, e.created_at,
               e.actor_kind, e.actor_name, e.actor_id
        from account_entries e
        where e.merchant_id = $1 and e.created_at >= $2 and e.created_at < $3
          and (e.created_at, e.id) > ($4::timestamptz, $5::uuid)
        order by e.created_at, e.id
        limit $6 + 1)
      select e.id, e.kind, e.amount_minor, e.reference, e.note, e.created_at,
             e.actor_kind, e.actor_name, e.actor_id, l.order_id, o.external_order_id, l.kind as charge_kind, l.refund_of
      from page e
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
      order by e.created_at, e.id`,
    values: [merchantId, from, to, after.bookedAt, after.id, limit],
  });
  return rows.map(toAccountEntry);
}

const toSums = (row: SumsRow): StatementSums => ({
  openingMinor: row.opening_minor,
  chargesMinor: BigInt(row.charges_minor),
  refundsMinor: BigInt(row.refunds_minor),
  paymentsMinor: BigInt(row.payments_minor),
  closingMinor: row.closing_minor,
  entryCount: row.entry_count,
});
