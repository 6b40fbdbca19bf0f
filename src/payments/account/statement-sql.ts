import type { Queryable } from "../../platform/database/database.ts";
import {
  type AccountEntry,
  type AccountEntryRow,
  ENTRY_COLUMNS,
  namedBy,
  toAccountEntry,
} from "./account-entries-sql.ts";

/** From `from` on, and before `to`: the times at which entries were booked. */
export type Period = { readonly from: Date; readonly to: Date };

/** After which entry a page begins. Entries are sorted by the time of their booking, and then by id. */
export type StatementPosition = { readonly bookedAt: Date; readonly id: string };

/** The sums of a period, in minor units of the merchant's currency. */
export type StatementSums = {
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

/** The entries of a period after a position, one more than the page has, if there is one. */
const PAGE = `
        select e.merchant_id, e.id, e.kind, e.amount_minor, e.reference, e.note, e.created_at,
               e.actor_kind, e.actor_name, e.actor_id
        from account_entries e
        where e.merchant_id = $1 and e.created_at >= $2 and e.created_at < $3 and (e.created_at, e.id) > ($4::timestamptz, $5::uuid)
        order by e.created_at, e.id
        limit $6 + 1`;

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
      ), page as (${PAGE})
      select b.minor - s.all_minor as opening_minor, s.charges_minor, s.refunds_minor, s.payments_minor,
             b.minor - s.after_minor as closing_minor, b.minor - s.rest_minor as before_minor, s.entry_count,
             ${ENTRY_COLUMNS}
      from balance b
      cross join since s
      left join page e on e.merchant_id = $1
      ${namedBy("$1")}
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
export async function readFurtherEntries(
  db: Queryable,
  merchantId: string,
  { from, to }: Period,
  after: StatementPosition,
  limit: number,
): Promise<readonly AccountEntry[]> {
  const rows = await db.query<AccountEntryRow>({
    name: "read-further-statement-entries",
    text: `
      with page as (${PAGE})
      select ${ENTRY_COLUMNS}
      from page e
      ${namedBy("$1")}
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
