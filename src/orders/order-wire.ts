import { type Static, Type } from "typebox";
import { OUT_OF_STOCK } from "../lifecycle/hold-reasons.ts";
import { cancelableUntil } from "../lifecycle/lifecycle.ts";
import {
  ORDER_STATUSES,
  type Order,
  type OrderRef,
  SHIPMENT_STATUSES,
  type Shipment,
} from "../lifecycle/order.ts";
import { fromTypeId, toTypeId, wireOrderId } from "../platform/ids.ts";
import { dateTime, nullable } from "../platform/wire/schemas.ts";

const nullableText = (description: string) => nullable(Type.String(), description);

const AddressSchema = Type.Object(
  {
    firstName: Type.String(),
    lastName: Type.String(),
    name: Type.String({ description: "As sent; otherwise the first and last name." }),
    company: nullableText("Null when not sent."),
    address1: Type.String(),
    address2: nullableText("Null when not sent."),
    city: Type.String(),
    zip: Type.String(),
    stateCode: nullableText("Null when not sent."),
    countryCode: Type.String({ description: "Two upper-case letters.", examples: ["US"] }),
    phone: nullableText("Null when not sent."),
  },
  { title: "ShippingAddress" },
);

const LineSchema = Type.Object(
  {
    id: Type.String({ examples: ["line_01m7y7np16fe68bxp4h91tdmdn"] }),
    productId: Type.String({ format: "uuid" }),
    quantity: Type.Integer(),
    shipmentId: nullableText("The shipment that covers the line; null while it is unshipped."),
  },
  { title: "OrderLine" },
);

export const ShipmentSchema = Type.Object(
  {
    id: Type.String({ examples: ["shp_01m7y7np16fe68bxp4h91tdmdn"] }),
    status: Type.Enum([...SHIPMENT_STATUSES]),
    trackingNumber: nullableText("Null until the carrier has issued tracking."),
    trackingUrl: nullableText("Null until the carrier has issued tracking."),
    createdAt: dateTime("Time at which the shipment was created."),
    lineIds: Type.Array(Type.String(), { description: "Ids of the lines it covers." }),
  },
  { title: "Shipment" },
);

const idField = Type.String({
  description: "The service's id; test orders have the prefix `test_`.",
  examples: ["ord_01m7y7np16fe68bxp4h91tdmdn"],
});
const statusField = Type.Enum([...ORDER_STATUSES]);
const externalIdField = nullableText("The partner's own id; null when not sent.");
const createdAtField = dateTime("Creation time. The acceptance window is measured from it.");

/** The order object of the specification, part 2, with `updatedAt` and `cancelableUntil` added (decision 0008). */
export const OrderSchema = Type.Object(
  {
    id: idField,
    testMode: Type.Boolean(),
    externalOrderId: externalIdField,
    status: statusField,
    onHold: Type.Boolean({ description: "A hold does not change the status." }),
    onHoldReasons: Type.Array(Type.String(), {
      description: "What must change before the order can proceed. More values may be added.",
      examples: [[OUT_OF_STOCK]],
    }),
    createdAt: createdAtField,
    updatedAt: dateTime("When the order last changed."),
    cancelableUntil: nullable(
      dateTime(),
      "Time until which the API can cancel the order in its current state; null if it cannot.",
    ),
    shippingAddress: AddressSchema,
    lines: Type.Array(LineSchema),
    shipments: Type.Array(ShipmentSchema, { description: "Oldest first." }),
  },
  { title: "Order" },
);
type WireOrder = Static<typeof OrderSchema>;
type WireShipment = Static<typeof ShipmentSchema>;

/** What creation returns (specification, part 2). */
export const CreatedOrderSchema = Type.Object(
  {
    id: idField,
    testMode: Type.Boolean(),
    status: statusField,
    createdAt: createdAtField,
    externalOrderId: externalIdField,
    lines: Type.Array(
      Type.Object(
        { productId: Type.String({ format: "uuid" }), quantity: Type.Integer() },
        { title: "CreatedOrderLine" },
      ),
    ),
  },
  { title: "CreatedOrder" },
);
type WireCreatedOrder = Static<typeof CreatedOrderSchema>;

/** The order object that reads, cancels, transitions and events show. Give it an order `asOf` now. */
export function toWireOrder(order: Order): WireOrder {
  const address = order.shippingAddress;
  return {
    id: wireOrderId(order),
    testMode: order.testMode,
    externalOrderId: order.externalOrderId,
    status: order.status,
    onHold: order.holdReasons.length > 0,
    onHoldReasons: [...order.holdReasons],
    createdAt: order.createdAt.toISOString(),
    updatedAt: order.updatedAt.toISOString(),
    cancelableUntil: cancelableUntil(order)?.toISOString() ?? null,
    shippingAddress: { ...address, name: address.name ?? `${address.firstName} ${address.lastName}` },
    lines: order.lines.map((line) => ({
      id: toTypeId("line", line.id),
      productId: line.productId,
      quantity: line.quantity,
      shipmentId: line.shipmentId === null ? null : toTypeId("shp", line.shipmentId),
    })),
    shipments: order.shipments.map((shipment) => toWireShipment(order, shipment)),
  };
}

export function toWireShipment(order: Order, shipment: Shipment): WireShipment {
  const covered = order.lines.filter((line) => line.shipmentId === shipment.id);
  return {
    id: toTypeId("shp", shipment.id),
    status: shipment.status,
    trackingNumber: shipment.trackingNumber,
    trackingUrl: shipment.trackingUrl,
    createdAt: shipment.createdAt.toISOString(),
    lineIds: covered.map((line) => toTypeId("line", line.id)),
  };
}

export function toWireCreatedOrder(order: Order): WireCreatedOrder {
  return {
    id: wireOrderId(order),
    testMode: order.testMode,
    status: order.status,
    createdAt: order.createdAt.toISOString(),
    externalOrderId: order.externalOrderId,
    lines: order.lines.map(({ productId, quantity }) => ({ productId, quantity })),
  };
}

/** `orderId` of a path: the service's id is tried first, then the partner's own. Specification, part 8: 1 to 200 characters. */
export const OrderIdParams = Type.Object({
  orderId: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "The service's id, or the partner's own `externalOrderId`, percent-encoded.",
  }),
});

export function parseOrderRef(orderId: string): OrderRef {
  const real = fromTypeId("ord", orderId);
  if (real !== null) return { id: real, testMode: false, externalOrderId: orderId };
  const test = fromTypeId("test", orderId);
  return { id: test, testMode: test === null ? null : true, externalOrderId: orderId };
}
