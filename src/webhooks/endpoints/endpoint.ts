import { type Static, type TSchema, Type } from "typebox";
import type { AuditFact } from "../../audit/audit-sql.ts";
import { type KeyMode, ModeSchema } from "../../merchants/api-key.ts";
import { toTypeId } from "../../platform/ids.ts";
import {
  dateTime,
  describedAs,
  enumeration,
  idField,
  nullable,
  nullableTime,
} from "../../platform/wire/schemas.ts";
import {
  BACK_OFFICE_EVENT_MEANINGS,
  BACK_OFFICE_EVENT_TYPES,
  type BackOfficeEventType,
} from "../events/back-office-event.ts";
import { EVENT_MEANINGS, EVENT_TYPES, type EventType, OPT_IN_EVENT_TYPES, PING } from "../events/event.ts";
import { factOfOwner, type OwnerKind } from "../owner.ts";
import { type Behind, PENDING_COUNT_MAX, type ShownHealth } from "./shown-health-sql.ts";
import { headersField, maskedHeaders, type SealedHeaders, type StaticHeaders } from "./static-headers.ts";

/**
 * `gone`: it returned 410. `failing`: it had no success for days. `requested`: the back office paused it. `access-ended`: a token has
 * ended that had set its address or its secret.
 */
const PAUSE_REASONS = ["gone", "failing", "requested", "access-ended"] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

export const IN_FLIGHT_MAX_DEFAULT = 8;
export const IN_FLIGHT_MAX_LIMIT = 100;

/** `push`: workers send to its URL. `pull`: clients of the owner lease its deliveries. */
const ENDPOINT_KINDS = ["push", "pull"] as const;
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];

/** Where the events of its owner are delivered (`owner.ts`). Never a deleted one. */
export type Endpoint = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  /** Counts the endpoints of the owner; part of the ids of its deliveries (docs/design/deliveries.md, "Delivery ids"). */
  readonly number: number;
  /** Set at creation. */
  readonly kind: EndpointKind;
  /** Null of a pull endpoint. */
  readonly url: string | null;
  readonly description: string | null;
  readonly eventTypes: readonly EndpointEventType[];
  /**
   * Set at creation. Of a test endpoint, only events of test orders are published to it
   * (docs/design/isolation-and-limits.md, "Live and test keys").
   */
  readonly mode: KeyMode;
  readonly status: "active" | "paused";
  /** Null while it is active, like `pausedAt`. */
  readonly pauseReason: PauseReason | null;
  readonly pausedAt: Date | null;
  readonly inFlightMax: number;
  readonly headers: SealedHeaders;
  /** Where warnings about it go, beside the people who get them anyway. */
  readonly alertEmail: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Identifies an endpoint. */
export type EndpointKey = Pick<Endpoint, "merchantId" | "connectionId" | "id">;

/** What a partner sets and may change. */
export type EndpointSettings = Pick<
  Endpoint,
  "url" | "description" | "eventTypes" | "inFlightMax" | "alertEmail"
> & {
  readonly headers: StaticHeaders;
};

/** What a partner sets at the creation. */
export type NewEndpoint = EndpointSettings & Pick<Endpoint, "kind" | "mode">;

/** What the endpoints of any owner can receive. */
export type EndpointEventType = EventType | BackOfficeEventType;

export const ENDPOINT_EVENT_TYPES: readonly EndpointEventType[] = [
  ...new Set([...EVENT_TYPES, ...Object.values(BACK_OFFICE_EVENT_TYPES).flat()]),
];

const MEANINGS = { ...BACK_OFFICE_EVENT_MEANINGS, ...EVENT_MEANINGS };
const meaningsOf = (types: readonly (EndpointEventType | typeof PING)[]): string[] =>
  types.map((type) => `\`${type}\`: ${MEANINGS[type]}`);

const SENT_TYPES = [...ENDPOINT_EVENT_TYPES, PING] as const;

/** What deliveries are of: events, and pings. */
export const SentTypeSchema = enumeration(
  "SentType",
  SENT_TYPES,
  ["A type of event, or that of a ping. More values may be added.", ...meaningsOf(SENT_TYPES)].join(" "),
);

