import { toTypeId } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import { toWireOrder } from "../order-wire.ts";
import type { ExportedOrder } from "./export-orders.ts";

/** A file format of an export: `head` begins the file, and `write` returns the complete lines of one order. */
export type ExportFormat = { readonly head: string; write(exported: ExportedOrder): string };

const COLUMNS = [
  ...["orderId", "externalOrderId", "merchantId", "connectionId", "status", "onHoldReasons", "createdAt"],
  ...["firstName", "lastName", "name", "company", "address1", "address2", "city", "zip", "stateCode"],
  ...["countryCode", "phone", "lineId", "productId", "sku", "quantity", "unitPrice", "currency"],
  ...["shipmentId", "shipmentStatus", "trackingNumber", "trackingUrl"],
  ...["note", "metadata"],
] as const;
type Cells = Readonly<Record<(typeof COLUMNS)[number], unknown>>;

/**
 * Partners write these texts, and spreadsheets run a cell that begins with one of these signs, or its wide or small
 * form, as a formula. Some read the file with semicolons or tabs between cells, and quotes then protect nothing: a cell
 * also begins behind each of those, and behind a line break. Spaces, invisible characters and quotes before a sign are
 * skipped.
 */
const FORMULA = /(^|[;\t\r\n])(?=[\s\p{Cf}"]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/gu;

/** CSV for spreadsheets (RFC 4180): one row per order line. Decision 0049. */
export const csvFormat: ExportFormat = {
  head: csvRow(COLUMNS),
  write: (exported) => {
    const order = toExportObject(exported);
    return order.lines
      .map((line) => {
        const cells = cellsOf(order, line);
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

/** The order as partners read it, with its owner and with the SKU and price of each line. */
function toExportObject({ order, lines }: ExportedOrder) {
  const details = new Map(lines.map((line) => [toTypeId("line", line.id), line]));
  const wire = toWireOrder(order);
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
  };
}

function cellsOf(order: ExportObject, line: ExportObject["lines"][number]): Cells {
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
    trackingNumber: shipment?.trackingNumber,
    trackingUrl: shipment?.trackingUrl,
    metadata: Object.keys(order.metadata).length === 0 ? "" : JSON.stringify(order.metadata),
  };
}

function csvRow(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(value: unknown): string {
  const text = withoutFormula(String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** An apostrophe in front of a formula makes it text (decision 0049). */
function withoutFormula(text: string): string {
  return text.replace(/^(?=[\t\r])/, "'").replace(FORMULA, "$1'");
}
