import { Type } from "typebox";
import { hasScope, scopeRequired } from "../../audit/scope.ts";
import { toCompleteOrder, toShipOrder, toUpdateShipment, voidShipment } from "../../fulfilment/shipping.ts";
import type { Order } from "../../lifecycle/order.ts";
import { readMerchant } from "../../merchants/merchants-sql.ts";
import {
  repeatedNumberField,
  shipFields,
  shipmentChangeFields,
  weightField,
} from "../../orders/changes/ship-request.ts";
import { findOrderOfShipment } from "../../orders/owners-sql.ts";
import { returnGoods } from "../../orders/returns/return-goods.ts";
import { returnFields } from "../../orders/returns/return-request.ts";
import { fromTypeId, wireOrderId } from "../../platform/ids.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { andPartner, type BackOfficeRoute, everyone, hasRole, route, warehouse } from "../access.ts";
import { valueAt } from "../money/amounts.ts";
import { refundErrors } from "../money/refund-wire.ts";
import { describeOrder, findOrder, findOwner, OrderIdParams, orderResponse, seenBy } from "./find-order.ts";
import {
  BackOfficeShipmentSchema,
  MONEY_PROBLEMS,
  OPERATION_PROBLEMS,
  ORDER_AFTER,
  ReasonBody,
  ReturnRefundSchema,
  toBackOfficeShipment,
  toReturnRefund,
} from "./order-wire.ts";

export const ShipBody = Type.Object(
  {
    ...shipFields(),
    repeatedTrackingNumber: Type.Optional(repeatedNumberField()),
    weightGrams: Type.Optional(weightField()),
  },
  { title: "ShipRequest", description: "A shipment to create." },
);

const ReturnBody = Type.Object(
  { ...returnFields, refund: Type.Optional(ReturnRefundSchema) },
  { title: "ReturnRequest", description: "Goods that came back." },
);

const ShipmentBody = Type.Object(
  {
    ...shipmentChangeFields,
    repeatedTrackingNumber: Type.Optional(repeatedNumberField()),
  },
  { title: "ShipmentUpdate", description: "Changes of a shipment. Absent fields keep their values." },
);

const ShipmentIdParams = Type.Object({ id: Type.String({ description: "Id of the shipment." }) });

