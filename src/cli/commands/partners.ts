import { member } from "../present.ts";
import type { Field, RequestCommand } from "./command.ts";
import { ADDRESS, TRACKING } from "./orders.ts";
import {
  lineQuantities,
  list,
  orderedProducts,
  orEmpty,
  textsByName,
  time,
  wholeNumber,
  yesOrNo,
} from "./values.ts";

/** The delivery log. */
export const DELIVERY_COMMANDS: readonly RequestCommand[] = [
  {
    words: "delivery list-all",
    operationId: "listAllDeliveries",
    fields: [
      { name: "merchantId", flag: "--merchant <merchant>", help: "only deliveries of this merchant" },
      { name: "status", flag: "--status <status>", help: "pending, succeeded or failed" },
      { name: "eventType", flag: "--type <type>", help: "only deliveries of events of this type" },
      { name: "since", flag: "--since <time>", help: "only events from this time on", read: time },
      { name: "until", flag: "--until <time>", help: "only events before this time", read: time },
    ],
    columns: ["id", "connectionName", "eventType", "orderId", "status", "createdAt", "nextAttemptAt"],
  },
  {
    words: "delivery list",
    operationId: "listDeliveries",
    fields: [
      { name: "status", flag: "--status <status>", help: "pending, succeeded or failed" },
      { name: "orderId", flag: "--order <order>", help: "only deliveries about this order" },
      { name: "endpointId", flag: "--endpoint <endpoint>", help: "only deliveries to this endpoint" },
      { name: "eventId", flag: "--event <event>", help: "only deliveries of this event" },
      { name: "eventType", flag: "--type <type>", help: "only deliveries of events of this type" },
      { name: "since", flag: "--since <time>", help: "only events from this time on", read: time },
      { name: "until", flag: "--until <time>", help: "only events before this time", read: time },
      {
        name: "hasFailedAttempts",
        flag: "--has-failed-attempts <yes|no>",
        help: "only deliveries with, or without, a failed attempt",
        read: yesOrNo,
      },
    ],
    columns: ["id", "eventType", "orderId", "status", "createdAt", "nextAttemptAt", "attempts"],
  },
  { words: "delivery show", operationId: "getDelivery" },
  { words: "delivery redeliver", operationId: "redeliverDelivery" },
];

const COLUMNS = [
  "id",
  "connectionId",
  "mode",
  "health",
  "url",
  "consecutiveFailures",
  "lastSuccessAt",
  "pendingDeliveries",
];
const since: Field = {
  name: "since",
  flag: "--since <time>",
  help: "events from this time on, at most 30 days ago",
  read: time,
};

const settings = (eventTypes: string): readonly Field[] => [
  { name: "url", flag: "--url <address>", help: "where events are sent to" },
  {
    name: "description",
    flag: "--description <text>",
    help: "what the endpoint is for; an empty text removes it",
    read: orEmpty,
  },
  { name: "eventTypes", flag: "--event-types <types>", help: eventTypes, read: list },
  {
    name: "maxInFlight",
    flag: "--max-in-flight <count>",
    help: "requests at a time, 1 to 100",
    read: wholeNumber,
  },
];
const secret = {
  note: "The secret is shown only this once. Store it now.",
  ifLost: (id: string) => `The secret is lost: make another one with \`endpoint rotate-secret ${id}\`.`,
};

/** The webhook endpoints of partners. */
export const ENDPOINT_COMMANDS: readonly RequestCommand[] = [
  { words: "endpoint list", operationId: "listWebhookEndpoints", columns: COLUMNS },
  {
    words: "endpoint list-all",
    operationId: "listAllWebhookEndpoints",
    fields: [
      { name: "merchantId", flag: "--merchant <merchant>", help: "only endpoints of this merchant" },
      {
        name: "health",
        flag: "--health <health>",
        help: "only healthy, failing, backing_off or paused ones; unhealthy: all but the healthy ones",
      },
      { name: "mode", flag: "--mode <mode>", help: "only live ones, or only test ones" },
    ],
    columns: COLUMNS,
  },
  { words: "endpoint show", operationId: "getWebhookEndpoint" },
  {
    words: "endpoint create",
    operationId: "createWebhookEndpoint",
    secret,
    fields: [
      ...settings("types of events, separated by commas; those of the specification by default"),
      { name: "mode", flag: "--mode <mode>", help: "live, or test for test orders only; live by default" },
    ],
  },
  {
    words: "endpoint change",
    operationId: "updateWebhookEndpoint",
    fields: settings("types of events, separated by commas"),
  },
  { words: "endpoint delete", operationId: "deleteWebhookEndpoint" },
  {
    words: "endpoint rotate-secret",
    operationId: "rotateWebhookSecret",
    secret,
    fields: [
      {
        name: "overlapHours",
        flag: "--overlap-hours <hours>",
        help: "how long older secrets also sign, 24 by default; 0 ends them at once",
        read: wholeNumber,
      },
    ],
  },
  { words: "endpoint pause", operationId: "pauseWebhookEndpoint" },
  { words: "endpoint resume", operationId: "resumeWebhookEndpoint" },
  { words: "endpoint recover", operationId: "recoverDeliveries", fields: [since] },
  {
    words: "endpoint ping",
    operationId: "pingWebhookEndpoint",
    fields: [
      {
        name: "type",
        flag: "--type <type>",
        help: "sends a sample of this type of event, such as order.accepted",
      },
    ],
  },
];

