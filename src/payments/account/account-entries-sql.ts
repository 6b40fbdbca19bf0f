import type { EntryKind } from "../../ledger/ledger.ts";
import type { Actor } from "../../lifecycle/applied-transition.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { type PagePosition, ROWS_READ_MAX } from "../../platform/wire/cursor.ts";
import type { BookingKind } from "./bookings.ts";

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
  /** What a charge or a refund is for. Null for payments. */
  readonly charge: ChargeOfEntry | null;
  /** Who recorded a payment. Null for charges and refunds, and for payments of before that was stored. */
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

/** The columns of the account entry `e` that `toAccountEntry` reads, after `namedBy`. */
export const ENTRY_COLUMNS = `e.id, e.kind, e.amount_minor, e.reference, e.note, e.created_at,
             e.actor_kind, e.actor_name, e.actor_id, l.order_id, o.external_order_id, l.kind as charge_kind, l.refund_of`;

/**
 * Joins the order and the charge of the account entry `e`, which has the charge's id. The first charge for goods has the
 * id of its order; all others are in ledger_entries_id_idx.
 */
export const namedBy = (merchantId: `$${number}`): string => `left join lateral (
        select g.order_id, g.kind, g.refund_of
        from ledger_entries g
        where g.merchant_id = ${merchantId} and g.order_id = e.id and g.id = e.id and e.kind = 'charge'
        union all
        select x.order_id, x.kind, x.refund_of
        from ledger_entries x
        where x.merchant_id = ${merchantId} and x.id = e.id and (x.kind <> 'goods' or x.attempt > 1) and e.kind <> 'payment'
      ) as l on true
      left join orders o on o.merchant_id = ${merchantId} and o.id = l.order_id`;

type ListedEntries = {
  readonly entries: readonly AccountEntry[];
  /** The last entry that was read, if reading ended before the page was full. Null if all were read. */
  readonly readTo: string | null;
};

/**
 * The entries of one kind, or all. Newest first. Returns one row more than the page if there is one. A page reads at most
 * ROWS_READ_MAX entries (decision 0067): the payments of a merchant may be few among millions of charges.
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
      select ${ENTRY_COLUMNS}, e.fits, e.is_last
      from (
        select part.*
        from (
          select a.id, a.kind, a.amount_minor, a.reference, a.note, a.created_at, a.actor_kind, a.actor_name, a.actor_id,
                 ($4::text is null or a.kind = $4) as fits, row_number() over (order by a.id desc) = ${ROWS_READ_MAX} as is_last
          from account_entries a
          where a.merchant_id = $1 and a.id < $2
          order by a.id desc
          limit ${ROWS_READ_MAX}) as part
        where part.fits or part.is_last
        order by part.id desc
        limit $3 + 1) as e
      ${namedBy("$1")}
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
      select ${ENTRY_COLUMNS}
      from ledger_entries l
      join account_entries e on e.merchant_id = $1 and e.id = l.id
      join orders o on o.merchant_id = $1 and o.id = l.order_id
      where l.merchant_id = $1 and l.order_id = $5 and e.id < $2 and ($4::text is null or e.kind = $4)
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