/** The warehouse's operations: shipments, tracking and returns. */
export const shippingRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/orders/{id}/ship",
    operationId: "shipOrder",
    tag: "Orders",
    params: OrderIdParams,
    admits: warehouse,
    summary: "Ship lines of an order",
    description:
      "Creates a shipment: `shipped` if it has a tracking number or address, else `pending`. The first one moves the order to IN_PROGRESS. Rejected while the order is on hold, not accepted, or not routed to a facility. Tracking can be added later.",
    body: ShipBody,
    responses: { 200: ORDER_AFTER },
    problems: OPERATION_PROBLEMS,
    handle: async ({ caller, params, body, by }, { context, storeShipping }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await storeShipping(toShipOrder(context, { ...caller, by }, found, body));
      return orderResponse(context, caller, found, order);
    },
  }),
  route({
    method: "POST",
    path: "/api/orders/{id}/complete",
    operationId: "completeOrder",
    tag: "Orders",
    params: OrderIdParams,
    admits: warehouse,
    summary: "Complete an order",
    description:
      "Shipments that are still `pending` become `shipped`. Rejected while a line has no shipment.",
    responses: { 200: ORDER_AFTER },
    problems: OPERATION_PROBLEMS,
    handle: async ({ caller, params, by }, { context, storeShipping }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await storeShipping(toCompleteOrder(context, { ...caller, by }, found));
      return orderResponse(context, caller, found, order);
    },
  }),
  route({
    method: "POST",
    path: "/api/orders/{id}/return",
    operationId: "returnShipment",
    tag: "Orders",
    params: OrderIdParams,
    admits: warehouse,
    summary: "Record a return",
    description:
      "Records goods that came back, whole shipments or some units, also of a settled order. A shipment of which nothing is out any more is `returned`, which is published as `order.shipmentReturned`; the order is RETURNED when nothing of it is out any more. The return of some units is published as `order.shipmentUpdated` to endpoints that name this type. `refund`, which only the operator can request, refunds the merchant in the same transaction; a person needs recent authentication for it.",
    problems: MONEY_PROBLEMS,
    responses: {
      200: {
        ...ORDER_AFTER,
        headers: {
          "Idempotent-Replayed": "Is `true` if an earlier request with the reference recorded the return.",
        },
      },
    },
    body: ReturnBody,
    bodyErrors: async ({ caller, params, body }, { context }) => {
      if (valueAt(body, "/refund") === undefined) return [];
      if (!hasRole(caller, "operator")) return [{ pointer: "/refund", rule: "operator_requests" }];
      const found = await findOwner(context, caller, params.id);
      const merchant = found === null ? null : await readMerchant(context.db, found.merchantId);
      return merchant === null ? [] : refundErrors(body, "/refund", merchant.currency);
    },
    handle: async ({ caller, params, body, by }, { context }) => {
      const owner = await findOwner(context, caller, params.id);
      if (owner === null) return notFound("order");
      if (body.refund !== undefined && !hasScope(caller.scopes, "money:write"))
        return scopeRequired("money:write", "A return with a refund needs the scope money:write.");
      // Only of an order that exists the amount has been checked.
      const refund = body.refund === undefined ? null : toReturnRefund(body.refund, body.note ?? null);
      const returned = await returnGoods(context, { ...caller, by }, owner, body, refund);
      if (isProblem(returned)) return returned;
      const { order, replayed } = returned;
      return {
        status: 200,
        body: await describeOrder(context, caller, { order, owner }),
        ...(replayed && { headers: { "idempotent-replayed": "true" } }),
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/shipments/{id}",
    operationId: "getShipment",
    scope: "orders:read",
    admits: andPartner(everyone),
    tag: "Orders",
    summary: "Get a shipment",
    params: ShipmentIdParams,
    responses: { 200: { description: "The shipment.", schema: BackOfficeShipmentSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const id = fromTypeId("shp", params.id);
      const owner = id === null ? null : await findOrderOfShipment(context.db, id);
      const found = owner === null ? null : await findOrder(context, caller, wireOrderId(owner));
      const shipment = found?.order.shipments.find((one) => one.id === id);
      return found === null || shipment === undefined
        ? notFound("shipment")
        : { status: 200, body: toBackOfficeShipment(found.order, shipment) };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/shipments/{id}",
    operationId: "updateShipment",
    admits: warehouse,
    tag: "Orders",
    summary: "Update a shipment",
    description:
      "Adds tracking later, or changes the status of the shipment. The first tracking of a pending shipment makes it `shipped`, unless the request names a status. The change is published as `order.shipmentUpdated` to endpoints that name this type.",
    params: ShipmentIdParams,
    body: ShipmentBody,
    responses: { 200: { description: "The changed shipment.", schema: BackOfficeShipmentSchema } },
    problems: ["not-found", "validation-failed", "transition-refused"],
    handle: async ({ caller, params, body, by }, { context, storeShipping }) => {
      const id = fromTypeId("shp", params.id);
      const found = id === null ? null : seenBy(caller, await findOrderOfShipment(context.db, id));
      if (id === null || found === null) return notFound("shipment");
      const request = toUpdateShipment(context, { ...caller, by }, found, id, body);
      return shipmentResponse(await storeShipping(request), id);
    },
  }),
  route({
    method: "POST",
    path: "/api/shipments/{id}/void",
    operationId: "voidShipment",
    admits: warehouse,
    tag: "Orders",
    summary: "Void a shipment",
    description:
      "For a shipment that never left: the courier did not come, or the label was wrong. It is `voided`, its lines are unshipped again, and their goods are back in the stock and reserved for the order, which can ship again. The price of shipping does not change. Rejected with the rule `shipment_left` once a request has said that the carrier has it, or when some of it came back, and when the order is settled. A status that tracking alone has set rejects nothing. Published as `order.shipmentUpdated` to endpoints that name this type. Repeating the request returns the same.",
    params: ShipmentIdParams,
    body: ReasonBody,
    responses: { 200: { description: "The voided shipment.", schema: BackOfficeShipmentSchema } },
    problems: ["not-found", "validation-failed", "transition-refused"],
    handle: async ({ caller, params, body, by }, { context }) => {
      const id = fromTypeId("shp", params.id);
      const found = id === null ? null : seenBy(caller, await findOrderOfShipment(context.db, id));
      if (id === null || found === null) return notFound("shipment");
      const reason = body.reason ?? null;
      return shipmentResponse(await voidShipment(context, { ...caller, by }, found, id, reason), id);
    },
  }),
];

/** The shipment after an operation on its order. */
function shipmentResponse(order: Order | Problem, id: string) {
  if (isProblem(order)) return order.code === "not-found" ? notFound("shipment") : order;
  const shipment = order.shipments.find((one) => one.id === id);
  return shipment === undefined
    ? notFound("shipment")
    : { status: 200 as const, body: toBackOfficeShipment(order, shipment) };
}
