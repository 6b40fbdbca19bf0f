import { type Static, Type } from "typebox";
import type { Merchant } from "../../merchants/merchants-sql.ts";
import {
  closePeriod,
  type Period,
  positionOf,
  readStatementPage,
  STATEMENT_COLUMNS,
  type StatementPosition,
  startOf,
  statementRows,
  withBalances,
} from "../../payments/account/statement.ts";
import type { Context } from "../../platform/context.ts";
import { bytesOf, toTypeId, uuidOf } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import { writeTable } from "../../platform/tables/write-table.ts";
import { parseTime } from "../../platform/time.ts";
import { badCursor, decodeCursor, encodeCursor } from "../../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  idField,
  limitField,
  MoneySchema,
  PAGE_SIZE_DEFAULT,
  pageOf,
} from "../../platform/wire/schemas.ts";
import { type BackOfficeRoute, merchantSide, route } from "../access.ts";
import { findMerchant, MerchantIdParams, tableFiles, tableFormatField } from "../lookups.ts";
import { AccountEntrySchema, toWireEntry } from "./account.ts";

const LIST = "statement";

const period = {
  from: Type.Optional(
    dateTime("The period begins at this time. Default: the begin of the present month in UTC."),
  ),
  to: Type.Optional(dateTime("The period ends before this time. Default, and latest possible time: now.")),
};
type PeriodQuery = { from?: string | undefined; to?: string | undefined };

const StatementEntrySchema = Type.Object(
  {
    ...AccountEntrySchema.properties,
    balance: describedAs(MoneySchema, "The balance after the entry."),
  },
  { title: "StatementEntry", description: "A change of a merchant's balance, and the balance after it." },
);

const StatementSchema = Type.Object(
  {
    merchantId: idField("mer", "Id of the merchant."),
    from: dateTime("When the period begins."),
    to: dateTime("The period ends before this time."),
    opening: describedAs(MoneySchema, "The balance when the period begins."),
    charges: describedAs(MoneySchema, "The sum of the charges in the period, negative or zero."),
    refunds: describedAs(MoneySchema, "The sum of the refunds in the period."),
    payments: describedAs(MoneySchema, "The sum of the merchant's payments in the period."),
    closing: describedAs(
      MoneySchema,
      "The balance when the period ends: `opening` plus `charges`, `refunds` and `payments`.",
    ),
    entryCount: Type.Integer({ description: "Number of entries in the period." }),
    ...pageOf(StatementEntrySchema, "StatementPage").properties,
  },
  {
    title: "Statement",
    description: "The account of a merchant in a period, with a page of its entries, oldest first.",
  },
);

const CSV_EXAMPLE = `bookedAt,kind,id,orderId,externalOrderId,chargeKind,refundOf,reference,note,amount,balance,currency
2026-03-01T00:00:00.000Z,opening,,,,,,,,,0.00,EUR
2026-04-01T00:00:00.000Z,closing,,,,,,,,,0.00,EUR
`;

export const statementRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/merchants/{id}/statement",
    operationId: "getStatement",
    admits: merchantSide,
    tag: "Money",
    summary: "Get a statement of a merchant's account",
    description:
      "The balance before and after a period, and every entry that was booked in it, oldest first. They add up exactly. With a `cursor`, send `to` of the first page again. Charges through Stripe are not on the account.",
    isList: true,
    params: MerchantIdParams,
    query: Type.Object({ ...period, limit: limitField, cursor: cursorField }),
    responses: { 200: { description: "The statement.", schema: StatementSchema } },
    problems: ["not-found", "limit-reached", "validation-failed"],
    handle: async ({ caller, params, query }, { context, bulk }) => {
      const { limit = PAGE_SIZE_DEFAULT, cursor } = query;
      const after = cursor === undefined ? null : toPosition(cursor);
      if (after !== null && isProblem(after)) return after;
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      return bulk.run("runningStatements", caller, merchant.id, async (context) => {
        const found = await findPeriod(context, merchant, query);
        if (isProblem(found)) return found;
        return { status: 200, body: await toWireStatement(context, found, after, limit) };
      });
    },
  }),
  route({
    method: "GET",
    path: "/api/merchants/{id}/statement/export",
    operationId: "exportStatement",
    admits: merchantSide,
    tag: "Money",
    summary: "Export a statement of a merchant's account",
    description:
      "All entries of the period, oldest first, between a row with the opening and one with the closing balance. A file without the last row is not complete.",
    isList: true,
    params: MerchantIdParams,
    query: Type.Object({ ...period, format: tableFormatField }),
    responses: { 200: { description: "The statement.", file: tableFiles(CSV_EXAMPLE) } },
    problems: ["not-found", "limit-reached", "validation-failed"],
    handle: async ({ caller, params, query }, { context, bulk }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      return bulk.export(caller, merchant.id, async (context) => {
        const found = await findPeriod(context, merchant, query);
        if (isProblem(found)) return found;
        const rows = statementRows(context, merchant, found.period);
        return writeTable(query.format ?? "csv", "statement", STATEMENT_COLUMNS, rows);
      });
    },
  }),
];

type MerchantPeriod = { readonly merchant: Merchant; readonly period: Period };

async function findPeriod(
  context: Context,
  merchant: Merchant,
  query: PeriodQuery,
): Promise<MerchantPeriod | Problem> {
  const now = context.clock.now();
  const from = query.from === undefined ? beginOfMonth(now) : parseTime(query.from);
  const to = query.to === undefined ? now : parseTime(query.to);
  const end = to < now ? to : now; // The period is closed then, at the latest.
  if (end < from) return validationFailed([{ parameter: "from", rule: "not_after", field: "to" }]);
  return { merchant, period: await closePeriod(context, merchant.id, { from, to }) };
}

const beginOfMonth = (now: Date): Date => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));

async function toWireStatement(
  context: Context,
  { merchant: { id, currency }, period }: MerchantPeriod,
  after: StatementPosition | null,
  limit: number,
): Promise<Static<typeof StatementSchema>> {
  const page = await readStatementPage(context.db, id, period, after ?? startOf(period), limit);
  const entries = withBalances(page.beforeMinor, page.entries.slice(0, limit));
  const last = page.entries.length > limit ? entries.at(-1) : undefined;
  const money = (minor: bigint) => formatMoney({ minor, currency });
  const { sums } = page;
  return {
    merchantId: toTypeId("mer", id),
    from: period.from.toISOString(),
    to: period.to.toISOString(),
    opening: money(sums.openingMinor),
    charges: money(sums.chargesMinor),
    refunds: money(sums.refundsMinor),
    payments: money(sums.paymentsMinor),
    closing: money(sums.closingMinor),
    entryCount: sums.entryCount,
    data: entries.map((entry) => ({
      ...toWireEntry(currency)(entry),
      balance: money(entry.balanceMinor),
    })),
    nextCursor: last === undefined ? null : toCursor(positionOf(last)),
  };
}

function toCursor({ bookedAt, id }: StatementPosition): string {
  const time = Buffer.alloc(8);
  time.writeBigInt64BE(BigInt(bookedAt.getTime()));
  return encodeCursor(LIST, Buffer.concat([time, bytesOf(id)]));
}

function toPosition(cursor: string): StatementPosition | Problem {
  const position = decodeCursor(LIST, cursor);
  if (position?.length !== 24) return badCursor;
  const bookedAt = new Date(Number(position.readBigInt64BE(0)));
  // A forged cursor can have a time that is no `Date`, or that the database does not know.
  return bookedAt.getTime() >= 0 ? { bookedAt, id: uuidOf(position.subarray(8)) } : badCursor;
}
