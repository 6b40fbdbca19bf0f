import type { RequestCommand } from "../command.ts";
import { time, yesOrNo } from "../values.ts";

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
