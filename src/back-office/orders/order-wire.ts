import { type Static, Type } from "typebox";
import type { ExplainedHolds, NeededProduct } from "../../fulfilment/routing/explain-holds.ts";
import { type LedgerEntry, ofGoods, ofShipping, refundableMinor, totalsOf } from "../../ledger/ledger.ts";
import type { FailedPayment } from "../../ledger/payment-failures-sql.ts";
import type { GoodsRefund, Refund } from "../../ledger/refunds.ts";
import { PARTNER, type TimelineEntry } from "../../lifecycle/applied-transition.ts";
import {
  ADDRESS_UNSERVICEABLE,
  type Order,
  type OrderLine,
  OUT_OF_STOCK,
  PAYMENT_FAILED,
  type Shipment,
} from "../../lifecycle/order.ts";
import { refundableUnits } from "../../lifecycle/parts.ts";
import { type Hold, holdsOf } from "../../lifecycle/possible-transitions.ts";
import { addressVersion } from "../../orders/address.ts";
import type { LineCancellation } from "../../orders/cancellations/cancellations-sql.ts";
import type { OrderDetails } from "../../orders/order-details-sql.ts";
import {
  CancelReasonSchema,
  OrderSchema,
  ShipmentSchema,
  toWireOrder,
  toWireShipment,
} from "../../orders/order-wire.ts";
import type { OrderOwner } from "../../orders/owners-sql.ts";
import { ReturnConditionSchema, ReturnReasonSchema } from "../../orders/returns/return-request.ts";
import type { OrderReturn } from "../../orders/returns/returns-sql.ts";
import { toTypeId, wireOrderId } from "../../platform/ids.ts";
import { formatMoney, type Money } from "../../platform/money.ts";
import { versionField } from "../../platform/wire/content-version.ts";
import {
  dateTime,
  describedAs,
  idField,
  MoneyRequestSchema,
  MoneySchema,
  nullable,
  nullableTime,
} from "../../platform/wire/schemas.ts";
import type { ProductName } from "../../products/products-sql.ts";
import { SHOWN_FACILITIES_MAX } from "../../stock/stock-sql.ts";
import { ActorSchema, toWireActor } from "../actor-schema.ts";
import { minorOf } from "../money/amounts.ts";
import { ChargeSchema, toWireCharge } from "../money/charge-wire.ts";
import { FailedPaymentSchema, toWireFailedPayment } from "../money/failures.ts";
import { RefundRequestSchema, RefundSchema, toWireRefund } from "../money/refund-wire.ts";
import { OrderActionSchema } from "./actions.ts";

/** The refund of a return. Its reason is `returned` unless it names another one. */
export const ReturnRefundSchema = Type.Object(
  {
    amount: Type.Optional(
      describedAs(
        MoneyRequestSchema,
        "The amount to refund, in the currency of the order. Absent: the price of the returned goods, without shipping, as far as it has not been refunded yet. If nothing of it is left, the return is recorded without a refund.",
      ),
    ),
    reason: Type.Optional(RefundRequestSchema.properties.reason),
    reference: RefundRequestSchema.properties.reference,
  },
  { title: "ReturnRefund", description: "A refund of returned goods to the merchant." },
);

/** A request whose amount `refundErrors` has checked. The note of the return is the note of its refund. */
export const toReturnRefund = (
  { amount, reason = "returned", reference }: Static<typeof ReturnRefundSchema>,
  note: string | null,
): GoodsRefund => ({
  amountMinor: amount === undefined ? null : minorOf(amount),
  reason,
  reference,
  note,
});

