import { Type } from "typebox";
import { connectionScope } from "../../../access/scope.ts";
import { keyOf } from "../../../merchants/connection.ts";
import { fullAccess } from "../../../merchants/key-mode.ts";
import { timeIn } from "../../../platform/time.ts";
import { pagePosition, UUID_MAX } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound, validationFailed } from "../../../platform/wire/problems.ts";
import { pageOf } from "../../../platform/wire/schemas.ts";
import { DeliverySchema, OwnedDeliverySchema } from "../../../webhooks/log/delivery.ts";
import { DeliveryDetailsSchema } from "../../../webhooks/log/delivery-details.ts";
import { readAllDeliveriesPage, readWireDelivery } from "../../../webhooks/log/delivery-log.ts";
import {
  DeliveryPageSchema,
  DeliveryQuery,
  deliveryIdField,
  deliveryPageResponse,
  findDelivery,
  redeliveryResponse,
} from "../../deliveries.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import { andPartner, type BackOfficeRoute, merchantSide, route } from "../access.ts";
import { ConnectionIdParams, findConnection } from "../lookups.ts";
import { recordReads } from "./record-reads.ts";

const tag = "Deliveries";
const ofPartners = andPartner(merchantSide);
const AllDeliveriesPageSchema = pageOf(OwnedDeliverySchema, "DeliveryOfConnectionPage");
const { limit, cursor, status, eventType, since, until } = DeliveryQuery.properties;
const AllDeliveriesQuery = Type.Object({
  limit,
  cursor,
  merchantId: Type.Optional(Type.String({ description: "Only deliveries of this merchant." })),
  status,
  eventType,
  since,
  until,
});
const DeliveryParams = Type.Object({ ...ConnectionIdParams.properties, deliveryId: deliveryIdField });

/** The delivery log of a connection, as its partner sees it. */
export const deliveryRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/deliveries",
    operationId: "listAllDeliveries",
    admits: ofPartners,
    tag,
    summary: "List the deliveries of all connections",
    description:
      "Of all connections that the caller sees, newest event first. A page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null. The log of one connection has further filters.",
    isList: true,
    query: AllDeliveriesQuery,
    responses: { 200: { description: "A page of deliveries.", schema: AllDeliveriesPageSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const position = pagePosition("all-deliveries", query, UUID_MAX);
      if (isProblem(position)) return position;
      const filter = {
        scope: connectionScope(caller.grants),
        merchantId: idIn("mer", query.merchantId),
        status: query.status ?? null,
        eventType: query.eventType ?? null,
        since: timeIn(query.since),
        until: timeIn(query.until),
      };
      const page = await readAllDeliveriesPage(context.db, filter, position, context.clock.now());
      return { status: 200, body: page };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/deliveries",
    operationId: "listDeliveries",
    admits: ofPartners,
    tag,
    summary: "List a connection's deliveries",
    description: "Newest event first. If a filter matches nothing, the list is empty.",
    params: ConnectionIdParams,
    query: DeliveryQuery,
    responses: { 200: { description: "A page of deliveries.", schema: DeliveryPageSchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context, readOrder }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      return deliveryPageResponse(context, readOrder, fullAccess(keyOf(connection)), query);
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/deliveries/{deliveryId}",
    operationId: "getDelivery",
    admits: ofPartners,
    tag,
    summary: "Get a delivery",
    params: DeliveryParams,
    description:
      "The delivery with its newest attempts, each with its request and its response. The body of a request contains the order with its address, so the audit log records who reads it.",
    responses: { 200: { description: "The delivery with its attempts.", schema: DeliveryDetailsSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const key = keyOf(connection);
      const found = await findDelivery(context, fullAccess(key), params.deliveryId);
      if (found === null) return notFound("delivery");
      const { orderId, notAfter } = found.delivery;
      await recordReads(context, by, {
        orders: orderId === null ? [] : [{ ...key, id: orderId }],
        testMode: notAfter !== null,
        details: { deliveryId: params.deliveryId },
      });
      return { status: 200, body: found.details };
    },
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/deliveries/{deliveryId}/redeliver",
    operationId: "redeliverDelivery",
    admits: ofPartners,
    tag,
    summary: "Redeliver an event",
    description:
      "Sends the delivery once more at once, whatever its status. While that attempt is pending, repeating the request has no further effect.",
    params: DeliveryParams,
    responses: {
      202: { description: "The delivery, which will be sent once more.", schema: DeliverySchema },
    },
    problems: ["not-found", "endpoint-paused", "limit-reached"],
    handle: async ({ caller, params, by }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const access = fullAccess(keyOf(connection));
      return redeliveryResponse(context, access, params.deliveryId, by, (id) =>
        readWireDelivery(context.db, access, id, context.clock.now()),
      );
    },
  }),
];