export const EventTypeSchema = enumeration(
  "EventType",
  EVENT_TYPES,
  [
    "A type of event. More values may be added.",
    ...meaningsOf(EVENT_TYPES),
    `Endpoints receive these only if they name them: ${OPT_IN_EVENT_TYPES.map((type) => `\`${type}\``).join(", ")}.`,
  ].join(" "),
);

const backOfficeTypes = (title: string, types: readonly EndpointEventType[]) =>
  enumeration(
    title,
    types,
    [
      "A type of event. More values may be added.",
      ...types.map((type) => `\`${type}\`: ${{ ...EVENT_MEANINGS, ...BACK_OFFICE_EVENT_MEANINGS }[type]}`),
    ].join(" "),
  );

/** What the endpoints of each kind of owner can name. */
export const EVENT_TYPE_SCHEMAS = {
  connection: EventTypeSchema,
  merchant: backOfficeTypes("MerchantEventType", BACK_OFFICE_EVENT_TYPES.merchant),
  facility: backOfficeTypes("FacilityEventType", BACK_OFFICE_EVENT_TYPES.facility),
} as const satisfies Record<OwnerKind, TSchema>;

/** What the endpoints of any owner have named. */
export const EndpointEventTypeSchema = enumeration(
  "WebhookEventType",
  ENDPOINT_EVENT_TYPES,
  [
    "A type of event: of partners, of merchants, or of facilities. More values may be added.",
    ...meaningsOf(ENDPOINT_EVENT_TYPES),
  ].join(" "),
);

/** The descriptions of fields that both an endpoint and the request for one have. */
export const ENDPOINT_TEXTS = {
  url: "Address that events are sent to. It begins with https:// and must lead to a public address.",
  urlShown:
    "Address that events are sent to. It begins with https:// and must lead to a public address. Null of a pull endpoint.",
  description: "A note for people. Null if there is none.",
  eventTypes: "Event types to deliver.",
  maxInFlight:
    "Maximum number of concurrent requests to the endpoint. Of a pull endpoint, of deliveries that are leased at the same time.",
  alertEmail:
    "Mail address that gets a warning when a live endpoint fails for a day, for three days, and when it is paused, beside the merchant and the people of the partner. A few mails a day at most. Null if there is none.",
} as const;

export const EndpointKindSchema = enumeration(
  "WebhookEndpointKind",
  ENDPOINT_KINDS,
  "`push`: the service sends events to `url`. `pull`: it has no `url`, and a program leases deliveries and acknowledges them. It is set at the creation and cannot be changed.",
);

export const EndpointModeSchema = describedAs(
  ModeSchema,
  "`live`: the endpoint receives the events of real orders and test orders, and those about no order. `test`: only events of test orders. It is set at the creation and cannot be changed.",
);

/** What only the back office shows of the health of an endpoint. */
export const endpointHealthFields = {
  failingSince: nullableTime("The first failed attempt since the last success. Null if none has failed."),
  lastFailureAt: nullableTime("The last failed attempt. It stays after a success. Null if there is none."),
  lastError: nullable(
    Type.String({ examples: ["HTTP 503"] }),
    "Why that attempt failed, as a fixed phrase for people. Null if there is none.",
  ),
  nextAttemptAt: nullableTime(
    "When the next attempt is planned; in the past if it waits for its turn. Null if none is planned.",
  ),
} as const;
const EndpointHealthSchema = Type.Object(endpointHealthFields);

