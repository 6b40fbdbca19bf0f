import { type Static, Type } from "typebox";
import { EVENT_TYPES, type EventType } from "../../events/event-types.ts";
import { toTypeId } from "../../platform/ids.ts";
import { dateTime, nullable } from "../../platform/wire/schemas.ts";

/** `gone`: it returned 410. `failing`: it had no success for days. */
const PAUSE_REASONS = ["gone", "failing"] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

export const IN_FLIGHT_MAX_DEFAULT = 8;
export const IN_FLIGHT_MAX_LIMIT = 100;

/** A URL to which the events of a connection are delivered. Never a deleted one. */
export type Endpoint = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  /** Counts the endpoints of the connection; part of the ids of its deliveries (decision 0028). */
  readonly number: number;
  readonly url: string;
  readonly description: string | null;
  readonly eventTypes: readonly EventType[];
  readonly status: "active" | "paused";
  /** Null while it is active, like `pausedAt`. */
  readonly pauseReason: PauseReason | null;
  readonly pausedAt: Date | null;
  readonly inFlightMax: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Identifies an endpoint. */
export type EndpointKey = Pick<Endpoint, "merchantId" | "connectionId" | "id">;

/** What a partner sets and may change. */
export type EndpointSettings = Pick<Endpoint, "url" | "description" | "eventTypes" | "inFlightMax">;

const endpointFields = {
  id: Type.String({ examples: ["whe_01m7y7np16fe68bxp4h91tdmdn"] }),
  url: Type.String(),
  description: nullable(Type.String()),
  eventTypes: Type.Array(Type.Enum([...EVENT_TYPES]), {
    description: "Event types that the endpoint receives.",
  }),
  status: Type.Enum(["active", "paused"], { description: "Nothing is sent to a paused endpoint." }),
  pauseReason: nullable(
    Type.Enum([...PAUSE_REASONS]),
    "`gone`: it returned 410. `failing`: no success for days. Null while it is active.",
  ),
  pausedAt: nullable(dateTime(), "Null while it is active."),
  maxInFlight: Type.Integer({ description: "Maximum number of concurrent requests to the endpoint." }),
  createdAt: dateTime(),
  updatedAt: dateTime("When it was last changed, paused or resumed."),
};
export const EndpointSchema = Type.Object(endpointFields, { title: "WebhookEndpoint" });
export const EndpointWithSecretSchema = Type.Object(
  {
    ...endpointFields,
    secret: Type.String({
      description: "The signing secret. It is returned only here.",
      examples: ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"],
    }),
  },
  { title: "WebhookEndpointWithSecret" },
);

export const toWireEndpoint = (endpoint: Endpoint): Static<typeof EndpointSchema> => ({
  id: wireEndpointId(endpoint.id),
  url: endpoint.url,
  description: endpoint.description,
  eventTypes: [...endpoint.eventTypes],
  status: endpoint.status,
  pauseReason: endpoint.pauseReason,
  pausedAt: endpoint.pausedAt?.toISOString() ?? null,
  maxInFlight: endpoint.inFlightMax,
  createdAt: endpoint.createdAt.toISOString(),
  updatedAt: endpoint.updatedAt.toISOString(),
});

export const wireEndpointId = (endpointId: string): string => toTypeId("whe", endpointId);
