import { Type } from "typebox";
import { notFound } from "../../platform/wire/problems.ts";
import { DeliveryDetailsSchema } from "../../webhooks/log/delivery-details.ts";
import {
  DeliveryPageSchema,
  DeliveryQuery,
  deliveryIdField,
  deliveryPageResponse,
  findDelivery,
  redeliveryResponse,
} from "../deliveries.ts";
import { type PartnerRoute, route } from "./partner-route.ts";

const tag = "Deliveries";
const DeliveryIdParams = Type.Object({ deliveryId: deliveryIdField });

/** The delivery log of a partner's endpoints. */
export const deliveryRoutes: readonly PartnerRoute[] = [
  route({
    method: "GET",
    path: "/v1/deliveries",
    operationId: "listDeliveries",
    isList: true,
    tag,
    summary: "List deliveries",
    description:
      "The delivery log of the connection's endpoints, newest event first, including deleted endpoints. If a filter matches nothing, the list is empty. A page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null.",
    query: DeliveryQuery,
    responses: { 200: { description: "A page of deliveries.", schema: DeliveryPageSchema } },
    problems: ["validation-failed"],
    handle: ({ caller, query }, { context, readOrder }) =>
      deliveryPageResponse(context, readOrder, caller, query),
  }),
  route({
    method: "GET",
    path: "/v1/deliveries/{deliveryId}",
    operationId: "getDelivery",
    tag,
    summary: "Get a delivery",
    params: DeliveryIdParams,
    description: "The delivery with its newest attempts, each with its request and its response.",
    responses: { 200: { description: "The delivery with its attempts.", schema: DeliveryDetailsSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const found = await findDelivery(context, caller, params.deliveryId);
      return found === null ? notFound("delivery") : { status: 200, body: found.details };
    },
  }),
  route({
    method: "POST",
    path: "/v1/deliveries/{deliveryId}/redeliver",
    operationId: "redeliverDelivery",
    tag,
    summary: "Redeliver an event",
    description:
      "Sends the delivery once more at once, whatever its status, with the same event id. While that attempt is pending, repeating the request has no further effect. A body is ignored.",
    params: DeliveryIdParams,
    responses: {
      202: { description: "The delivery, which will be sent once more.", schema: DeliveryDetailsSchema },
    },
    problems: ["not-found", "endpoint-paused", "limit-reached"],
    handle: ({ caller, params, by }, { context }) =>
      redeliveryResponse(
        context,
        caller,
        params.deliveryId,
        by,
        async () => (await findDelivery(context, caller, params.deliveryId))?.details ?? null,
      ),
  }),
];
