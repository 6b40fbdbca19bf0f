import { type Static, Type } from "typebox";
import type { LedgerEntry } from "../../../ledger/ledger.ts";
import type { TimelineEntry } from "../../../lifecycle/applied-transition.ts";
import type { Order, Shipment } from "../../../lifecycle/order.ts";
import type { OrderPlace, OrderPrices } from "../../../orders/lists/list-orders-sql.ts";
import { OrderSchema, ShipmentSchema, toWireOrder, toWireShipment } from "../../../orders/order-wire.ts";
import { toTypeId, wireOrderId } from "../../../platform/ids.ts";
import { formatMoney } from "../../../platform/money.ts";
import { MoneySchema } from "../../../platform/wire/money-schema.ts";
import { dateTime, describedAs, nullable } from "../../../platform/wire/schemas.ts";
import { ChargeSchema, toWireCharge } from "../money/charge-wire.ts";

const place = {
  merchantId: Type.String(),
  merchantName: Type.String(),
  connectionId: Type.String(),
  connectionName: Type.String(),
};

const { lines: partnerLines, shipments: _, ...orderFields } = OrderSchema.properties;
const routing = {
  facilityId: nullable(
    Type.String(),
    "The facility that ships the order; null also if it was routed without any facility.",
  ),
  routedAt: nullable(
    dateTime(),
    "Time since when the order can be shipped; null while it waits for a facility.",
  ),
};

export const BackOfficeShipmentSchema = Type.Object(
  {
    ...ShipmentSchema.properties,
    orderId: Type.String(),
    carrier: nullable(Type.String(), "The carrier's name, as sent by the warehouse."),
  },
  { title: "Shipment" },
);

/** An order in a list of the back office: as partners see it, and whose it is. */
export const OrderSummarySchema = Type.Object(
  {
    ...orderFields,
    ...place,
    ...routing,
    lines: Type.Array(Type.Object(partnerLines.items.properties, { title: "OrderSummaryLine" })),
    shipments: Type.Array(BackOfficeShipmentSchema),
  },
  { title: "OrderSummary" },
);

const LineSchema = Type.Object(
  {
    ...partnerLines.items.properties,
    sku: Type.String(),
    name: Type.String(),
    unitPrice: MoneySchema,
  },
  { title: "OrderLine" },
);

const HoldSchema = Type.Object(
  { reason: Type.String(), since: dateTime("Time at which the hold reason was set.") },
  { title: "Hold" },
);

const TimelineEntrySchema = Type.Object(
  {
    at: dateTime(),
    operation: Type.String({ description: "The operation, such as `accept`, `hold` or `ship`." }),
    actor: Type.Object(
      {
        kind: Type.String({
          description:
            "The actor: partner, operator, warehouse, merchant, or service for automatic operations.",
        }),
        name: nullable(Type.String()),
      },
      { title: "Actor" },
    ),
    status: Type.String({ description: "Status after the operation." }),
    onHoldReasons: Type.Array(Type.String(), { description: "Hold reasons after the operation." }),
    shipmentId: nullable(
      Type.String(),
      "The shipment that the operation created or changed; null without one.",
    ),
    detail: nullable(
      Type.String(),
      "The reason that the caller gave, such as why a review was rejected. Null if none was given.",
    ),
  },
  { title: "TimelineEntry" },
);

/** An order with all data that the back office shows. */
export const BackOfficeOrderSchema = Type.Object(
  {
    ...OrderSummarySchema.properties,
    lines: Type.Array(LineSchema),
    goods: describedAs(MoneySchema, "Maximum value of the goods."),
    charges: Type.Array(ChargeSchema, { description: "Charges and refunds, oldest first." }),
    holds: Type.Array(HoldSchema),
    timeline: Type.Array(TimelineEntrySchema, { description: "Oldest first." }),
  },
  { title: "Order" },
);

export const toBackOfficeShipment = (
  order: Order,
  shipment: Shipment,
): Static<typeof BackOfficeShipmentSchema> => ({
  ...toWireShipment(order, shipment),
  orderId: wireOrderId(order),
  carrier: shipment.carrier,
});

/** Give it an order `asOf` now, like the other. */
export const toOrderSummary = (order: Order, at: OrderPlace): Static<typeof OrderSummarySchema> => ({
  ...toWireOrder(order),
  merchantId: toTypeId("mer", at.merchantId),
  merchantName: at.merchantName,
  connectionId: toTypeId("con", at.connectionId),
  connectionName: at.connectionName,
  facilityId: order.facilityId === null ? null : toTypeId("fac", order.facilityId),
  routedAt: order.routedAt?.toISOString() ?? null,
  shipments: order.shipments.map((shipment) => toBackOfficeShipment(order, shipment)),
});

/** What is kept of an order beside the order itself. */
type OrderRecords = {
  readonly prices: OrderPrices;
  readonly charges: readonly LedgerEntry[];
  readonly timeline: readonly TimelineEntry[];
};

export function toBackOfficeOrder(
  order: Order,
  at: OrderPlace,
  { prices, charges, timeline }: OrderRecords,
): Static<typeof BackOfficeOrderSchema> {
  const { currency } = prices;
  const summary = toOrderSummary(order, at);
  return {
    ...summary,
    lines: order.lines.map((line, index) => {
      const priced = prices.lines.get(line.id);
      const wire = summary.lines[index];
      if (priced === undefined || wire === undefined) throw new Error("Every line of an order has a price.");
      const unitPrice = formatMoney({ minor: priced.unitPriceMinor, currency });
      return { ...wire, sku: priced.sku, name: priced.name, unitPrice };
    }),
    goods: formatMoney({ minor: prices.goodsMinor, currency }),
    charges: charges.map(toWireCharge),
    holds: order.holdReasons.map((reason) => ({
      reason,
      since: heldSince(reason, order, timeline).toISOString(),
    })),
    timeline: [creation(order, timeline), ...timeline.map(toWireEntry)],
  };
}

const toWireEntry = (entry: TimelineEntry): Static<typeof TimelineEntrySchema> => ({
  at: entry.createdAt.toISOString(),
  operation: entry.operation,
  actor: { ...entry.actor },
  status: entry.status,
  onHoldReasons: [...entry.holdReasons],
  shipmentId: entry.shipmentId === null ? null : toTypeId("shp", entry.shipmentId),
  detail: entry.detail,
});

/** Nothing is stored for it: a real order without a window began under review, and one that never changed is as it was. */
const creation = (order: Order, timeline: readonly TimelineEntry[]): Static<typeof TimelineEntrySchema> => ({
  at: order.createdAt.toISOString(),
  operation: "create",
  actor: { kind: "partner", name: null },
  status: firstStatus(order, timeline),
  onHoldReasons: [],
  shipmentId: null,
  detail: null,
});

function firstStatus(order: Order, timeline: readonly TimelineEntry[]): string {
  if (order.testMode) return timeline.length === 0 ? order.status : "NEW";
  return order.acceptanceDueAt === null ? "PROCESSING" : "NEW";
}

/** The first operation since which the reason has been present without interruption. */
function heldSince(reason: string, order: Order, timeline: readonly TimelineEntry[]): Date {
  let since = order.updatedAt;
  for (const entry of timeline.toReversed()) {
    if (!entry.holdReasons.includes(reason)) break;
    since = entry.createdAt;
  }
  return since;
}
