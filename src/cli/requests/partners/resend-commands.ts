import type { RequestCommand } from "../command.ts";
import { list, time } from "../values.ts";

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
