import { type TSchema, Type } from "typebox";
import type { Json, NameSchema } from "../http/openapi/components.ts";
import { jsonContent } from "../http/openapi/document.ts";
import type { MakeExample } from "../http/openapi/examples.ts";
import { canceledFields, OrderSchema, ShipmentSchema } from "../orders/order-wire.ts";
import { findOrderId, orderIdFilter } from "../orders/reading/list-conditions-sql.ts";
import { fromTypeId } from "../platform/ids.ts";
import { isProblem, notFound } from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  idField,
  limitField,
  nullable,
} from "../platform/wire/schemas.ts";
import { PartnerProductSchema } from "../products/product.ts";
import { EventTypeSchema } from "../webhooks/endpoints/endpoint.ts";
import { DEFAULT_EVENT_TYPES, EVENT_MEANINGS, type EventType, PING } from "../webhooks/events/event.ts";
import { feedPage, oldestShownId, readFeed } from "../webhooks/events/event-feed.ts";
import { readEventBody } from "../webhooks/events/feed-sql.ts";
import { type PartnerRoute, route } from "./partner-route.ts";

const order = describedAs(OrderSchema, "The order after the event.");
const ofOrder = { order };
const ofShipment = { order, shipment: describedAs(ShipmentSchema, "The shipment after the event.") };
const ofProduct = { product: describedAs(PartnerProductSchema, "The product at the time of the event.") };
/** The content of a ping. */
export const ofEndpoint = {
  endpoint: Type.Object(
    {
      id: idField("whe", "Id of the endpoint."),
      url: Type.String({
        description: "Address of the endpoint.",
        examples: ["https://partner.example/webhooks"],
      }),
    },
    { title: "PingedEndpoint", description: "The endpoint that the event is sent to." },
  ),
};
/** A ping of a certification asks for an answer. */
const ofPing = {
  ...ofEndpoint,
  certification: Type.Optional(
    Type.Object(
      {
        id: idField("crt", "Id of the certification."),
        challenge: Type.String({
          description:
            "What the answer proves: its member `challenge` is the HMAC-SHA256 of `certification.` and this text, with the signing secret of the endpoint, in lower-case hex.",
          examples: ["5f2b0c4d9e8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c"],
        }),
        orderIds: Type.Array(idField("test", "Id of a test order."), {
          description:
            "Orders of which the answer says what the receiver has stored, in its member `orders`: by id, `status`, `sequence` and `handled`, the number of events that it has acted on.",
        }),
      },
      {
        title: "CertificationQuestion",
        description: "What a certification asks the receiver. The response is its answer, as JSON.",
      },
    ),
  ),
};

/** The `data` of each type of event. */
const EVENT_DATA: Readonly<Record<EventType | typeof PING, Readonly<Record<string, TSchema>>>> = {
  "order.created": ofOrder,
  "order.canceled": ofOrder,
  "order.onHold": ofOrder,
  "order.onHoldReleased": ofOrder,
  "order.shipmentCreated": ofShipment,
  "order.shipmentReturned": ofShipment,
  "order.completed": ofOrder,
  "product.published": ofProduct,
  "order.accepted": ofOrder,
  "order.inProgress": ofOrder,
  "order.shipmentUpdated": ofShipment,
  "order.paymentFailed": ofOrder,
  "order.linesCanceled": { order, ...canceledFields },
  [PING]: ofPing,
};

type AnyEventType = keyof typeof EVENT_DATA;
const ANY_EVENT_TYPES = Object.keys(EVENT_DATA) as AnyEventType[]; // The table's own keys.

/** `order.onHoldReleased` becomes `OrderOnHoldReleasedEvent`. */
const titleOf = (type: AnyEventType): string =>
  `${type.replace(/(?:^|\.)([a-z])/g, (_match, letter: string) => letter.toUpperCase())}Event`;

