import { type Static, Type } from "typebox";
import { oldestShownId } from "../../../../events/event-feed.ts";
import { momentOf, toTypeId } from "../../../../platform/ids.ts";
import { pagePosition, toPage } from "../../../../platform/wire/cursor.ts";
import { isProblem, notFound } from "../../../../platform/wire/problems.ts";
import { cursorField, dateTime, idField, limitField, pageOf } from "../../../../platform/wire/schemas.ts";
import { wireEndpointId } from "../../../../webhooks/endpoints/endpoint.ts";
import { urlWithoutQuery } from "../../../../webhooks/endpoints/url-without-query.ts";
import { DeliveryStatusSchema } from "../../../../webhooks/log/delivery.ts";
import {
  DELIVERIES_SHOWN_MAX,
  listOrderEvents,
  type OrderEvent,
} from "../../../../webhooks/log/order-events-sql.ts";
import { andPartner, type BackOfficeRoute, merchantSide, route } from "../../access.ts";
import { findOwner, OrderIdParams } from "../find-order.ts";

const OrderEventSchema = Type.Object(
  {
    id: idField("evt", "Id of the event, and `webhook-id` of its deliveries."),
    type: Type.String({ description: "Type of the event.", examples: ["order.created"] }),
    sequence: Type.Integer({ description: "Counts the events of the order from 1." }),
    createdAt: dateTime("When the event happened."),
    deliveries: Type.Array(
      Type.Object(
        {
          id: idField("dlv", "Id of the delivery."),
          endpointId: Type.String({ description: "Id of the endpoint." }),
          endpointUrl: Type.String({ description: "URL of the endpoint, without its query." }),
          status: DeliveryStatusSchema,
        },
        { title: "OrderEventDelivery", description: "The delivery of an event to an endpoint." },
      ),
      { description: `Its deliveries, at most ${DELIVERIES_SHOWN_MAX}. Empty if no endpoint wanted it.` },
    ),
  },
  { title: "OrderEvent", description: "An event about an order, without its body." },
);

const toWireEvent = ({ id, type, sequence, deliveries }: OrderEvent): Static<typeof OrderEventSchema> => ({
  id: toTypeId("evt", id),
  type,
  sequence,
  createdAt: momentOf(id).toISOString(),
  deliveries: deliveries.map((delivery) => ({
    id: toTypeId("dlv", delivery.id),
    endpointId: wireEndpointId(delivery.endpointId),
    endpointUrl: urlWithoutQuery(delivery.url),
    status: delivery.status,
  })),
});

/** The events of an order and what became of them. */
export const orderEventRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/orders/{id}/events",
    operationId: "listOrderEvents",
    admits: andPartner(merchantSide),
    tag: "Orders",
    summary: "List an order's events",
    description:
      "Oldest first, those of the last 30 days, each with its deliveries. The bodies are those of `GET /api/connections/{id}/events` with `orderId`.",
    params: OrderIdParams,
    query: Type.Object({ limit: limitField, cursor: cursorField }),
    responses: {
      200: { description: "A page of events.", schema: pageOf(OrderEventSchema, "OrderEventPage") },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const owner = await findOwner(context, caller, params.id);
      if (owner === null) return notFound("order");
      const position = pagePosition(`events of ${owner.id}`, query);
      if (isProblem(position)) return position;
      const now = context.clock.now();
      const page = { ...position, oldestId: oldestShownId(now), now };
      const events = await listOrderEvents(context.db, owner, page);
      return { status: 200, body: toPage(events, position, toWireEvent) };
    },
  }),
];
