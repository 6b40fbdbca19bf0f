import { type Static, Type } from "typebox";
import { toShipOrder } from "../../fulfilment/shipping.ts";
import type { Order } from "../../lifecycle/order.ts";
import { TRANSITION_RULES } from "../../orders/changes/transition-order.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { nullable } from "../../platform/wire/schemas.ts";
import { type BackOfficeRoute, route, warehouse } from "../access.ts";
import { findOwner } from "./find-order.ts";
import { BackOfficeShipmentSchema, toBackOfficeShipment } from "./order-wire.ts";
import { ShipBody } from "./shipping.ts";

/** They are stored together. */
const ORDERS_MAX = 100;

/** Why an order does not ship, in a response about several. */
export const REFUSAL_FIELDS = {
  code: Type.String({ description: "Code of the problem that `ship` of this order alone would return." }),
  detail: Type.String({ description: "The problem in a sentence, for people." }),
  rule: nullable(
    Type.String(),
    "Of `transition-refused`: the rule that forbids it, such as `nothing_to_ship`. Null for other codes.",
  ),
};

const RefusalSchema = Type.Object(
  {
    ...REFUSAL_FIELDS,
    errors: Type.Array(
      Type.Object(
        {
          pointer: Type.String({ description: "Location in this order of the request, as a JSON Pointer." }),
          rule: Type.String({ description: "The rule that the value violates." }),
          detail: Type.String({ description: "The rule in a sentence, for people." }),
        },
        { title: "ShippingError", description: "An error in an order of the request." },
      ),
      { description: "Of `validation-failed`: the errors. Empty for other codes." },
    ),
  },
  { title: "ShippingRefusal", description: "Why an order did not ship." },
);

const ShippedOrderSchema = Type.Object(
  {
    orderId: Type.String({ description: "Id of the order, as in the request." }),
    shipment: nullable(BackOfficeShipmentSchema, "The new shipment. Null if the order did not ship."),
    refusal: nullable(RefusalSchema, "Why the order did not ship. Null if it did."),
  },
  { title: "ShippedOrder", description: "What became of an order of the request." },
);

/** The problem of one order, without what only a response of its own has. */
export function refusalOf({ code, detail, members = {} }: Problem): Static<typeof RefusalSchema> {
  const rule = TRANSITION_RULES.find((known) => "rule" in members && known === members["rule"]) ?? null;
  const errors = "errors" in members ? (members["errors"] as Static<typeof RefusalSchema>["errors"]) : []; // Of a body, each has a pointer.
  return { code, detail, rule, errors };
}

export const shipManyRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/orders/ship",
    operationId: "shipOrders",
    admits: warehouse,
    tag: "Orders",
    summary: "Ship many orders",
    description:
      "Ships each order as `POST /api/orders/{id}/ship` does. An order that cannot ship keeps no other from shipping: `refusal` says why. A repeated request ships nothing twice: lines that have a shipment are refused with the rule `nothing_to_ship`.",
    body: Type.Object(
      {
        orders: Type.Array(
          Type.Object(
            { orderId: Type.String({ description: "Id of the order." }), ...ShipBody.properties },
            { title: "ShipOrderRequest", description: "An order with the shipment to create." },
          ),
          { minItems: 1, maxItems: ORDERS_MAX, description: "The orders, in the order in which they ship." },
        ),
      },
      { title: "ShipOrdersRequest", description: "Shipments to create." },
    ),
    responses: {
      200: {
        description: "What became of each order, in the order of the request.",
        schema: Type.Object(
          { orders: Type.Array(ShippedOrderSchema, { description: "The orders of the request." }) },
          { title: "ShippedOrders", description: "What became of the orders of a request." },
        ),
      },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, body, by }, { context, storeShipping }) => {
      const found = await Promise.all(body.orders.map(({ orderId }) => findOwner(context, caller, orderId)));
      // All at once, so that they are stored together, in the order of the request.
      const shipped = await Promise.all(
        body.orders.map(({ orderId: _, ...request }, at) => {
          const owner = found[at] ?? null;
          return owner === null
            ? notFound("order")
            : storeShipping(toShipOrder(context, { ...caller, by }, owner, request));
        }),
      );
      const orders = body.orders.map(({ orderId }, at) =>
        toShipped(orderId, shipped[at] ?? notFound("order")),
      );
      return { status: 200, body: { orders } };
    },
  }),
];

function toShipped(orderId: string, order: Order | Problem): Static<typeof ShippedOrderSchema> {
  if (isProblem(order)) return { orderId, shipment: null, refusal: refusalOf(order) };
  const shipment = order.shipments.at(-1); // The newest.
  return {
    orderId,
    shipment: shipment === undefined ? null : toBackOfficeShipment(order, shipment),
    refusal: null,
  };
}