const eventSchema = (type: AnyEventType): TSchema =>
  Type.Object(
    {
      id: idField("evt", "Id of the event. It is also the `webhook-id` of its deliveries."),
      type: Type.Literal(type, { description: `Always \`${type}\`.` }),
      timestamp: dateTime("When the event happened."),
      testMode: Type.Boolean({ description: "True if the event is about a test order." }),
      connectionId: idField("con", "Id of the connection."),
      sequence: nullable(
        Type.Integer(),
        "Counts the events of the order: 1, 2, 3 and so on. Null if the event is not about an order, and for the types that endpoints must name.",
      ),
      data: Type.Object(EVENT_DATA[type], {
        description: "The objects of the event, as they were when it happened.",
      }),
    },
    { title: titleOf(type), description: EVENT_MEANINGS[type] },
  );

/**
 * The event of each type, as endpoints receive it. See
 * docs/design/event-feed.md, "The body is built once", and docs/design/api-conventions.md, "OpenAPI from the route table".
 */
export const EVENT_SCHEMAS: ReadonlyMap<AnyEventType, TSchema> = new Map(
  ANY_EVENT_TYPES.map((type) => [type, eventSchema(type)]),
);

/** Any event. It is returned as the text that was stored; the schema describes it. */
export const EventSchema = Type.Unsafe<unknown>({
  title: "Event",
  description:
    "A fact that is published to partners. An event never changes. More types may be added: ignore those that you do not know.",
  oneOf: [...EVENT_SCHEMAS.values()],
  discriminator: {
    propertyName: "type",
    mapping: Object.fromEntries(
      ANY_EVENT_TYPES.map((type) => [type, `#/components/schemas/${titleOf(type)}`]),
    ),
  },
});

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

/** The event feed, for polling and reconciliation. See docs/design/event-feed.md, "Positions when read". */
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

/** The header fields that sign a request (Standard Webhooks 1.0.0; docs/design/signing.md, "Standard Webhooks"). */
const HEADERS = {
  "webhook-id": {
    description: "Id of the event. It is the same in every attempt and at every endpoint.",
    example: "evt_01m7y7np16fe68bxp4h91tdmdn",
  },
  "webhook-timestamp": {
    description: "Time of this attempt, in seconds since 1970.",
    example: "1772442000",
  },
  "webhook-signature": {
    description: "One or more signatures of Standard Webhooks 1.0.0, separated by spaces.",
    example: "v1,p50FFZfo0W+Yn8nIPD29J7Prnc8IiOfxCCbvi07unBk=",
  },
};

const RESPONSES = {
  "2XX": { description: "The endpoint has received the event. A body is ignored." },
  "410": { description: "The endpoint wants no more events. The service pauses it." },
  "4XX": { description: "The attempt failed, and is repeated later." },
  "5XX": {
    description: "The attempt failed, and is repeated later. `Retry-After` on 429 and 503 is obeyed.",
  },
};

const received = (type: string): string => {
  if (type === PING) return "Sent by request, to one endpoint.";
  return (DEFAULT_EVENT_TYPES as readonly string[]).includes(type)
    ? "Endpoints receive it unless they name other types."
    : "Only endpoints that name this type receive it.";
};

/** The `webhooks` of the partner's document. */
export const describedWebhooks = (name: NameSchema, example: MakeExample): Json =>
  describeWebhooks(EVENT_SCHEMAS, (type) => `${EVENT_MEANINGS[type]} ${received(type)}`, { name, example });

/** The `webhooks` of a document: the request that an endpoint receives for each type of event. */
export const describeWebhooks = <EventName extends string>(
  schemas: ReadonlyMap<EventName, TSchema>,
  describe: (type: EventName) => string,
  { name, example }: { readonly name: NameSchema; readonly example: MakeExample },
): Json =>
  Object.fromEntries(
    [...schemas].map(([type, schema]) => [
      type,
      {
        post: {
          operationId: `on${type.replace(/(?:^|\.)([a-z])/g, (_match, letter: string) => letter.toUpperCase())}`,
          summary: `Receive ${type}`,
          description: describe(type),
          tags: ["Events"],
          security: [],
          parameters: Object.entries(HEADERS).map(([header, described]) => ({
            name: header,
            in: "header",
            required: true,
            schema: { type: "string" },
            ...described,
          })),
          requestBody: { required: true, content: jsonContent(schema, name, example) },
          responses: RESPONSES,
        },
      },
    ]),
  );
