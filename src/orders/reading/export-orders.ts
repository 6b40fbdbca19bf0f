import type { OrderScope } from "../../audit/grant.ts";
import { type LedgerEntry, totalsOf } from "../../ledger/ledger.ts";
import { readLedgers } from "../../ledger/ledger-sql.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderStatus } from "../../lifecycle/order.ts";
import { type Connection, keyOf } from "../../merchants/connection.ts";
import { findConnectionById, listConnections } from "../../merchants/connections-sql.ts";
import { listMerchants } from "../../merchants/merchants-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { toTypeId, uuidAt } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import { CsvNumber } from "../../platform/tables/csv.ts";
import type { TableColumns } from "../../platform/tables/write-table.ts";
import { after, before, CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";
import { type PagePosition, UUID_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import { LABEL_COLUMNS, toWireOrder } from "../order-wire.ts";
import { readOrders } from "../orders-sql.ts";

/** Which orders are exported. A null restricts nothing. */
export type ExportFilter = {
  /** What the caller sees. */
  readonly scope: OrderScope;
  readonly merchantId: string | null;
  readonly connectionId: string | null;
  /** Routed to this facility. */
  readonly facilityId: string | null;
  /** Created at or after this time. */
  readonly since: Date | null;
  /** Created before this time. */
  readonly until: Date | null;
  readonly status: OrderStatus | null;
};

/** An order with its charges, and the SKU and price of each of its lines, in the order of `order.lines`. */
type ExportedOrder = {
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
  { scope, merchantId, connectionId }: ExportFilter,
): AsyncGenerator<Connection> {
  if (connectionId !== null) {
    const connection = await findConnectionById(db, connectionId);
    if (connection !== null) yield connection;
    return;
  }
  // A facility ships orders of all merchants.
  const seen = scope === null || scope.facilityIds.length > 0 ? null : scope.merchantIds;
  const ids = merchantId === null ? seen : [merchantId];
  for await (const merchant of eachOf((position) => listMerchants(db, { ids, text: null }, position)))
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
    const placed = await listPlacedOrders(db, connection, afterId, beforeId, PAGE_SIZE);
    const last = placed.at(-1);
    if (last === undefined) return;
    afterId = last.id;
    const ids = placed.filter((order) => isInScope(order, filter)).map(({ id }) => id);
    if (ids.length === 0) continue;
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
  }
}

/** An order is read only if it belongs into the file: most orders of a merchant may be another facility's. */
const isInScope = (
  { merchantId, facilityId }: Pick<Order, "merchantId" | "facilityId">,
  { scope, facilityId: requested }: ExportFilter,
): boolean =>
  (requested === null || facilityId === requested) &&
  (scope === null ||
    scope.merchantIds.includes(merchantId) ||
    (facilityId !== null && scope.facilityIds.includes(facilityId)));

const fits = (order: Order, filter: ExportFilter): boolean => {
  const { since, until, status } = filter;
  return (
    !order.testMode &&
    isInScope(order, filter) && // Routing may have moved it since its id was read.
    (since === null || order.createdAt >= since) &&
    (until === null || order.createdAt < until) &&
    (status === null || order.status === status)
  );
};

const COLUMNS = [
  "orderId",
  "externalOrderId",
  "merchantId",
  "connectionId",
  "status",
  "onHoldReasons",
  "createdAt",
  "firstName",
  "lastName",
  ...LABEL_COLUMNS,
  "lineId",
  "productId",
  "sku",
  "quantity",
  "canceledQuantity",
  "unitPrice",
  "currency",
  "shipmentId",
  "shipmentStatus",
  "carrier",
  "trackingNumber",
  "trackingUrl",
  "shippedAt",
  "deliveredAt",
  "note",
  "metadata",
  // Of the order, on its first row only, so that a column can be added up.
  "goodsCharged",
  "shippingCharged",
  "refunded",
  "total",
] as const;
type Cells = Readonly<Record<(typeof COLUMNS)[number], unknown>>;

export const EXPORTED_LINES: TableColumns = {
  columns: COLUMNS,
  numbers: [
    "quantity",
    "canceledQuantity",
    "unitPrice",
    "goodsCharged",
    "shippingCharged",
    "refunded",
    "total",
  ],
};

/** A table for spreadsheets: one row for each order line. See docs/design/api-conventions.md, "Command line". */
export function toLineRows(exported: ExportedOrder): unknown[][] {
  const order = toExportObject(exported);
  return order.lines.map((line, index) => {
    const cells = { ...cellsOf(order, line), ...(index === 0 && totalCells(order)) };
    return COLUMNS.map((column) => cells[column] ?? "");
  });
}

/** Newline-delimited JSON for programs: one object per order, in the form of the API. */
export const toJsonLine = (exported: ExportedOrder): string =>
  `${JSON.stringify(toExportObject(exported))}\n`;

type ExportObject = ReturnType<typeof toExportObject>;

/** The order as partners read it, with its owner, its charges, and the SKU and price of each line. */
function toExportObject({ order, lines, charges }: ExportedOrder) {
  const details = new Map(lines.map((line) => [toTypeId("line", line.id), line]));
  const wire = toWireOrder(order);
  const [{ currency } = NO_LINE] = lines;
  const money = (minor: bigint) => formatMoney({ minor, currency });
  const totals = totalsOf(charges);
  return {
    ...wire,
    merchantId: toTypeId("mer", order.merchantId),
    connectionId: toTypeId("con", order.connectionId),
    lines: wire.lines.map((line) => {
      const found = details.get(line.id);
      if (found === undefined) throw new Error("An order line to be exported has no price.");
      const unitPrice = formatMoney({ minor: found.unitPriceMinor, currency: found.currency });
      return { ...line, sku: found.sku, unitPrice };
    }),
    charges: charges.map(toExportCharge),
    goodsCharged: money(totals.goodsMinor),
    shippingCharged: money(totals.shippingMinor),
    refunded: money(totals.refundedMinor),
    total: money(totals.totalMinor),
  };
}

/** Every order has a line. */
const NO_LINE = { currency: "EUR" };

const toExportCharge = ({ id, kind, amountMinor, currency, status, refundOf, createdAt }: LedgerEntry) => ({
  id: toTypeId("chg", id),
  kind,
  amount: formatMoney({ minor: amountMinor, currency }),
  status,
  refundOf: refundOf === null ? null : toTypeId("chg", refundOf),
  createdAt: createdAt.toISOString(),
});

const totalCells = ({ goodsCharged, shippingCharged, refunded, total }: ExportObject) => ({
  goodsCharged: new CsvNumber(goodsCharged.amount),
  shippingCharged: new CsvNumber(shippingCharged.amount),
  refunded: new CsvNumber(refunded.amount),
  total: new CsvNumber(total.amount),
});

function cellsOf(
  { goodsCharged, shippingCharged, refunded, total, ...order }: ExportObject,
  line: ExportObject["lines"][number],
): Partial<Cells> {
  const shipment = order.shipments.find(({ id }) => id === line.shipmentId);
  return {
    ...order,
    ...order.shippingAddress,
    orderId: order.id,
    onHoldReasons: order.onHoldReasons.join(" "),
    lineId: line.id,
    productId: line.productId,
    sku: line.sku,
    quantity: line.quantity,
    canceledQuantity: line.canceledQuantity,
    unitPrice: line.unitPrice.amount,
    currency: line.unitPrice.currency,
    shipmentId: line.shipmentId,
    shipmentStatus: shipment?.status,
    carrier: shipment?.carrier,
    trackingNumber: shipment?.trackingNumber,
    trackingUrl: shipment?.trackingUrl,
    shippedAt: shipment?.shippedAt,
    deliveredAt: shipment?.deliveredAt,
    metadata: Object.keys(order.metadata).length === 0 ? "" : JSON.stringify(order.metadata),
  };
}

/** The SKU and price of an order line, which `OrderLine` does not contain. */
type ExportLine = {
  readonly orderId: string;
  readonly id: string;
  readonly sku: string;
  readonly unitPriceMinor: bigint;
  readonly currency: string;
};

/** A connection's orders between two ids, oldest first, test orders included. */
async function listPlacedOrders(
  db: Queryable,
  connection: ConnectionKey,
  afterId: string,
  beforeId: string,
  limit: number,
): Promise<Pick<Order, "merchantId" | "id" | "facilityId">[]> {
  return db.query<Pick<Order, "merchantId" | "id" | "facilityId">>({
    name: "list-placed-orders",
    text: `
      select merchant_id as "merchantId", id, facility_id as "facilityId"
      from orders
      where merchant_id = $1 and connection_id = $2 and id > $3 and id < $4
      order by id
      limit $5`,
    values: [connection.merchantId, connection.connectionId, afterId, beforeId, limit],
  });
}

/** Lines of these orders, in the order of the requests. The SKU is the product's present one. */
async function listExportedLines(
  db: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
): Promise<ExportLine[]> {
  return db.query<ExportLine>({
    name: "list-exported-lines",
    text: `
      select l.order_id as "orderId", l.id, p.sku, l.unit_price_minor as "unitPriceMinor", o.currency
      from order_lines l
      join orders o on o.merchant_id = $1 and o.id = l.order_id
      join products p on p.merchant_id = $1 and p.id = l.product_id
      where l.merchant_id = $1 and l.connection_id = $2 and l.order_id = any($3::uuid[])
      order by l.order_id, l.id`,
    values: [connection.merchantId, connection.connectionId, orderIds],
  });
}
