import { type Static, Type } from "typebox";
import { mailTracking } from "../../../fulfilment/shipping/mail-tracking.ts";
import { prepareShipping } from "../../../fulfilment/shipping/prepare-shipping.ts";
import type { Order } from "../../../lifecycle/order.ts";
import type { Transition } from "../../../lifecycle/transition.ts";
import { readMerchant } from "../../../merchants/merchants-sql.ts";
import { transitionOrder } from "../../../orders/changes/transition-order.ts";
import { findOrderOfShipment } from "../../../orders/order-owners-sql.ts";
import { returnGoods } from "../../../orders/returns/return-goods.ts";
import { returnFields } from "../../../orders/returns/return-request.ts";
import { readShipRequest, shipFields, toShip } from "../../../orders/shipments/ship-request.ts";
import { trackingText, trackingUrlOf } from "../../../orders/shipments/tracking.ts";
import {
  carrierField,
  trackingNumberField,
  trackingUrlField,
} from "../../../orders/shipments/tracking-fields.ts";
import { fromTypeId, wireOrderId } from "../../../platform/ids.ts";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import { enumeration, nullable } from "../../../platform/wire/schemas.ts";
import { andPartner, type BackOfficeRoute, everyone, hasRole, route, warehouse } from "../access.ts";
import { valueAt } from "../money/amounts.ts";
import { refundErrors } from "../money/refund-wire.ts";
import { describeOrder, findOrder, findOwner, seenBy } from "./find-order.ts";
import { handleTransition, orderOperationRow } from "./handle-transition.ts";
import { BackOfficeShipmentSchema, toBackOfficeShipment } from "./order-schemas.ts";
import { ReturnRefundSchema, toReturnRefund } from "./return-wire.ts";

const ShipBody = Type.Object(
  {
    ...shipFields(),
    weightGrams: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_000_000_000,
        description: "Weight of the parcel as it was weighed, in grams. Absent: it was not weighed.",
      }),
    ),
  },
  { title: "ShipRequest", description: "A shipment to create." },
);

const ReturnBody = Type.Object(
  { ...returnFields, refund: Type.Optional(ReturnRefundSchema) },
  { title: "ReturnRequest", description: "Goods that came back." },
);

const ShipmentBody = Type.Object(
  {
    carrier: Type.Optional(
      nullable(carrierField(), "Name of the carrier, without the spaces around it. Null removes it."),
    ),
    trackingNumber: Type.Optional(
      nullable(
        trackingNumberField(),
        "Tracking number of the carrier, without the spaces around it. Null removes it.",
      ),
    ),
    trackingUrl: Type.Optional(
      nullable(
        trackingUrlField(),
        "Address where the shipment can be tracked. Null removes it. If it is absent, a new number or carrier replaces it.",
      ),
    ),
    status: Type.Optional(
      enumeration(
        "ShipmentProgress",
        ["pending", "shipped", "delivered"],
        "`pending`: not yet handed to the carrier. `shipped`: with the carrier. `delivered`: with the recipient.",
      ),
    ),
  },
  { title: "ShipmentUpdate", description: "Changes of a shipment. Absent fields keep their values." },
);

const ShipmentIdParams = Type.Object({ id: Type.String({ description: "Id of the shipment." }) });

