import { type Static, Type } from "typebox";
import { HOLD_REASONS, OUT_OF_STOCK } from "../lifecycle/hold-reasons.ts";
import { cancelableUntil } from "../lifecycle/lifecycle.ts";
import { asRequested } from "../lifecycle/lines.ts";
import {
  ORDER_STATUSES,
  type Order,
  type OrderRef,
  SHIPMENT_STATUSES,
  type Shipment,
} from "../lifecycle/order.ts";
import { fromTypeId, toTypeId, wireOrderId } from "../platform/ids.ts";
import { isoTime, isoTimeOrNull } from "../platform/time.ts";
import {
  dateTime,
  enumeration,
  idField,
  nullable,
  nullableTime,
  openEnumeration,
} from "../platform/wire/schemas.ts";
import { AddressSchema } from "./address-schemas.ts";
import { metadataField, noteField } from "./note-schemas.ts";

export const OrderStatusSchema = enumeration(
  "OrderStatus",
  ORDER_STATUSES,
  "`NEW`: created, and the API can cancel it. `PROCESSING`: in review; the API cannot cancel it. `ACCEPTED`: the cancel window has closed. `IN_PROGRESS`: a shipment exists. `COMPLETED`, `CANCELED` and `RETURNED`: settled; only a return is still possible.",
);

const ShipmentStatusSchema = enumeration(
  "ShipmentStatus",
  SHIPMENT_STATUSES,
  "`pending`: not yet handed to the carrier. `shipped`: with the carrier. `delivered`: with the recipient. `returned`: came back. Tracking, or the completion of the order, makes a pending shipment `shipped`. The warehouse sets the others.",
);

/** More values can occur: the sandbox and the back office can place a hold for any reason (decision 0013). */
const HoldReasonSchema = openEnumeration(
  "HoldReason",
  HOLD_REASONS,
  "A reason for a hold. More values may be added. `payment_failed`: a charge to the merchant was declined. `out_of_stock`: no facility has all of the goods. `address_unserviceable`: no facility ships to the address. `merchant_request`: the merchant asked for the hold.",
);

const testModeField = Type.Boolean({
  description: "True for a test order, which is never charged or shipped, and is erased after two hours.",
});

const lineFields = {
  productId: Type.String({ format: "uuid", description: "Id of the product." }),
  quantity: Type.Integer({ description: "Number of units." }),
};

const LineSchema = Type.Object(
  {
    id: idField("line", "Id of the line, set by the service."),
    ...lineFields,
    shipmentId: nullable(
      Type.String(),
      "Id of the shipment that contains the line. Null until the warehouse ships it.",
    ),
    returnedQuantity: Type.Integer({
      description: "Number of units that came back, at most `quantity`. The warehouse records it.",
    }),
  },
  { title: "OrderLine", description: "An ordered product and its quantity." },
);

export const ShipmentSchema = Type.Object(
  {
    id: idField("shp", "Id of the shipment, set by the service."),
    status: ShipmentStatusSchema,
    carrier: nullable(
      Type.String(),
      "Name of the carrier, as the warehouse writes it. Null if it was not set.",
    ),
    trackingNumber: nullable(Type.String(), "Tracking number. Null until the carrier has issued it."),
    trackingUrl: nullable(
      Type.String(),
      "Address where the shipment can be tracked, for the buyer. Null until the carrier has issued tracking.",
    ),
    createdAt: dateTime("When the shipment was created."),
    shippedAt: nullableTime(
      "When the service learned that the carrier has the shipment. Null while it is `pending`, and if it came back before that was known.",
    ),
    deliveredAt: nullableTime(
      "When the warehouse reported that the recipient has the shipment. Null until then.",
    ),
    lineIds: Type.Array(Type.String(), { description: "Ids of the lines that the shipment contains." }),
  },
  { title: "Shipment", description: "A shipment with lines of an order." },
);

const orderIdField = Type.String({
  description: "Id of the order, set by the service. Ids of test orders have the prefix `test_`.",
  examples: ["ord_01m7y7np16fe68bxp4h91tdmdn"],
});
const externalIdField = nullable(
  Type.String(),
  "The partner's own id of the order. Null if it was not sent.",
);
const createdAtField = dateTime("When the order was created. The acceptance window starts at this time.");