const endpointFields = {
  id: idField("whe", "Id of the endpoint, set by the service."),
  kind: EndpointKindSchema,
  url: nullable(Type.String(), ENDPOINT_TEXTS.urlShown),
  description: nullable(Type.String(), ENDPOINT_TEXTS.description),
  eventTypes: Type.Array(EventTypeSchema, { description: ENDPOINT_TEXTS.eventTypes }),
  mode: EndpointModeSchema,
  status: enumeration(
    "WebhookEndpointStatus",
    ["active", "paused"],
    "`active`: events are sent. `paused`: nothing is sent until the endpoint is resumed. The service pauses an endpoint, or the merchant or the operator; the partner can resume it.",
  ),
  pauseReason: nullable(
    enumeration(
      "WebhookEndpointPauseReason",
      PAUSE_REASONS,
      "`gone`: the endpoint returned 410. `failing`: no delivery has succeeded for days. `requested`: the merchant or the operator paused it. `access-ended`: the address or the secret was set with access of the merchant that has ended. More values may be added.",
    ),
    "Why the endpoint was paused. Null while it is active.",
  ),
  pausedAt: nullableTime("When the endpoint was paused. Null while it is active."),
  maxInFlight: Type.Integer({ description: ENDPOINT_TEXTS.maxInFlight }),
  headers: headersField,
  alertEmail: nullable(Type.String(), ENDPOINT_TEXTS.alertEmail),
  lastSuccessAt: nullableTime(
    "When the endpoint last accepted an event, to the hour. The first success, and the first after a failure, are stored at once. Null before the first one. The service sets it.",
  ),
  consecutiveFailures: Type.Integer({
    minimum: 0,
    description:
      "Failed attempts since the last success. From 10 on, the service backs off. Attempts that were in flight when a backoff began do not count.",
  }),
  backingOffUntil: nullableTime(
    "Nothing is sent to the endpoint until this time, because it keeps failing. Null if it is not backing off. A ping or a redelivery ends the backoff.",
  ),
  pendingDeliveries: nullable(
    Type.Integer({ minimum: 0 }),
    `Deliveries that the service sends or retries, counted up to ${PENDING_COUNT_MAX.toLocaleString("en")}. Of each order, the first pending one counts. Null while the endpoint is paused: its deliveries wait in the log.`,
  ),
  behind: nullable(
    Type.Object(
      {
        orders: Type.Integer({ minimum: 0, description: "Orders that have a pending delivery." }),
        events: Type.Integer({ minimum: 0, description: "Pending deliveries of these orders." }),
        oldestSince: nullableTime("When the oldest of these events happened. Null if there is none."),
      },
      {
        title: "WebhookEndpointBehind",
        description: "How far an endpoint is behind the orders.",
      },
    ),
    `Orders whose newest \`sequence\` the endpoint has not accepted yet, both numbers counted up to ${PENDING_COUNT_MAX.toLocaleString("en")}. Deliveries that failed finally do not count. Null while the endpoint is paused.`,
  ),
  createdAt: dateTime("When the endpoint was created."),
  updatedAt: dateTime("When the endpoint was last changed, paused or resumed."),
};
export const EndpointSchema = Type.Object(endpointFields, {
  title: "WebhookEndpoint",
  description: "Where a connection's events are sent to. The partner changes it.",
});
export const EndpointWithSecretSchema = Type.Object(
  {
    ...endpointFields,
    secret: Type.String({
      description: "Secret that signs the requests to the endpoint. It is shown only in this response.",
      examples: ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"],
    }),
  },
  {
    title: "WebhookEndpointWithSecret",
    description: "An endpoint with its new signing secret.",
  },
);

/** An endpoint after a rotation. */
export const RotatedEndpointSchema = Type.Object(
  {
    ...EndpointWithSecretSchema.properties,
    previousSecretExpiresAt: nullableTime(
      "Until when the secret before the new one also signs. Null if it ended at once.",
    ),
  },
  { title: "RotatedWebhookEndpoint", description: "An endpoint with its new signing secret." },
);
export const ResumedEndpointSchema = Type.Object(
  {
    ...endpointFields,
    requestedAt: dateTime("The time of the request. What became pending later is not counted."),
    deliveryCount: nullable(
      Type.Integer({ minimum: 0 }),
      "How many deliveries the request makes due: of a paused endpoint all that are pending, of an active one the first of each order that waited for a retry, which the later ones follow. What an earlier request has counted is not counted again. Null if there are more than 5,000 to count.",
    ),
  },
  { title: "ResumedWebhookEndpoint", description: "An active endpoint, and how much will be sent to it." },
);

export type WireEndpoint = Omit<Static<typeof EndpointSchema>, "eventTypes"> & {
  eventTypes: EndpointEventType[];
} & Static<typeof EndpointHealthSchema>;

