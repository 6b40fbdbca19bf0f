import type { Field, RequestCommand } from "../command.ts";

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
