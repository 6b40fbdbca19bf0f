import type { Field, RequestCommand } from "../command.ts";
import { list, orEmpty, time, wholeNumber } from "../values.ts";

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
