import { type Static, Type } from "typebox";
import { PARTNER, type TimelineEntry } from "../../../lifecycle/applied-transition.ts";
import { holdsOf } from "../../../lifecycle/holds.ts";
import type { Order, Shipment } from "../../../lifecycle/order.ts";
import { addressVersion } from "../../../orders/address/address-version.ts";
import type { OrderDetails } from "../../../orders/order-details-sql.ts";
import type { OrderOwner } from "../../../orders/order-owners-sql.ts";
import { OrderSchema, ShipmentSchema, toWireOrder, toWireShipment } from "../../../orders/order-wire.ts";
import { toTypeId, wireOrderId } from "../../../platform/ids.ts";
import { formatMoney, type Money } from "../../../platform/money.ts";
import { versionField } from "../../../platform/wire/content-version.ts";
import { MoneySchema } from "../../../platform/wire/money-schema.ts";
import { dateTime, describedAs, idField, nullable, nullableTime } from "../../../platform/wire/schemas.ts";
import { ActorSchema, toWireActor } from "../actor-schema.ts";
import { ChargeSchema, toWireCharge } from "../money/charge-wire.ts";
import { RefundSchema, toWireRefund } from "../money/refund-wire.ts";
import { OrderActionSchema } from "./action-wire.ts";
import { ReturnSchema, toWireReturn } from "./return-wire.ts";

const { lines: partnerLines, shipments: _, ...orderFields } = OrderSchema.properties;

const ownership = {
  merchantId: idField("mer", "Id of the merchant whose products are ordered."),
  merchantName: Type.String({ description: "Name of the merchant." }),
  connectionId: idField("con", "Id of the connection that placed the order."),
  connectionName: Type.String({ description: "Name of the connection." }),
};

const routing = {
  facilityId: nullable(
    Type.String(),
    "Id of the facility that ships the order. Null until it is routed, if there are no facilities, and for the role `partner`.",
  ),
  routedAt: nullableTime(
    "When the order became ready to ship. Null until it is routed, and for the role `partner`.",
  ),
};

export const BackOfficeShipmentSchema = Type.Object(
  {
    ...ShipmentSchema.properties,
    orderId: Type.String({ description: "Id of the order." }),
    weightGrams: nullable(
      Type.Integer(),
      "Weight of the parcel as the warehouse weighed it, in grams. Null if it did not.",
    ),
  },
  { title: "Shipment", description: "A shipment with lines of an order. The warehouse changes it." },
);
const shipmentsField = Type.Array(BackOfficeShipmentSchema, {
  description: "The shipments of the order, oldest first.",
});

/** An order in a list of the back office: as partners see it, with its owner. */
export const OrderSummarySchema = Type.Object(
  {
    ...orderFields,
    ...ownership,
    ...routing,
    lines: Type.Array(
      Type.Object(partnerLines.items.properties, {
        title: "OrderSummaryLine",
        description: "An ordered product and its quantity.",
      }),
      { description: "The ordered products, in the order of the request." },
    ),
    shipments: shipmentsField,
    goods: nullable(
      MoneySchema,
      "Value of the goods, without shipping. Null for the role `partner`: prices are the merchant's.",
    ),
  },
  { title: "OrderSummary", description: "An order in a list." },
);

const LineSchema = Type.Object(
  {
    ...partnerLines.items.properties,
    sku: Type.String({ description: "Present SKU of the product." }),
    name: Type.String({ description: "Present name of the product." }),
    unitPrice: nullable(MoneySchema, "Price of one unit when it was ordered. Null for the role `partner`."),
  },
  {
    title: "OrderLine",
    description: "An ordered product, its quantity and its price.",
  },
);

const HoldSchema = Type.Object(
  {
    reason: Type.String({ description: "What must change before the order can proceed." }),
    since: dateTime("When the hold was placed for this reason."),
    placedBy: describedAs(
      ActorSchema,
      "Who placed it. The operator can release it, and callers of the same kind.",
    ),
  },
  { title: "Hold", description: "A reason for which an order is on hold." },
);

const TimelineEntrySchema = Type.Object(
  {
    at: dateTime("When the order changed."),
    operation: Type.String({
      description:
        "What changed the order, such as `create`, `accept`, `hold` or `ship`. More values may be added.",
    }),
    actor: describedAs(ActorSchema, "Who changed the order."),
    status: Type.String({ description: "Status of the order after the change." }),
    onHoldReasons: Type.Array(Type.String(), { description: "Hold reasons after the change." }),
    shipmentId: nullable(
      Type.String(),
      "Id of the shipment that the change was about. Null for other changes.",
    ),
    detail: nullable(
      Type.String(),
      "Explanation by the actor, such as why a review was rejected. Null if there is none.",
    ),
    requestId: nullable(
      Type.String(),
      "The `x-request-id` of the request that changed the order. Null if the service itself did.",
    ),
  },
  { title: "TimelineEntry", description: "A change of an order. Entries are never changed." },
);