export const ReturnSchema = Type.Object(
  {
    id: idField("ret", "Id of the return, set by the service."),
    lines: Type.Array(
      Type.Object(
        {
          lineId: idField("line", "Id of the line."),
          quantity: Type.Integer({ description: "Number of units that came back." }),
        },
        { title: "ReturnedLine", description: "The units of a line that came back." },
      ),
      { description: "The units that came back. They are never changed." },
    ),
    reason: nullable(ReturnReasonSchema, "Why they came back. Null if the warehouse did not say."),
    condition: nullable(
      ReturnConditionSchema,
      "In which condition they came back. Null if the warehouse did not say.",
    ),
    note: nullable(
      Type.String(),
      "Explanation by the caller. Null if there is none. It is erased with the personal data of the order.",
    ),
    reference: nullable(
      Type.String(),
      "The caller's own name for the return, which no other return of the order has: if it was not given, that of its refund. Null if the caller gave neither.",
    ),
    restocked: Type.Boolean({ description: "Whether the goods were added to the stock." }),
    refundId: nullable(
      Type.String(),
      "Id of the refund that the same request made. Null if it refunded nothing.",
    ),
    actor: describedAs(ActorSchema, "Who recorded the return."),
    createdAt: dateTime("When the return was recorded."),
  },
  { title: "Return", description: "Goods of an order that came back." },
);

export const toWireReturn = (returned: OrderReturn): Static<typeof ReturnSchema> => ({
  id: toTypeId("ret", returned.id),
  lines: returned.lines.map(({ lineId, quantity }) => ({ lineId: toTypeId("line", lineId), quantity })),
  reason: returned.reason,
  condition: returned.condition,
  note: returned.note,
  reference: returned.reference,
  restocked: returned.restocked,
  refundId: returned.refundId === null ? null : toTypeId("rfd", returned.refundId),
  actor: toWireActor(returned.actor),
  createdAt: returned.createdAt.toISOString(),
});

const CancellationSchema = Type.Object(
  {
    id: idField("can", "Id of the cancellation, set by the service."),
    lineIds: Type.Array(Type.String(), { description: "Ids of the lines that it canceled, each whole." }),
    reason: CancelReasonSchema,
    note: nullable(
      Type.String(),
      "Explanation by the caller. Null if there is none. It is erased with the personal data of the order.",
    ),
    reference: nullable(
      Type.String(),
      "The caller's own name for the cancellation. Null for the role `partner`.",
    ),
    refundId: nullable(
      Type.String(),
      "Id of the refund of the canceled goods. Null if nothing of them was left to refund.",
    ),
    actor: describedAs(ActorSchema, "Who canceled the lines."),
    createdAt: dateTime("When they were canceled."),
  },
  { title: "LineCancellation", description: "Lines of an order that were canceled by one request." },
);

const toWireCancellation = (
  { id, reason, note, reference, refundId, actor, createdAt }: LineCancellation,
  lines: readonly OrderLine[],
): Static<typeof CancellationSchema> => ({
  id: toTypeId("can", id),
  lineIds: lines
    .filter(({ cancellationId }) => cancellationId === id)
    .map((line) => toTypeId("line", line.id)),
  reason,
  note,
  reference,
  refundId: refundId === null ? null : toTypeId("rfd", refundId),
  actor: toWireActor(actor),
  createdAt: createdAt.toISOString(),
});

const { lines: partnerLines, shipments: _, ...partnerFields } = OrderSchema.properties;
const orderFields = {
  ...partnerFields,
  updatedAt: dateTime(
    "When anything that `GET /api/orders/{id}` returns last changed: charges, refunds, returns and notes too. For the role `partner`: when the order itself last changed.",
  ),
};

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
    scannedTrackingNumber: nullable(
      Type.String(),
      "What was scanned, if the tracking number was taken out of it. Null otherwise. Both find the order.",
    ),
    weightGrams: nullable(
      Type.Integer(),
      "Weight of the parcel as the warehouse weighed it, in grams. Null if it did not.",
    ),
    handoverReported: Type.Boolean({
      description:
        "Whether a request has said that the carrier has the shipment. While it is false, and the order is in progress, the shipment can be voided unless some of it came back. Tracking alone makes it `shipped`, and reports nothing.",
    }),
  },
  { title: "Shipment", description: "A shipment with lines of an order. The warehouse changes it." },
);
const shipmentsField = Type.Array(BackOfficeShipmentSchema, {
  description: "The shipments of the order, oldest first.",
});

