import { Type } from "typebox";
import { readRecentEvents, recentPage } from "../../../events/recent-events.ts";
import { keyOf } from "../../../merchants/connection.ts";
import { findOrderId, orderIdFilter } from "../../../orders/lists/order-filter.ts";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import { cursorField, describedAs, flagField, limitField, pageOf } from "../../../platform/wire/schemas.ts";
import { EventTypeSchema } from "../../../webhooks/endpoints/endpoint.ts";
import { EventSchema } from "../../partner/event-schemas.ts";
import { asPartnersSee } from "../../partner-schema.ts";
import { andPartner, type BackOfficeRoute, merchantSide, route } from "../access.ts";
import { ConnectionIdParams, findConnection } from "../lookups.ts";
import { recordReads } from "../orders/record-reads.ts";

/** The events of a connection, for people who look at what happens. Decision 0141. */
export const eventRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/connections/{id}/events",
    operationId: "listEvents",
    admits: andPartner(merchantSide),
    tag: "Events",
    summary: "List a connection's events",
    description:
      "Newest first, those of the last 30 days, exactly as they are delivered. An event contains the order with its address, so the audit log records who reads it. A page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null. A program that must miss no event follows `GET /v1/events` instead.",
    params: ConnectionIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      orderId: orderIdFilter,
      type: Type.Optional(describedAs(EventTypeSchema, "Only events of this type.")),
      testMode: flagField("True: only events of test orders. False: only others."),
    }),
    responses: {
      200: {
        description: "A page of events.",
        schema: pageOf(asPartnersSee(EventSchema), "EventPage"),
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query, by }, { context, readOrder }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const page = recentPage(query);
      if (isProblem(page)) return page;
      const key = keyOf(connection);
      const orderId = await findOrderId(readOrder, key, query.orderId);
      if (orderId === undefined) return { status: 200, json: '{"data":[],"nextCursor":null}' };
      const filter = { orderId, type: query.type ?? null, testMode: query.testMode ?? null };
      const { json, orders } = await readRecentEvents(context, key, filter, page);
      for (const testMode of [true, false])
        await recordReads(context, by, {
          orders: orders.filter((order) => order.testMode === testMode),
          testMode,
        });
      return { status: 200, json };
    },
  }),
];