/** An order with all its details in the back office. */
export const BackOfficeOrderSchema = Type.Object(
  {
    ...OrderSummarySchema.properties,
    shippingAddressVersion: versionField("the shipping address"),
    lines: Type.Array(LineSchema, { description: "The ordered products, in the order of the request." }),
    charges: Type.Array(ChargeSchema, {
      description: "Charges and refunds, oldest first. Empty for the role `partner`.",
    }),
    returns: Type.Array(ReturnSchema, { description: "Goods that came back, oldest first." }),
    refunds: Type.Array(RefundSchema, {
      description:
        "Refunds by request, oldest first. The charges with their ids show how they are paid. Empty for the role `partner`.",
    }),
    holds: Type.Array(HoldSchema, {
      description: "The reasons for which the order is on hold; empty if it is not.",
    }),
    personalDataErasedAt: nullableTime(
      "When the address, the tracking and the texts of the timeline were erased. Null if they were not, or if the order was changed, or a note was written, since.",
    ),
    timeline: Type.Array(TimelineEntrySchema, {
      description:
        "The changes of the order, oldest first. The role `partner` sees neither payments nor routing, and no names and texts of staff.",
    }),
    actions: Type.Array(OrderActionSchema, {
      description:
        "What the caller's role may do with the order, possible now or not. Empty for a test order, and for callers that only read.",
    }),
  },
  { title: "Order", description: "An order with its charges, shipments, holds and timeline." },
);

/** The response of every operation that changes an order, and its problems. */
export const ORDER_AFTER = { description: "The order after the transition.", schema: BackOfficeOrderSchema };
export const OPERATION_PROBLEMS = ["not-found", "validation-failed", "transition-refused"] as const;

export const toBackOfficeShipment = (
  order: Order,
  shipment: Shipment,
): Static<typeof BackOfficeShipmentSchema> => ({
  ...toWireShipment(order, shipment),
  orderId: wireOrderId(order),
  weightGrams: shipment.weightGrams,
});

/** The order must be `asOf` now. */
export const toOrderSummary = (
  order: Order,
  owner: OrderOwner,
  goods: Money,
): Static<typeof OrderSummarySchema> => ({
  ...toWireOrder(order),
  merchantId: toTypeId("mer", owner.merchantId),
  merchantName: owner.merchantName,
  connectionId: toTypeId("con", owner.connectionId),
  connectionName: owner.connectionName,
  facilityId: order.facilityId === null ? null : toTypeId("fac", order.facilityId),
  routedAt: order.routedAt?.toISOString() ?? null,
  shipments: order.shipments.map((shipment) => toBackOfficeShipment(order, shipment)),
  goods: formatMoney(goods),
});

export function toBackOfficeOrder(
  order: Order,
  owner: OrderOwner,
  { prices, charges, refunds, returns, timeline, erasedAt, requestId }: OrderDetails,
): Omit<Static<typeof BackOfficeOrderSchema>, "actions"> {
  const { currency } = prices;
  const summary = toOrderSummary(order, owner, { minor: prices.goodsMinor, currency });
  return {
    ...summary,
    shippingAddressVersion: addressVersion(order.shippingAddress),
    lines: order.lines.map((line, index) => {
      const priced = prices.lines.get(line.id);
      const wire = summary.lines[index];
      if (priced === undefined || wire === undefined) throw new Error("Every line of an order has a price.");
      const unitPrice = formatMoney({ minor: priced.unitPriceMinor, currency });
      return { ...wire, sku: priced.sku, name: priced.name, unitPrice };
    }),
    charges: charges.map(toWireCharge),
    returns: returns.map(toWireReturn),
    refunds: refunds.map(toWireRefund(currency)),
    holds: holdsOf(order, timeline).map(({ reason, since, placedBy }) => ({
      reason,
      since: since.toISOString(),
      placedBy: toWireActor(placedBy),
    })),
    personalDataErasedAt: erasedAt?.toISOString() ?? null,
    timeline: [creation(order, timeline, requestId), ...timeline.map(toWireEntry)],
  };
}

const toWireEntry = (entry: TimelineEntry): Static<typeof TimelineEntrySchema> => ({
  at: entry.createdAt.toISOString(),
  operation: entry.operation,
  actor: toWireActor(entry.actor),
  status: entry.status,
  onHoldReasons: [...entry.holdReasons],
  shipmentId: entry.shipmentId === null ? null : toTypeId("shp", entry.shipmentId),
  detail: entry.detail,
  requestId: entry.requestId,
});

/** The entry of the creation, which is not stored. A real order without an acceptance window started in review. */
const creation = (
  order: Order,
  timeline: readonly TimelineEntry[],
  requestId: string | null,
): Static<typeof TimelineEntrySchema> => ({
  at: order.createdAt.toISOString(),
  operation: "create",
  actor: toWireActor(PARTNER),
  status: firstStatus(order, timeline),
  onHoldReasons: [],
  shipmentId: null,
  detail: null,
  requestId,
});

function firstStatus(order: Order, timeline: readonly TimelineEntry[]): string {
  if (order.testMode) return timeline.length === 0 ? order.status : "NEW";
  return order.acceptanceDueAt === null ? "PROCESSING" : "NEW";
}