export const toWireEndpoint = (
  endpoint: Endpoint,
  health: ShownHealth | undefined,
  now: Date,
): WireEndpoint => ({
  id: wireEndpointId(endpoint.id),
  kind: endpoint.kind,
  url: endpoint.url,
  description: endpoint.description,
  eventTypes: [...endpoint.eventTypes],
  mode: endpoint.mode,
  status: endpoint.status,
  pauseReason: endpoint.pauseReason,
  pausedAt: endpoint.pausedAt?.toISOString() ?? null,
  maxInFlight: endpoint.inFlightMax,
  headers: maskedHeaders(endpoint.headers),
  alertEmail: endpoint.alertEmail,
  lastSuccessAt: health?.succeededAt?.toISOString() ?? null,
  consecutiveFailures: health?.consecutiveFailures ?? 0,
  backingOffUntil: backoffEnd(endpoint, health, now)?.toISOString() ?? null,
  pendingDeliveries: endpoint.status === "paused" ? null : (health?.pendingCount ?? 0),
  behind: endpoint.status === "paused" ? null : toWireBehind(health?.behind),
  failingSince: health?.failingSince?.toISOString() ?? null,
  lastFailureAt: health?.lastFailureAt?.toISOString() ?? null,
  lastError: health?.lastError ?? null,
  nextAttemptAt: nextAttempt(endpoint, health)?.toISOString() ?? null,
  createdAt: endpoint.createdAt.toISOString(),
  updatedAt: endpoint.updatedAt.toISOString(),
});

const toWireBehind = (behind: Behind | undefined) => ({
  orders: behind?.orderCount ?? 0,
  events: behind?.eventCount ?? 0,
  oldestSince: behind?.oldestSince?.toISOString() ?? null,
});

function nextAttempt({ status }: Endpoint, health: ShownHealth | undefined): Date | null {
  if (status !== "active" || health?.nextDueAt == null) return null;
  const { nextDueAt, backoffUntil } = health;
  return backoffUntil !== null && backoffUntil > nextDueAt ? backoffUntil : nextDueAt;
}

const backoffEnd = ({ status }: Endpoint, health: ShownHealth | undefined, now: Date): Date | null =>
  status === "active" && health?.backoffUntil != null && health.backoffUntil > now
    ? health.backoffUntil
    : null;

export const wireEndpointId = (endpointId: string): string => toTypeId("whe", endpointId);

/** What was done to an endpoint, for the audit log. */
export const endpointFact = (endpoint: EndpointKey, details: AuditFact["details"] = {}): AuditFact =>
  factOfOwner(endpoint, { subject: "whe", ids: [endpoint.id], details });

/** Settings that were set or changed. Of an address only the host: partners put tokens into the rest, and into headers. */
export const auditedSettings = ({
  kind,
  url,
  eventTypes,
  inFlightMax,
  description,
  headers,
  alertEmail,
  mode,
}: Partial<NewEndpoint>) => ({
  kind: kind === "pull" ? kind : undefined,
  host: url == null ? undefined : new URL(url).host,
  eventTypes,
  inFlightMax,
  headers: headers === undefined ? undefined : Object.keys(headers),
  // A change to null removes it; a new endpoint, which has a kind, mostly has none.
  alertEmail: kind === undefined ? alertEmail : (alertEmail ?? undefined),
  mode,
  description: description ?? undefined,
});

const HEALTH_STATUSES = ["healthy", "failing", "backing_off", "paused"] as const;
/** The health of an endpoint in one word (docs/design/deliveries.md, "Endpoints"). */
export type ShownHealthStatus = (typeof HEALTH_STATUSES)[number];

export const HealthStatusSchema = enumeration(
  "WebhookEndpointHealth",
  HEALTH_STATUSES,
  "`healthy`: no failure since the last success. `failing`: attempts fail, and are still made. `backing_off`: nothing is sent for some minutes. `paused`: nothing is sent until it is resumed.",
);

/** The values of a filter by health. */
export const HEALTH_FILTERS = [...HEALTH_STATUSES, "unhealthy"] as const;

type Shown = {
  readonly status: string;
  readonly backingOffUntil: string | null;
  readonly consecutiveFailures: number;
};

/** `listAllEndpoints` filters by the same. */
export function healthStatusOf({ status, backingOffUntil, consecutiveFailures }: Shown): ShownHealthStatus {
  if (status === "paused") return "paused";
  if (backingOffUntil !== null) return "backing_off";
  return consecutiveFailures > 0 ? "failing" : "healthy";
}

/** Partners put tokens into user names and queries. The rest identifies the endpoint well enough. Null of a pull endpoint. */
export function urlWithoutQuery<Url extends string | null>(url: Url): Url;
export function urlWithoutQuery(url: string | null): string | null {
  if (url === null) return null;
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname}${search === "" ? "" : "?…"}`;
}