/** Deliveries that are sent once more, with progress. */
export const RESEND_COMMANDS: readonly RequestCommand[] = [
  {
    words: "resend create",
    operationId: "createResend",
    fields: [
      {
        name: "deliveryIds",
        flag: "--deliveries <deliveries>",
        help: "ids of at most 100 deliveries, separated by commas",
        read: list,
      },
      {
        name: "since",
        flag: "--since <time>",
        help: "instead: deliveries of events from this time on, at most 30 days ago",
        read: time,
      },
      { name: "until", flag: "--until <time>", help: "before this time; now by default", read: time },
      { name: "endpointId", flag: "--endpoint <endpoint>", help: "only deliveries to this endpoint" },
      { name: "eventType", flag: "--type <type>", help: "only deliveries of events of this type" },
      {
        name: "status",
        flag: "--status <status>",
        help: "only deliveries with this status; failed by default",
      },
    ],
  },
  {
    words: "resend list",
    operationId: "listResends",
    columns: [
      "id",
      "status",
      "total",
      "sendingCount",
      "succeededCount",
      "failedCount",
      "skippedCount",
      "createdAt",
    ],
  },
  { words: "resend show", operationId: "getResend" },
  { words: "resend cancel", operationId: "cancelResend" },
];

const argument = "order";

/** The sandbox of a connection: its test orders, what it can order, and what was published to it. */
export const SANDBOX_COMMANDS: readonly RequestCommand[] = [
  {
    words: "connection products",
    operationId: "listExposedProducts",
    fields: [
      { name: "sku", flag: "--sku <sku>", help: "only products with this SKU" },
      { name: "status", flag: "--status <status>", help: "only active, or only discontinued ones" },
      { name: "q", flag: "--search <text>", help: "part of the SKU or of the name" },
    ],
    columns: ["id", "sku", "name", "status"],
  },
  {
    words: "event list",
    operationId: "listEvents",
    fields: [
      {
        name: "orderId",
        flag: "--order <order>",
        help: "only events of this order: its id, or the partner's own",
      },
      { name: "type", flag: "--type <type>", help: "only events of this type, such as order.created" },
      {
        name: "testMode",
        flag: "--test <yes|no>",
        help: "only events of test orders, or only others",
        read: yesOrNo,
      },
    ],
    columns: ["id", "type", "timestamp", "sequence", member("order", "data.order.id")],
  },
  {
    words: "test-order create",
    operationId: "createTestOrder",
    fields: [
      {
        name: "lines",
        flag: "--lines <lines>",
        help: 'products with their quantities, such as "019f... 2", separated by commas',
        read: orderedProducts,
      },
      ...ADDRESS.map((field): Field => ({ ...field, name: `shippingAddress.${field.name}` })),
      { name: "externalOrderId", flag: "--external-id <id>", help: "the partner's own id of the order" },
      { name: "note", flag: "--note <text>", help: "a message to the people who handle the order" },
      {
        name: "metadata",
        flag: "--metadata <pairs>",
        help: "the partner's own data, such as color=red, separated by commas",
        read: textsByName,
      },
    ],
  },
  {
    words: "test-order list",
    operationId: "listTestOrders",
    fields: [
      { name: "status", flag: "--status <status>", help: "only test orders with this status" },
      {
        name: "onHold",
        flag: "--on-hold <yes|no>",
        help: "only test orders on hold, or only others",
        read: yesOrNo,
      },
    ],
    columns: ["id", "externalOrderId", "status", "onHoldReasons", "createdAt"],
  },
  { words: "test-order show", argument, operationId: "getTestOrder" },
  {
    words: "test-order move",
    argument,
    operationId: "transitionTestOrder",
    fields: [
      {
        name: "transition",
        flag: "--transition <name>",
        help: "process, accept, hold, releaseHold, ship, returnShipment, complete or cancel",
      },
      {
        name: "reasons",
        flag: "--reasons <reasons>",
        help: "for hold: reasons, separated by commas; out_of_stock by default",
        read: list,
      },
      {
        name: "lineIds",
        flag: "--line-ids <lines>",
        help: "for ship: ids of lines, separated by commas; all unshipped ones by default",
        read: list,
      },
      {
        name: "lines",
        flag: "--lines <lines>",
        help: 'for ship: lines with the units that ship, such as "line_... 3", separated by commas',
        read: lineQuantities,
      },
      ...TRACKING,
      {
        name: "shipmentId",
        flag: "--shipment <shipment>",
        help: "for returnShipment: the shipment; the newest that is out by default",
      },
    ],
  },
  { words: "test-order cancel", argument, operationId: "cancelTestOrder" },
];
