import type { LedgerEntry } from "../../ledger/ledger.ts";
import { totalsOf } from "../../ledger/totals.ts";
import { toTypeId } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import { CsvNumber, csvRow } from "../../platform/wire/csv.ts";
import { LABEL_COLUMNS } from "../address-schemas.ts";
import { toWireOrder } from "../order-wire.ts";
import type { ExportedOrder } from "./export-orders.ts";

/** A file format of an export: `head` begins the file, and `write` returns the complete lines of one order. */
export type ExportFormat = { readonly head: string; write(exported: ExportedOrder): string };

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

/** CSV for spreadsheets (RFC 4180): one row per order line. Decision 0049. */
export const csvFormat: ExportFormat = {
  head: csvRow(COLUMNS),
  write: (exported) => {
    const order = toExportObject(exported);
    return order.lines
      .map((line, index) => {
        const cells = { ...cellsOf(order, line), ...(index === 0 && totalCells(order)) };
        return csvRow(COLUMNS.map((column) => cells[column] ?? ""));
      })
      .join("");
  },
};

/** Newline-delimited JSON for programs: one object per order, in the form of the API. */
export const ndjsonFormat: ExportFormat = {
  head: "",
  write: (exported) => `${JSON.stringify(toExportObject(exported))}\n`,
};

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
