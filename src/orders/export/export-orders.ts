import type { LedgerEntry } from "../../ledger/ledger.ts";
import { readLedgers } from "../../ledger/ledger-sql.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderStatus } from "../../lifecycle/order.ts";
import { type Connection, keyOf } from "../../merchants/connection.ts";
import { findConnectionById, listConnections } from "../../merchants/connections-sql.ts";
import { listMerchants, readMerchant } from "../../merchants/merchants-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { uuidAt } from "../../platform/ids.ts";
import { after, before, CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";
import { type PagePosition, UUID_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import { readOrders } from "../orders-sql.ts";
import { type ExportLine, listExportedLines, listOrderIds } from "./export-sql.ts";

/** Which orders are exported. A null restricts nothing. */
export type ExportFilter = {
  readonly merchantId: string | null;
  readonly connectionId: string | null;
  /** Created at or after this time. */
  readonly since: Date | null;
  /** Created before this time. */
  readonly until: Date | null;
  readonly status: OrderStatus | null;
};

/** An order with its charges, and the SKU and price of each of its lines, in the order of `order.lines`. */
export type ExportedOrder = {
  readonly order: Order;
  readonly lines: readonly ExportLine[];
  /** Charges and refunds, oldest first. */
  readonly charges: readonly LedgerEntry[];
};

/** How many orders are in memory at a time. */
const PAGE_SIZE = 500;
const CONNECTIONS_PAGE_SIZE = 100;

/**
 * Exports real orders, connection by connection, and the oldest first in each. Each order is in the state in which it is
 * read. Orders that are created during the export may be missing. No order appears twice.
 */
export async function* exportOrders(context: Context, filter: ExportFilter): AsyncGenerator<ExportedOrder> {
  for await (const connection of connectionsOf(context, filter))
    yield* ordersOf(context, keyOf(connection), filter);
}

/** Whether the merchant and the connection exist, and the connection is the merchant's. */
export async function isExportable(
  { db }: Context,
  { merchantId, connectionId }: ExportFilter,
): Promise<boolean> {
  if (merchantId !== null && (await readMerchant(db, merchantId)) === null) return false;
  if (connectionId === null) return true;
  const connection = await findConnectionById(db, connectionId);
  return connection !== null && (merchantId === null || connection.merchantId === merchantId);
}

/** All rows of a list that is read page by page, in the order of their ids. */
async function* eachOf<Row extends { id: string }>(
  readPage: (position: PagePosition) => Promise<Row[]>,
): AsyncGenerator<Row> {
  for (let afterId = UUID_MIN; ; ) {
    const rows = await readPage({ list: "export", afterId, limit: CONNECTIONS_PAGE_SIZE });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield* rows;
    afterId = last.id;
  }
}

async function* connectionsOf(
  { db }: Context,
  { merchantId, connectionId }: ExportFilter,
): AsyncGenerator<Connection> {
  if (connectionId !== null) {
    const connection = await findConnectionById(db, connectionId);
    if (connection !== null) yield connection;
    return;
  }
  for await (const merchant of eachOf((position) =>
    listMerchants(db, { ids: merchantId === null ? null : [merchantId], text: null }, position),
  ))
    yield* eachOf((position) => listConnections(db, merchant.id, null, position));
}

/**
 * Pages are read by id alone, and filtered afterwards. A filter that matches few orders could make the search for the
 * next page slow.
 */
async function* ordersOf(
  { db, clock }: Context,
  connection: ConnectionKey,
  filter: ExportFilter,
): AsyncGenerator<ExportedOrder> {
  const { since, until } = filter;
  let afterId = since === null ? UUID_MIN : uuidAt(before(since, CLOCK_SKEW_MAX_MS));
  const beforeId = until === null ? UUID_MAX : uuidAt(after(until, CLOCK_SKEW_MAX_MS));
  for (;;) {
    const ids = await listOrderIds(db, connection, afterId, beforeId, PAGE_SIZE);
    const last = ids.at(-1);
    if (last === undefined) return;
    const orders = await readOrders(db, connection, ids);
    // Afterwards: a line may be split in between.
    const [lines, chargesOf] = await Promise.all([
      listExportedLines(db, connection, ids),
      readLedgers(db, connection, ids),
    ]);
    const linesByOrder = Map.groupBy(lines, ({ orderId }) => orderId);
    const seen = orders.map((order) => asOf(order, clock.now())).filter((order) => fits(order, filter));
    for (const order of seen.sort((a, b) => (a.id < b.id ? -1 : 1)))
      yield { order, lines: linesByOrder.get(order.id) ?? [], charges: chargesOf(order.id) };
    afterId = last;
  }
}

const fits = (order: Order, { since, until, status }: ExportFilter): boolean =>
  !order.testMode &&
  (since === null || order.createdAt >= since) &&
  (until === null || order.createdAt < until) &&
  (status === null || order.status === status);
