import { type TSchema, Type } from "typebox";
import type { Json, NameSchema } from "../http/openapi/components.ts";
import type { MakeExample } from "../http/openapi/examples.ts";
import { describeWebhooks, ofEndpoint } from "../partner-api/events.ts";
import { dateTime, describedAs, idField, nullable } from "../platform/wire/schemas.ts";
import {
  BACK_OFFICE_EVENT_MEANINGS,
  BACK_OFFICE_EVENT_TYPES,
  type BackOfficeEventType,
} from "../webhooks/events/back-office-event.ts";
import { EVENT_MEANINGS, PING } from "../webhooks/events/event.ts";
import { ChargeSchema } from "./money/charge-wire.ts";
import { RefundSchema } from "./money/refund-wire.ts";
import { BackOfficeShipmentSchema, OrderSummarySchema, ReturnSchema } from "./orders/order-wire.ts";
import { StockSchema } from "./stock.ts";

const ofOrder = {
  order: describedAs(
    OrderSummarySchema,
    "The order when the event was published. `goods` is null for a facility.",
  ),
};

/** The `data` of each type of event. */
const EVENT_DATA: Readonly<Record<BackOfficeEventType | typeof PING, Readonly<Record<string, TSchema>>>> = {
  "order.created": ofOrder,
  "order.held": ofOrder,
  "order.released": ofOrder,
  "order.readyToShip": ofOrder,
  "order.withdrawn": {
    order: Type.Object(
      { id: idField("ord", "Id of the order.") },
      { title: "WithdrawnOrder", description: "The order, which the facility does not see any more." },
    ),
  },
  "order.shipped": { ...ofOrder, shipment: describedAs(BackOfficeShipmentSchema, "The new shipment.") },
  "shipment.voided": { ...ofOrder, shipment: describedAs(BackOfficeShipmentSchema, "The voided shipment.") },
  "order.linesCanceled": ofOrder,
  "order.completed": ofOrder,
  "order.canceled": ofOrder,
  "charge.failed": { ...ofOrder, charge: describedAs(ChargeSchema, "The declined charge.") },
  "refund.created": { ...ofOrder, refund: describedAs(RefundSchema, "The new refund.") },
  "return.recorded": {
    ...ofOrder,
    return: describedAs(ReturnSchema, "The recorded return. `refundId` is null for a facility."),
  },
  "stock.low": {
    stock: describedAs(StockSchema, "The stock when the event was published."),
    lowStockBelow: Type.Integer({
      description: "The `lowStockBelow` of the product, of which fewer units were available.",
    }),
  },
  [PING]: ofEndpoint,
};

type AnyType = keyof typeof EVENT_DATA;
const ANY_TYPES = Object.keys(EVENT_DATA) as AnyType[]; // The table's own keys.

const meaningOf = (type: AnyType): string =>
  type === PING ? EVENT_MEANINGS[PING] : BACK_OFFICE_EVENT_MEANINGS[type];

/** `order.readyToShip` becomes `BackOfficeOrderReadyToShipEvent`: partners have events of the same names. */
const titleOf = (type: AnyType): string =>
  `BackOffice${type.replace(/(?:^|\.)([a-z])/g, (_match, letter: string) => letter.toUpperCase())}Event`;

const eventSchema = (type: AnyType): TSchema =>
  Type.Object(
    {
      id: idField("evt", "Id of the event. It is also the `webhook-id` of its deliveries."),
      type: Type.Literal(type, { description: `Always \`${type}\`.` }),
      timestamp: dateTime("When it happened."),
      merchantId: nullable(Type.String(), "Id of the merchant. Null in the events of a facility."),
      facilityId: nullable(Type.String(), "Id of the facility. Null in the events of a merchant."),
      data: Type.Object(EVENT_DATA[type], {
        description: "The objects of the event, as they were when it was published.",
      }),
    },
    { title: titleOf(type), description: meaningOf(type) },
  );

const EVENT_SCHEMAS: ReadonlyMap<AnyType, TSchema> = new Map(
  ANY_TYPES.map((type) => [type, eventSchema(type)]),
);

/** An event of a merchant or a facility. It is returned as the text that was stored; the schema describes it. */
export const BackOfficeEventSchema = Type.Unsafe<unknown>({
  title: "BackOfficeEvent",
  description:
    "A fact that is published to a merchant or a facility. An event never changes. More types may be added: ignore those that you do not know.",
  oneOf: [...EVENT_SCHEMAS.values()],
  discriminator: {
    propertyName: "type",
    mapping: Object.fromEntries(ANY_TYPES.map((type) => [type, `#/components/schemas/${titleOf(type)}`])),
  },
});

const received = (type: AnyType): string => {
  if (type === PING) return "Sent by request, to one endpoint.";
  const kinds = (["merchant", "facility"] as const).filter((kind) =>
    (BACK_OFFICE_EVENT_TYPES[kind] as readonly string[]).includes(type),
  );
  return `For endpoints of a ${kinds.join(" or a ")}.`;
};

/** The `webhooks` of the document: the request that an endpoint of a merchant or a facility receives for each type of event. */
export const describedWebhooks = (name: NameSchema, example: MakeExample): Json =>
  describeWebhooks(EVENT_SCHEMAS, (type) => `${meaningOf(type)} ${received(type)}`, { name, example });
