import { Type } from "typebox";
import { feedPage, oldestShownId, readFeed } from "../../events/event-feed.ts";
import { readEventBody } from "../../events/feed-sql.ts";
import { findOrderId, orderIdFilter } from "../../orders/lists/order-filter.ts";
import { fromTypeId } from "../../platform/ids.ts";
import { isProblem, notFound } from "../../platform/wire/problems.ts";
import { cursorField, describedAs, limitField, nullable } from "../../platform/wire/schemas.ts";
import { EventTypeSchema } from "../../webhooks/endpoints/endpoint.ts";
import { EventSchema } from "./event-schemas.ts";
import { type PartnerRoute, route } from "./partner-route.ts";

const tag = "Events";

const EventPageSchema = Type.Object(
  {
    data: Type.Array(EventSchema, { description: "The events of the page, oldest first." }),
    nextCursor: nullable(
      Type.String(),
      "`cursor` of the next page, now or later. Null at the end of the feed: keep the cursor of this request, and send it again later.",
    ),
  },
  { title: "EventPage", description: "A page of the feed." },
);

/** The event feed, for polling and reconciliation. Decision 0027. */
export const eventRoutes: readonly PartnerRoute[] = [
  route({
    method: "GET",
    path: "/v1/events",
    operationId: "listEvents",
    isList: true,
    tag,
    summary: "List events",
    description:
      "Every event of the last 30 days, exactly as it is delivered. New events are only ever added at the end. To follow the feed, continue from the last `nextCursor` that was not null. With a filter, a page before the end may have fewer items than `limit`, or none. `timestamp` may decrease slightly from one event to the next.",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      orderId: orderIdFilter,
      type: Type.Optional(describedAs(EventTypeSchema, "Only events of this type.")),
    }),
    responses: { 200: { description: "A page of events.", schema: EventPageSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context, readOrder }) => {
      const page = feedPage(query);
      if (isProblem(page)) return page;
      const orderId = await findOrderId(readOrder, caller, query.orderId);
      if (orderId === undefined) return { status: 200, json: '{"data":[],"nextCursor":null}' };
      const filter = { orderId, type: query.type ?? null };
      return {
        status: 200,
        json: await readFeed(context, caller, page, filter),
      };
    },
  }),
  route({
    method: "GET",
    path: "/v1/events/{eventId}",
    operationId: "getEvent",
    tag,
    summary: "Get an event",
    params: Type.Object({ eventId: Type.String({ description: "Id of the event." }) }),
    responses: { 200: { description: "The event, exactly as it is delivered.", schema: EventSchema } },
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