const productNames = {
  sku: Type.String({ description: "Present SKU of the product." }),
  name: Type.String({ description: "Present name of the product." }),
};

/** An order in a list of the back office: as partners see it, with its owner. */
export const OrderSummarySchema = Type.Object(
  {
    ...orderFields,
    ...ownership,
    ...routing,
    lines: Type.Array(
      Type.Object(
        { ...partnerLines.items.properties, ...productNames },
        { title: "OrderSummaryLine", description: "An ordered product and its quantity." },
      ),
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
    ...productNames,
    refundableQuantity: nullable(
      Type.Integer(),
      "Units whose price has not been refunded. What of it can be refunded is at most `totals.refundableGoods`. Null for the role `partner`.",
    ),
    unitPrice: nullable(MoneySchema, "Price of one unit when it was ordered. Null for the role `partner`."),
  },
  {
    title: "OrderLine",
    description: "An ordered product, its quantity and its price.",
  },
);

const NeededFacilitySchema = Type.Object(
  {
    facilityId: idField("fac", "Id of the facility."),
    facilityName: Type.String({ description: "Name of the facility." }),
    onHand: Type.Integer({ description: "Units on hand." }),
    reserved: Type.Integer({ description: "Units of `onHand` that are reserved for orders." }),
    reservedForOrder: Type.Integer({ description: "Units of `reserved` that are reserved for this order." }),
    available: Type.Integer({
      description: "Units that this order can have: `onHand` minus what is reserved for others.",
    }),
    serves: Type.Boolean({
      description: "Whether the facility has a rate for the order's country, currency and weight.",
    }),
  },
  { title: "NeededFacility", description: "What an open facility has of a product that an order needs." },
);

const NeededProductSchema = Type.Object(
  {
    productId: Type.String({ format: "uuid", description: "Id of the product." }),
    ...productNames,
    lineIds: Type.Array(Type.String(), { description: "Ids of the lines that need it." }),
    needed: Type.Integer({ description: "Units of the order that have not shipped." }),
    available: Type.Integer({
      description: "The most units that one facility which serves the order has for it.",
    }),
    facilities: Type.Array(NeededFacilitySchema, {
      description: `What facilities have, the most available units first, at most ${SHOWN_FACILITIES_MAX}; for staff of named facilities these alone.`,
    }),
  },
  { title: "NeededProduct", description: "A product with stock that an order on hold needs." },
);

const DestinationSchema = Type.Object(
  {
    countryCode: Type.String({ description: "Country of the shipping address." }),
    currency: Type.String({ description: "Currency in which shipping is charged." }),
    weightGrams: Type.Integer({ description: "Weight of the ordered products, in grams." }),
    maxWeightGrams: nullable(
      Type.Integer(),
      "The heaviest order that a facility ships to the country in the currency, in grams. Null: no facility ships there.",
    ),
  },
  { title: "HeldDestination", description: "What no rate of a facility covers." },
);

const HoldSchema = Type.Object(
  {
    reason: Type.String({ description: "What must change before the order can proceed." }),
    since: dateTime("When the hold was placed for this reason."),
    placedBy: describedAs(
      ActorSchema,
      "Who placed it. The operator can release it, and callers of the same kind.",
    ),
    products: nullable(
      Type.Array(NeededProductSchema),
      "Of `out_of_stock`: the stocked products that have not shipped, as they are now. Null for other reasons, test orders, the role `partner`, and tokens without the scope `stock:read`.",
    ),
    payment: nullable(
      FailedPaymentSchema,
      "Of `payment_failed`: the declined payment. Null for other reasons, and for the role `partner`.",
    ),
    destination: nullable(
      DestinationSchema,
      "Of `address_unserviceable`: what the rates of the facilities must cover. Null for other reasons, and for test orders.",
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
    refundId: nullable(Type.String(), "Id of the refund that was requested. Null for other changes."),
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

const TotalsSchema = Type.Object(
  {
    charged: describedAs(MoneySchema, "What was charged: goods and shipping."),
    refunded: describedAs(MoneySchema, "What was returned."),
    net: describedAs(MoneySchema, "`charged` minus `refunded`."),
    refundable: describedAs(
      MoneySchema,
      "What can still be refunded. A refund counts from its request on, also while it is pending or declined.",
    ),
    refundableGoods: describedAs(MoneySchema, "The part of `refundable` that was charged for goods."),
    refundableShipping: describedAs(MoneySchema, "The part of `refundable` that was charged for shipping."),
  },
  { title: "OrderTotals", description: "The sums of an order. Pending and declined charges do not count." },
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
    totals: nullable(TotalsSchema, "The sums of the charges. Null for the role `partner`."),
    cancellations: Type.Array(CancellationSchema, {
      description: "Units that were canceled because they cannot be delivered, oldest first.",
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

export const ReasonBody = Type.Object(
  {
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        format: "text",
        description: "Explanation for the order's timeline.",
      }),
    ),
  },
  { title: "ReasonRequest", description: "Why an order is changed." },
);

/** The response of every operation that changes an order, and its problems. */
export const ORDER_AFTER = { description: "The order after the transition.", schema: BackOfficeOrderSchema };
export const OPERATION_PROBLEMS = ["not-found", "validation-failed", "transition-refused"] as const;
/** Of an operation that can refund the merchant, or waive what it owes. */
export const MONEY_PROBLEMS = [...OPERATION_PROBLEMS, "recent-authentication-required"] as const;

export const toBackOfficeShipment = (
  order: Order,
  shipment: Shipment,
): Static<typeof BackOfficeShipmentSchema> => ({
  ...toWireShipment(order, shipment),
  orderId: wireOrderId(order),
  weightGrams: shipment.weightGrams,
  scannedTrackingNumber: shipment.scannedTrackingNumber,
  handoverReported: shipment.handoverReported,
});

/**
 * The order must be `asOf` now.
 *
 * @param changedAt when anything that the caller sees of it last changed, except that the deadline has accepted it
 * @param names of the products of its lines, by their ids
 */
export function toOrderSummary(
  order: Order,
  owner: OrderOwner,
  goods: Money,
  names: ReadonlyMap<string, ProductName>,
  changedAt: Date,
): Static<typeof OrderSummarySchema> {
  const wire = toWireOrder(order);
  return {
    ...wire,
    updatedAt: (changedAt > order.updatedAt ? changedAt : order.updatedAt).toISOString(),
    merchantId: toTypeId("mer", owner.merchantId),
    merchantName: owner.merchantName,
    connectionId: toTypeId("con", owner.connectionId),
    connectionName: owner.connectionName,
    facilityId: order.facilityId === null ? null : toTypeId("fac", order.facilityId),
    routedAt: order.routedAt?.toISOString() ?? null,
    lines: wire.lines.map((line) => {
      const named = names.get(line.productId);
      if (named === undefined) throw new Error("The product of an order is never deleted.");
      return { ...line, sku: named.sku, name: named.name };
    }),
    shipments: order.shipments.map((shipment) => toBackOfficeShipment(order, shipment)),
    goods: formatMoney(goods),
  };
}

export function toBackOfficeOrder(
  order: Order,
  owner: OrderOwner,
  {
    prices,
    charges,
    refunds,
    cancellations,
    returns,
    timeline,
    erasedAt,
    changedAt,
    requestId,
  }: OrderDetails,
  explained: HoldDetails,
): Omit<Static<typeof BackOfficeOrderSchema>, "actions"> {
  const { currency } = prices;
  const names = new Map(
    order.lines.flatMap(({ id, productId }) => {
      const priced = prices.lines.get(id);
      return priced === undefined ? [] : [[productId, priced] as const];
    }),
  );
  const refundable = refundableUnits(order.lines, refunds);
  const summary = toOrderSummary(order, owner, { minor: prices.goodsMinor, currency }, names, changedAt);
  return {
    ...summary,
    shippingAddressVersion: addressVersion(order.shippingAddress),
    lines: order.lines.map((line, index) => {
      const priced = prices.lines.get(line.id);
      const wire = summary.lines[index];
      if (priced === undefined || wire === undefined) throw new Error("Every line of an order has a price.");
      const unitPrice = formatMoney({ minor: priced.unitPriceMinor, currency });
      return { ...wire, unitPrice, refundableQuantity: refundable.get(line.id) ?? 0 };
    }),
    totals: toWireTotals(charges, currency),
    charges: charges.map(toWireCharge),
    cancellations: cancellations.map((each) => toWireCancellation(each, order.lines)),
    returns: returns.map(toWireReturn),
    refunds: refunds.map(toWireRefund(currency)),
    holds: holdsOf(order, timeline).map((hold) => toWireHold(hold, names, explained)),
    personalDataErasedAt: erasedAt?.toISOString() ?? null,
    timeline: [creation(order, timeline, requestId), ...timeline.map((entry) => toWireEntry(entry, refunds))],
  };
}

/** What holds an order, as far as the caller may see it. */
export type HoldDetails = ExplainedHolds & { readonly payment: FailedPayment | null };

const toWireHold = (
  { reason, since, placedBy }: Hold,
  names: ReadonlyMap<string, ProductName>,
  { products, destination, payment }: HoldDetails,
): Static<typeof HoldSchema> => ({
  reason,
  since: since.toISOString(),
  placedBy: toWireActor(placedBy),
  products: reason === OUT_OF_STOCK ? (products?.map((each) => toWireNeeded(each, names)) ?? null) : null,
  payment: reason === PAYMENT_FAILED && payment !== null ? toWireFailedPayment(payment) : null,
  destination: reason === ADDRESS_UNSERVICEABLE ? destination : null,
});

function toWireNeeded(
  { productId, lineIds, needed, facilities }: NeededProduct,
  names: ReadonlyMap<string, ProductName>,
): Static<typeof NeededProductSchema> {
  const named = names.get(productId);
  if (named === undefined) throw new Error("The product of an order is never deleted.");
  const shown = facilities.map(({ facilityId, ...at }) => ({
    ...at,
    facilityId: toTypeId("fac", facilityId),
    available: at.onHand - at.reserved + at.reservedForOrder,
  }));
  return {
    productId,
    sku: named.sku,
    name: named.name,
    lineIds: lineIds.map((id) => toTypeId("line", id)),
    needed,
    available: Math.max(0, ...shown.filter(({ serves }) => serves).map(({ available }) => available)),
    facilities: shown,
  };
}

const toWireTotals = (charges: readonly LedgerEntry[], currency: string): Static<typeof TotalsSchema> => {
  const money = (minor: bigint) => formatMoney({ minor, currency });
  const { goodsMinor, shippingMinor, refundedMinor, totalMinor } = totalsOf(charges);
  return {
    charged: money(goodsMinor + shippingMinor),
    refunded: money(refundedMinor),
    net: money(totalMinor),
    refundable: money(refundableMinor(charges)),
    refundableGoods: money(refundableMinor(ofGoods(charges))),
    refundableShipping: money(refundableMinor(ofShipping(charges))),
  };
};

const toWireEntry = (
  entry: TimelineEntry,
  refunds: readonly Refund[],
): Static<typeof TimelineEntrySchema> => ({
  at: entry.createdAt.toISOString(),
  operation: entry.operation,
  actor: toWireActor(entry.actor),
  status: entry.status,
  onHoldReasons: [...entry.holdReasons],
  shipmentId: entry.shipmentId === null ? null : toTypeId("shp", entry.shipmentId),
  refundId: refundOfEntry(entry, refunds),
  detail: entry.detail,
  requestId: entry.requestId,
});

/** A refund and its entry are stored in one transaction, with one time. */
function refundOfEntry({ operation, createdAt }: TimelineEntry, refunds: readonly Refund[]): string | null {
  const refund = refunds.find((each) => each.createdAt.getTime() === createdAt.getTime());
  return operation !== "refund" || refund === undefined ? null : toTypeId("rfd", refund.id);
}

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
  refundId: null,
  detail: null,
  requestId,
});

function firstStatus(order: Order, timeline: readonly TimelineEntry[]): string {
  if (order.testMode) return timeline.length === 0 ? order.status : "NEW";
  return order.acceptanceDueAt === null ? "PROCESSING" : "NEW";
}

type Summary = Static<typeof OrderSummarySchema>;
type WireOrder = Static<typeof BackOfficeOrderSchema>;
type PartnersFields =
  | keyof Static<typeof OrderSchema>
  | "merchantId"
  | "merchantName"
  | "connectionId"
  | "connectionName";

/** The fields of a list that partners' developers do not see. A new field must be here, or be a partner's field. */
const HIDDEN: Omit<Summary, PartnersFields> = { goods: null, facilityId: null, routedAt: null };

/** Changes that partners see in an order's timeline. Payments, routing and notes are the merchant's business. */
const SHOWN_OPERATIONS: ReadonlySet<string> = new Set([
  "create",
  "process",
  "accept",
  "approve",
  "reject",
  "cancel",
  "cancelByPartner",
  "hold",
  "addHold",
  "releaseHold",
  "ship",
  "updateShipment",
  "voidShipment",
  "complete",
  "returnShipment",
  "cancelLines",
  "updateShippingAddress",
  "erasePersonalData",
]);

/**
 * An order of a list without prices and routing, for the developers of its partner
 * (docs/design/people.md, "Partners' developers").
 */
export const summaryForPartner = (order: Summary): Summary => ({ ...order, ...HIDDEN });

/**
 * An order without the merchant's business: prices, charges, refunds, routing, notes and names of staff
 * (docs/design/people.md, "Partners' developers"). The timeline says which role made a change.
 */
export function orderForPartner(order: WireOrder): WireOrder {
  const hidden: Omit<WireOrder, PartnersFields> = {
    ...HIDDEN,
    charges: [],
    totals: null,
    refunds: [],
    cancellations: order.cancellations.map((canceled) => ({
      ...canceled,
      note: null,
      reference: null,
      refundId: null,
      actor: withoutName(canceled.actor),
    })),
    returns: order.returns.map((returned) => ({
      ...returned,
      note: null,
      reference: null,
      refundId: null,
      actor: withoutName(returned.actor),
    })),
    holds: order.holds.map((hold) => ({
      ...hold,
      placedBy: withoutName(hold.placedBy),
      products: null,
      payment: null,
    })),
    shippingAddressVersion: order.shippingAddressVersion,
    personalDataErasedAt: order.personalDataErasedAt,
    timeline: order.timeline
      .filter(({ operation }) => SHOWN_OPERATIONS.has(operation))
      .map((entry) => ({
        ...entry,
        actor: withoutName(entry.actor),
        detail: null,
        requestId: entry.actor.kind === "partner" ? entry.requestId : null,
      })),
    actions: [],
  };
  return {
    ...order,
    ...hidden,
    lines: order.lines.map((line) => ({ ...line, unitPrice: null, refundableQuantity: null })),
  };
}

const withoutName = ({ kind }: Static<typeof ActorSchema>): Static<typeof ActorSchema> => ({
  kind,
  name: null,
  id: null,
});
