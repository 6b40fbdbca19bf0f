import { Type } from "typebox";
import { feedPage, oldestShownId, readFeed } from "../../events/event-feed.ts";
import { EVENT_TYPES } from "../../events/event-types.ts";
import { readEventBody } from "../../events/feed-sql.ts";
import { findOrderId, orderIdFilter } from "../../orders/lists/order-filter.ts";
import { OrderSchema, ShipmentSchema } from "../../orders/order-wire.ts";
import { fromTypeId } from "../../platform/ids.ts";
import { isProblem, notFound } from "../../platform/wire/problems.ts";
import { cursorField, dateTime, limitField, nullable } from "../../platform/wire/schemas.ts";
import { PartnerProductSchema } from "../../products/product.ts";
import { type PartnerRoute, route } from "./partner-route.ts";

const tag = "Events";

/** Decision 0021. An event is returned as the text that was stored; the schema describes it. */
const EventSchema = Type.Object(
  {
    id: Type.String({
      description: "Also the `webhook-id` of its deliveries.",
      examples: ["evt_01m7y7np16fe68bxp4h91tdmdn"],
    }),
    type: Type.String({ description: "More values may be added.", examples: ["order.created"] }),
    timestamp: dateTime("Time of the operation."),
    testMode: Type.Boolean(),
    connectionId: Type.String(),
    sequence: nullable(
      Type.Integer(),
      "Counts 1, 2, 3 … within the order. Null for events without an order, and for opt-in types.",
    ),
    data: Type.Object(
      {
        order: Type.Optional(OrderSchema),
        shipment: Type.Optional(ShipmentSchema),
        product: Type.Optional(PartnerProductSchema),
        endpoint: Type.Optional(
          Type.Object({ id: Type.String(), url: Type.String() }, { description: "Of `webhook.ping`." }),
        ),
      },
      { description: "The order, shipment or product of the event, at the time of the event." },
    ),
  },
  { title: "Event" },
);

const EventPageSchema = Type.Object(
  {
    data: Type.Array(EventSchema),
    nextCursor: nullable(
      Type.String(),
      "The cursor for the next request, now or later. Null when the page is empty: keep the cursor that you sent, and use it again.",
    ),
  },
  { title: "EventPage" },
);

/** What happened, to be polled or reconciled with. Decision 0027. */
export const eventRoutes: readonly PartnerRoute[] = [
  route({
    method: "GET",
    path: "/v1/events",
    operationId: "listEvents",
    tag,
    summary: "List events",
    description:
      "Every event of the last 30 days, exactly as it is delivered. New events are only ever added at the end. To follow the feed, continue from the last `nextCursor` that was not null. `timestamp` may decrease slightly from one event to the next.",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      orderId: orderIdFilter,
      type: Type.Optional(Type.Enum([...EVENT_TYPES], { description: "Only of this type." })),
    }),
    answers: { 200: { description: "A page of events.", schema: EventPageSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context, readOrder }) => {
      const page = feedPage(query);
      if (isProblem(page)) return page;
      const orderId = await findOrderId(readOrder, caller, query.orderId);
      if (orderId === undefined) return { status: 200, json: '{"data":[],"nextCursor":null}' };
      const filter = { orderId, type: query.type ?? null };
      return {
        status: 200,
        json: await readFeed(context.db, caller, page, filter, context.clock.now()),
      };
    },
  }),
  route({
    method: "GET",
    path: "/v1/events/{eventId}",
    operationId: "getEvent",
    tag,
    summary: "Get an event",
    params: Type.Object({ eventId: Type.String({ description: "The event's id." }) }),
    answers: { 200: { description: "The event, exactly as it is delivered.", schema: EventSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const id = fromTypeId("evt", params.eventId);
      const body =
        id === null
          ? null
          : await readEventBody(
              context.db,
              caller,
              id,
              oldestShownId(context.clock.now()),
              context.clock.now(),
            );
      return body === null ? notFound("event") : { status: 200, json: body };
    },
  }),
];