/** The order object of the specification, part 2, with additions (decisions 0008 and 0081). */
export const OrderSchema = Type.Object(
  {
    id: orderIdField,
    testMode: testModeField,
    externalOrderId: externalIdField,
    status: OrderStatusSchema,
    onHold: Type.Boolean({
      description:
        "Whether the order is on hold. An order on hold is not shipped. A hold does not change `status`.",
    }),
    onHoldReasons: Type.Array(HoldReasonSchema, {
      description: "What must change before the order can proceed. Empty if the order is not on hold.",
      examples: [[OUT_OF_STOCK]],
    }),
    createdAt: createdAtField,
    updatedAt: dateTime("When the order last changed."),
    cancelableUntil: nullableTime(
      "Until when the API can cancel the order in its present state. Null if the API cannot cancel it.",
    ),
    shippingAddress: AddressSchema,
    note: noteField,
    metadata: metadataField,
    lines: Type.Array(LineSchema, {
      description:
        "The ordered products, in the order of the request. If only a part of a line has shipped, the rest is a line of its own behind it.",
    }),
    shipments: Type.Array(ShipmentSchema, { description: "The shipments of the order, oldest first." }),
  },
  { title: "Order", description: "An order in its present state." },
);
type WireOrder = Static<typeof OrderSchema>;
type WireShipment = Static<typeof ShipmentSchema>;

/** The response of a creation (specification, part 2). */
export const CreatedOrderSchema = Type.Object(
  {
    id: orderIdField,
    testMode: testModeField,
    status: OrderStatusSchema,
    createdAt: createdAtField,
    externalOrderId: externalIdField,
    lines: Type.Array(
      Type.Object(lineFields, {
        title: "CreatedOrderLine",
        description: "An ordered product and its quantity.",
      }),
      { description: "The ordered products, in the order of the request." },
    ),
  },
  { title: "CreatedOrder", description: "The fields of an order that its creation returns." },
);
type WireCreatedOrder = Static<typeof CreatedOrderSchema>;

/** The order object of reads, cancels, transitions and events. The order must be `asOf` now. */
export function toWireOrder(order: Order): WireOrder {
  const address = order.shippingAddress;
  return {
    id: wireOrderId(order),
    testMode: order.testMode,
    externalOrderId: order.externalOrderId,
    status: order.status,
    onHold: order.holdReasons.length > 0,
    onHoldReasons: [...order.holdReasons],
    createdAt: isoTime(order.createdAt),
    updatedAt: isoTime(order.updatedAt),
    cancelableUntil: isoTimeOrNull(cancelableUntil(order)),
    shippingAddress: { ...address, name: address.name ?? `${address.firstName} ${address.lastName}` },
    note: order.note,
    metadata: { ...order.metadata },
    lines: order.lines.map((line) => ({
      id: toTypeId("line", line.id),
      productId: line.productId,
      quantity: line.quantity,
      shipmentId: line.shipmentId === null ? null : toTypeId("shp", line.shipmentId),
      returnedQuantity: line.returnedQuantity,
    })),
    shipments: order.shipments.map((shipment) => toWireShipment(order, shipment)),
  };
}

/** Texts that were made. An order is never changed, so its text is not either. */
const texts = new WeakMap<Order, string>();

/** The order object as JSON text. The order must be `asOf` now. */
export function orderText(order: Order): string {
  const made = texts.get(order) ?? JSON.stringify(toWireOrder(order));
  texts.set(order, made);
  return made;
}

export function toWireShipment(order: Order, shipment: Shipment): WireShipment {
  const covered = order.lines.filter((line) => line.shipmentId === shipment.id);
  return {
    id: toTypeId("shp", shipment.id),
    status: shipment.status,
    carrier: shipment.carrier,
    trackingNumber: shipment.trackingNumber,
    trackingUrl: shipment.trackingUrl,
    createdAt: isoTime(shipment.createdAt),
    shippedAt: isoTimeOrNull(shipment.shippedAt),
    deliveredAt: isoTimeOrNull(shipment.deliveredAt),
    lineIds: covered.map((line) => toTypeId("line", line.id)),
  };
}

export function toWireCreatedOrder(order: Order): WireCreatedOrder {
  return {
    id: wireOrderId(order),
    testMode: order.testMode,
    status: order.status,
    createdAt: isoTime(order.createdAt),
    externalOrderId: order.externalOrderId,
    lines: asRequested(order.lines),
  };
}

/** `orderId` of a path: the service's id, or else the partner's own. 1 to 200 characters (specification, part 8). */
export const OrderIdParams = Type.Object({
  orderId: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "Id of the order, or the partner's own `externalOrderId`, percent-encoded.",
  }),
});

export function parseOrderRef(orderId: string): OrderRef {
  const real = fromTypeId("ord", orderId);
  if (real !== null) return { id: real, testMode: false, externalOrderId: orderId };
  const test = fromTypeId("test", orderId);
  return { id: test, testMode: test === null ? null : true, externalOrderId: orderId };
}
