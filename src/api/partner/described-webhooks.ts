import { DEFAULT_EVENT_TYPES, EVENT_MEANINGS, PING } from "../../events/event-types.ts";
import type { Json, NameSchema } from "../openapi/components.ts";
import { jsonContent } from "../openapi/document.ts";
import type { MakeExample } from "../openapi/examples.ts";
import { EVENT_SCHEMAS } from "./event-schemas.ts";

/** The header fields that sign a request (Standard Webhooks 1.0.0, decision 0035). */
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

/** The `webhooks` of the partner's document: the request that an endpoint receives for each type of event. */
export const describedWebhooks = (name: NameSchema, example: MakeExample): Json =>
  Object.fromEntries(
    [...EVENT_SCHEMAS].map(([type, schema]) => [
      type,
      {
        post: {
          operationId: `on${type.replace(/(?:^|\.)([a-z])/g, (_match, letter: string) => letter.toUpperCase())}`,
          summary: `Receive ${type}`,
          description: `${EVENT_MEANINGS[type]} ${received(type)}`,
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
