import type { Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import { CsvNumber, csvRow } from "../../platform/wire/csv.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import type { AccountEntry } from "./account-entries-sql.ts";
import { lockAccountsShared } from "./account-sql.ts";
import {
  type Period,
  readFurtherEntries,
  readStatementPage,
  type StatementPosition,
} from "./statement-sql.ts";

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
 * account's lock, so those that are in progress are waited for (decision 0091).
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

/**
 * The statement of a closed period as CSV, page by page: a row for the opening balance, one for each entry, and one for the
 * closing balance. Without the last one the file is not complete.
 */
export async function* statementRows(
  { db }: Context,
  { id: merchantId, currency }: Merchant,
  period: Period,
): AsyncGenerator<string> {
  const money = (minor: bigint) => new CsvNumber(formatMoney({ minor, currency }).amount);
  const balanceRow = (at: Date, kind: string, minor: bigint) =>
    csvRow([at.toISOString(), kind, ...Array(HEAD.length - 2).fill(""), "", money(minor), currency]);
  yield csvRow([...HEAD, "amount", "balance", "currency"]);
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
    yield entries
      .map((entry) =>
        csvRow([...cellsOf(entry), money(entry.amountMinor), money(entry.balanceMinor), currency]),
      )
      .join("");
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
