import { type Static, Type } from "typebox";
import { DEFAULT_EVENT_TYPES } from "../../events/event-types.ts";
import type { KeyAccess } from "../../merchants/key-mode.ts";
import { EVENTS_KEPT_MS } from "../../platform/retention.ts";
import { parseTime } from "../../platform/time.ts";
import type { ValidationError } from "../../platform/wire/problems.ts";
import { dateTime, describedAs, nullable } from "../../platform/wire/schemas.ts";
import { OVERLAP_HOURS_DEFAULT, OVERLAP_HOURS_MAX } from "../secrets/rotate-secret.ts";
import {
  ENDPOINT_TEXTS,
  EndpointModeSchema,
  type EndpointSettings,
  EventTypeSchema,
  IN_FLIGHT_MAX_DEFAULT,
  IN_FLIGHT_MAX_LIMIT,
  type NewEndpoint,
} from "./endpoint.ts";
import { endpointUrlError } from "./public-address.ts";

const urlField = Type.String({
  description: ENDPOINT_TEXTS.url,
  examples: ["https://partner.example/webhooks"],
});
const descriptionField = nullable(
  Type.String({ maxLength: 255, format: "text" }),
  ENDPOINT_TEXTS.description,
);
const EVENT_TYPES_TEXT = `${ENDPOINT_TEXTS.eventTypes} Duplicates are ignored.`;
const eventTypesField = Type.Array(EventTypeSchema, {
  minItems: 1,
  maxItems: 100,
  description: EVENT_TYPES_TEXT,
});
const maxInFlightField = Type.Integer({
  minimum: 1,
  maximum: IN_FLIGHT_MAX_LIMIT,
  description: `${ENDPOINT_TEXTS.maxInFlight} Default at creation: ${IN_FLIGHT_MAX_DEFAULT}.`,
});

export const EndpointRequestSchema = Type.Object(
  {
    url: urlField,
    description: Type.Optional(descriptionField),
    eventTypes: Type.Optional({
      ...eventTypesField,
      description: `${EVENT_TYPES_TEXT} Default: every type except \`order.accepted\`, \`order.inProgress\`, \`order.shipmentUpdated\` and \`order.paymentFailed\`, which must be named.`,
    }),
    maxInFlight: Type.Optional(maxInFlightField),
    mode: Type.Optional(
      describedAs(EndpointModeSchema, "Default: `live`. A test key creates test endpoints only."),
    ),
  },
  { title: "WebhookEndpointRequest", description: "A new endpoint." },
);

export const EndpointChangeSchema = Type.Object(
  {
    url: Type.Optional(urlField),
    description: Type.Optional(descriptionField),
    eventTypes: Type.Optional(eventTypesField),
    maxInFlight: Type.Optional(maxInFlightField),
  },
  {
    title: "WebhookEndpointUpdate",
    description: "Changes of an endpoint. Absent fields keep their values.",
  },
);

export const PingSchema = Type.Object(
  {
    type: Type.Optional(
      describedAs(
        EventTypeSchema,
        "The type to send a sample of, whatever types the endpoint receives. Without it, the event is a `webhook.ping`.",
      ),
    ),
  },
  { title: "PingRequest", description: "Which test event to send." },
);

export const RotationSchema = Type.Object(
  {
    overlapHours: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: OVERLAP_HOURS_MAX,
        default: OVERLAP_HOURS_DEFAULT,
        description:
          "Hours during which older secrets sign beside the new one, at most. 0 ends them at once, for example after a leak.",
      }),
    ),
  },
  { title: "SecretRotation", description: "How to replace a signing secret." },
);

export const RecoveryRequestSchema = Type.Object(
  { since: dateTime("Failed deliveries of events from this time on are sent again. At most 30 days ago.") },
  { title: "RecoveryRequest", description: "Which failed deliveries to send again." },
);

/** Absent fields get their defaults. */
export const newSettings = (request: Static<typeof EndpointRequestSchema>): NewEndpoint => ({
  url: request.url,
  description: request.description ?? null,
  eventTypes: [...new Set(request.eventTypes ?? DEFAULT_EVENT_TYPES)],
  inFlightMax: request.maxInFlight ?? IN_FLIGHT_MAX_DEFAULT,
  mode: request.mode ?? "live",
});

/** Absent fields are not changed. */
export const changedSettings = ({
  url,
  description,
  eventTypes,
  maxInFlight,
}: Static<typeof EndpointChangeSchema>): Partial<EndpointSettings> => ({
  ...(url !== undefined && { url }),
  ...(description !== undefined && { description }),
  ...(eventTypes !== undefined && { eventTypes: [...new Set(eventTypes)] }),
  ...(maxInFlight !== undefined && { inFlightMax: maxInFlight }),
});

/** The first endpoint that a developer registers is often a receiver of its own machine (decision 0079). */
const FOR_DEVELOPMENT =
  "; a service for development accepts it if it was started with WEBHOOK_ALLOW_PRIVATE_NETWORKS=true";

/** The errors of a URL that a schema cannot find. */
export function urlErrors(body: unknown, allowPrivateNetworks: boolean): ValidationError[] {
  const { url } = (body ?? {}) as { url?: unknown }; // The body may have any form; a missing member is undefined.
  const detail = typeof url === "string" ? endpointUrlError(url, allowPrivateNetworks) : null;
  if (typeof url !== "string" || detail === null) return [];
  const isLifted = !allowPrivateNetworks && endpointUrlError(url, true) === null;
  return [{ pointer: "/url", detail: isLifted ? `${detail}${FOR_DEVELOPMENT}` : detail }];
}

/** The errors of the mode of a new endpoint: a request means the same with every key (decision 0074). */
export function modeErrors(body: unknown, { testOnly }: KeyAccess): ValidationError[] {
  const { mode = "live" } = (body ?? {}) as { mode?: unknown }; // As above.
  return testOnly && mode === "live"
    ? [{ pointer: "/mode", detail: "must be test, because the key is a test key" }]
    : [];
}

/** The errors of the start of a recovery. */
export function sinceErrors(body: unknown, now: Date): ValidationError[] {
  const { since } = (body ?? {}) as { since?: unknown }; // As above.
  if (typeof since !== "string") return [];
  const ageMs = now.getTime() - parseTime(since).getTime();
  if (ageMs >= 0 && ageMs <= EVENTS_KEPT_MS) return [];
  const detail = ageMs > EVENTS_KEPT_MS ? "must be at most 30 days ago" : "must not be in the future";
  return [{ pointer: "/since", detail }];
}
