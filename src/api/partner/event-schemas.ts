import { type TSchema, Type } from "typebox";
import { EVENT_MEANINGS, type EventType, PING } from "../../events/event-types.ts";
import { OrderSchema, ShipmentSchema } from "../../orders/order-wire.ts";
import { dateTime, describedAs, idField, nullable } from "../../platform/wire/schemas.ts";
import { PartnerProductSchema } from "../../products/product.ts";

const order = describedAs(OrderSchema, "The order after the event.");
const ofOrder = { order };
const ofShipment = { order, shipment: describedAs(ShipmentSchema, "The shipment after the event.") };
const ofProduct = { product: describedAs(PartnerProductSchema, "The product at the time of the event.") };
const ofEndpoint = {
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
  [PING]: ofEndpoint,
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

/** The event of each type, as endpoints receive it. Decisions 0021 and 0078. */
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