/** The warehouse's operations: shipments, tracking and returns. */
export const shippingRoutes: readonly BackOfficeRoute[] = [
  route({
    ...orderOperationRow,
    path: "/api/orders/{id}/ship",
    operationId: "shipOrder",
    admits: warehouse,
    summary: "Ship lines of an order",
    description:
      "Creates a shipment: `shipped` if it has a tracking number or address, else `pending`. The first one moves the order to IN_PROGRESS. Rejected while the order is on hold, not accepted, or not routed to a facility. Tracking can be added later.",
    body: ShipBody,
    handle: async ({ caller, params, body, by }, { context }) => {
      const request = readShipRequest(body);
      return handleTransition(context, caller, params.id, {
        by,
        operation: "ship",
        prepare: prepareShipping,
        transition: (order) => toShip(order, request, context.newId),
        alongside: mailTracking,
      });
    },
  }),
  route({
    ...orderOperationRow,
    path: "/api/orders/{id}/complete",
    operationId: "completeOrder",
    admits: warehouse,
    summary: "Complete an order",
    description:
      "Shipments that are still `pending` become `shipped`. Rejected while a line has no shipment.",
    handle: async ({ caller, params, by }, { context }) =>
      handleTransition(context, caller, params.id, {
        by,
        operation: "complete",
        transition: () => ({ name: "complete" }),
      }),
  }),
  route({
    ...orderOperationRow,
    path: "/api/orders/{id}/return",
    operationId: "returnShipment",
    admits: warehouse,
    summary: "Record a return",
    description:
      "Records goods that came back, whole shipments or some units, also of a settled order. A shipment of which nothing is out any more is `returned`, which is published as `order.shipmentReturned`; the order is RETURNED when nothing of it is out any more. The return of some units is published as `order.shipmentUpdated` to endpoints that name this type. `refund`, which only the operator can request, refunds the merchant in the same transaction.",
    responses: {
      200: {
        ...orderOperationRow.responses[200],
        headers: {
          "Idempotent-Replayed": "Is `true` if an earlier request with the reference recorded the return.",
        },
      },
    },
    body: ReturnBody,
    bodyErrors: async ({ caller, params, body }, { context }) => {
      if (valueAt(body, "/refund") === undefined) return [];
      if (!hasRole(caller, "operator"))
        return [{ pointer: "/refund", detail: "can be requested only by the operator" }];
      const found = await findOwner(context, caller, params.id);
      const merchant = found === null ? null : await readMerchant(context.db, found.merchantId);
      return merchant === null ? [] : refundErrors(body, "/refund", merchant.currency);
    },
    handle: async ({ caller, params, body, by }, { context }) => {
      const owner = await findOwner(context, caller, params.id);
      if (owner === null) return notFound("order");
      // Only of an order that exists the amount has been checked.
      const refund = body.refund === undefined ? null : toReturnRefund(body.refund, body.note ?? null);
      const returned = await returnGoods(context, owner, body, refund, by);
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
    handle: async ({ caller, params, body, by }, { context }) => {
      const id = fromTypeId("shp", params.id);
      const found = id === null ? null : seenBy(caller, await findOrderOfShipment(context.db, id));
      if (id === null || found === null) return notFound("shipment");
      const taken = await transitionOrder(context, found, {
        by,
        cause: { operation: "updateShipment" },
        transition: (order) => toUpdate(order, id, body),
        alongside: mailTracking,
      });
      if (isProblem(taken)) return taken.code === "not-found" ? notFound("shipment") : taken;
      const shipment = taken.shipments.find((one) => one.id === id);
      return shipment === undefined
        ? notFound("shipment")
        : { status: 200, body: toBackOfficeShipment(taken, shipment) };
    },
  }),
];

/** Without an address in the request, a new number replaces the address, which belongs to the old number. */
function toUpdate(order: Order, shipmentId: string, body: Static<typeof ShipmentBody>): Transition {
  const shipment = order.shipments.find(({ id }) => id === shipmentId);
  const change = {
    ...body,
    ...(body.carrier !== undefined && { carrier: trackingText(body.carrier) }),
    ...(body.trackingNumber !== undefined && { trackingNumber: trackingText(body.trackingNumber) }),
  };
  const asSent: Transition = { name: "updateShipment", shipmentId, change };
  if (shipment === undefined || body.trackingUrl !== undefined) return asSent;
  const { carrier, trackingNumber } = { ...shipment, ...change };
  const isSameNumber = trackingNumber === shipment.trackingNumber;
  if (isSameNumber && carrier === shipment.carrier) return asSent;
  const trackingUrl = trackingUrlOf(carrier, trackingNumber) ?? (isSameNumber ? shipment.trackingUrl : null);
  return { ...asSent, change: { ...change, trackingUrl } };
}
