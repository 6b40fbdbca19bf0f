import { toTypeId } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import { toWireOrder } from "../order-wire.ts";
import type { ExportedOrder } from "./export-orders.ts";

/** How an order is written: as text that ends its last line. */
export type ExportFormat = { readonly head: string; write(exported: ExportedOrder): string };

const COLUMNS = [
  ...["orderId", "externalOrderId", "merchantId", "connectionId", "status", "onHoldReasons", "createdAt"],
  ...["firstName", "lastName", "name", "company", "address1", "address2", "city", "zip", "stateCode"],
  ...["countryCode", "phone", "lineId", "productId", "sku", "quantity", "unitPrice", "currency"],
  ...["shipmentId", "shipmentStatus", "trackingNumber", "trackingUrl"],
] as const;

/** For spreadsheets: a row per order line (RFC 4180). Cells that would be formulas get an apostrophe (decision 0049). */
export const csvFormat: ExportFormat = {
  head: csvRow(COLUMNS),
  write: (exported) => {
    const order = orderObject(exported);
    const { shippingAddress, lines, shipments, id, ...fields } = order;
    return lines
      .map((line) => {
        const shipment = shipments.find((candidate) => candidate.id === line.shipmentId);
        const cells: Record<string, unknown> = {
          ...{ ...fields, ...shippingAddress, orderId: id, onHoldReasons: order.onHoldReasons.join(" ") },
          ...{ lineId: line.id, productId: line.productId, sku: line.sku, quantity: line.quantity },
          ...{ unitPrice: line.unitPrice.amount, currency: line.unitPrice.currency },
          ...{ shipmentId: line.shipmentId, shipmentStatus: shipment?.status },
          ...{ trackingNumber: shipment?.trackingNumber, trackingUrl: shipment?.trackingUrl },
        };
        return csvRow(COLUMNS.map((column) => cells[column] ?? ""));
      })
      .join("");
  },
};

/** For programs: an object per order and line of text, as the API shows it; texts exactly as they are. */
export const ndjsonFormat: ExportFormat = {
  head: "",
  write: (exported) => `${JSON.stringify(orderObject(exported))}\n`,
};

/** The order as partners see it, with whose it is and what its lines cost. */
function orderObject({ merchantId, order, lines }: ExportedOrder) {
  const priced = new Map(lines.map((line) => [toTypeId("line", line.id), line]));
  const wire = toWireOrder(order);
  return {
    ...wire,
    merchantId: toTypeId("mer", merchantId),
    connectionId: toTypeId("con", order.connectionId),
    lines: wire.lines.map((line) => {
      const found = priced.get(line.id);
      if (found === undefined) throw new Error("An order's line was exported without its price.");
      const unitPrice = formatMoney({ minor: found.unitPriceMinor, currency: found.currency });
      return { ...line, sku: found.sku, unitPrice };
    }),
  };
}

function csvRow(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(value: unknown): string {
  const text = withoutFormula(String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Spreadsheets run what begins like this, and partners write the texts. */
function withoutFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
