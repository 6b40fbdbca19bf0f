import { type Static, Type } from "typebox";
import { momentOf, toTypeId, wireOrderId } from "../../platform/ids.ts";
import { dateTime, enumeration, idField, nullable, nullableTime } from "../../platform/wire/schemas.ts";
import { wireEndpointId } from "../endpoints/endpoint.ts";
import { DeliveryFaultNameSchema, type FaultName } from "../faults/delivery-fault.ts";
import { ownerNameFields } from "../owner.ts";

const ATTEMPT_ERROR_CODES = [
  "http_status",
  "timeout",
  "dns_failed",
  "address_not_public",
  "connection_refused",
  "connection_closed",
  "host_unreachable",
  "tls_failed",
  "invalid_response",
  "response_too_large",
  "url_not_https",
  "canceled",
  "outcome_unknown",
  "rehearsed",
  "not_sent",
] as const;
type AttemptErrorCode = (typeof ATTEMPT_ERROR_CODES)[number];

const AttemptErrorCodeSchema = enumeration(
  "DeliveryErrorCode",
  ATTEMPT_ERROR_CODES,
  [
    "Why an attempt failed, for programs. More values may be added.",
    "`http_status`: the response is not 2xx.",
    "`timeout`: there was no complete response in time.",
    "`dns_failed`: the DNS lookup failed.",
    "`address_not_public`: the address, or an address of the name, is not public, or the name has none.",
    "`connection_refused`: nothing listens at the address.",
    "`connection_closed`: the connection ended before the response did.",
    "`host_unreachable`: there is no way to the address.",
    "`tls_failed`: the certificate is not valid, or TLS failed otherwise.",
    "`invalid_response`: the response is not HTTP.",
    "`response_too_large`: the response exceeds a limit.",
    "`url_not_https`: the URL does not begin with https.",
    "`canceled`: the service stopped during the attempt, and sends again.",
    "`outcome_unknown`: the worker ended during the attempt.",
    "`rehearsed`: a rehearsed fault has dropped the attempt, or cut it off.",
    "`not_sent`: the request could not be sent for another reason.",
  ].join(" "),
);

/** By the phrase that is stored; see send-failure.ts. */
const CODES: Readonly<Record<string, AttemptErrorCode>> = {
  timeout: "timeout",
  "DNS lookup failed": "dns_failed",
  "address is not public": "address_not_public",
  "name has no public address": "address_not_public",
  "connection refused": "connection_refused",
  "connection reset": "connection_closed",
  "connection closed": "connection_closed",
  "host unreachable": "host_unreachable",
  "invalid HTTP response": "invalid_response",
  "response too large": "response_too_large",
  "too many interim responses": "response_too_large",
  "URL is not https": "url_not_https",
  canceled: "canceled",
  "dropped by a rehearsed fault": "rehearsed",
  "cut off by a rehearsed fault": "rehearsed",
};

/**
 * The code of a stored error (docs/design/deliveries.md, "Endpoints"). The phrase decides, so that attempts of any age have
 * one.
 */
export function attemptErrorCode(error: string): AttemptErrorCode {
  if (error.startsWith("HTTP ")) return "http_status";
  if (error.startsWith("TLS: ")) return "tls_failed";
  if (error.startsWith("outcome unknown")) return "outcome_unknown";
  return CODES[error] ?? "not_sent";
}

const DELIVERY_STATUSES = ["pending", "succeeded", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const ATTEMPT_TRIGGERS = ["schedule", "manual", "recovery"] as const;
/** Why an attempt is made: the retry schedule, a redelivery of one delivery, or a recovery of all that failed. */
export type AttemptTrigger = (typeof ATTEMPT_TRIGGERS)[number];

/** The delivery of one event to one endpoint, as the log shows it. */
export type Delivery = {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly orderId: string | null;
  /** When its test order is erased, and the delivery with it. Null for all other deliveries. */
  readonly notAfter: Date | null;
  readonly status: DeliveryStatus;
  /** What its first attempts rehearse. Null for nearly all. */
  readonly fault: FaultName | null;
  /** When it is sent next. Null when no attempt is planned, and during an attempt. */
  readonly nextAttemptAt: Date | null;
};

/** One attempt to send a delivery, as the log shows it. */
export type LoggedAttempt = {
  readonly deliveryId: string;
  /** Null of one that the row of the delivery has, which rehearses nothing. */
  readonly id: string | null;
  readonly trigger: AttemptTrigger;
  readonly startedAt: Date;
  /** Null when the outcome is unknown. */
  readonly durationMs: number | null;
  /** Null when there was no response, like `responseBody`. */
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly error: string | null;
  readonly fault: FaultName | null;
};

/** What a delivery shows of its attempts: the newest ones, oldest first, and how many there are. */
export type LoggedAttempts = { readonly newest: readonly LoggedAttempt[]; readonly count: number };
export const NO_ATTEMPTS: LoggedAttempts = { newest: [], count: 0 };

export const AttemptSchema = Type.Object(
  {
    number: Type.Integer({ minimum: 1, description: "Counts the attempts of the delivery by time, from 1." }),
    trigger: enumeration(
      "DeliveryTrigger",
      ATTEMPT_TRIGGERS,
      "What caused the attempt. `schedule`: the event, the retry schedule, or the end of the delivery before it in its order. `manual`: a redelivery. `recovery`: a recovery or a resume of the endpoint, and the retries after it; of several deliveries of an order, the first has it, and the others follow by `schedule`.",
    ),
    startedAt: dateTime("When the attempt started."),
    durationMs: nullable(
      Type.Integer(),
      "How long the attempt took, in milliseconds. Null if its end is not known.",
    ),
    responseStatus: nullable(Type.Integer(), "HTTP status of the response. Null if there was no response."),
    responseBody: nullable(
      Type.String(),
      "The first 1024 bytes of the response. Null if there was no response.",
    ),
    error: nullable(
      Type.String(),
      "Why the attempt failed, as a fixed phrase for people, such as `HTTP 500` or `timeout`. Null if it succeeded.",
    ),
    errorCode: nullable(AttemptErrorCodeSchema, "`error` for programs. Null if it succeeded."),
    fault: nullable(
      DeliveryFaultNameSchema,
      "The fault that the attempt has rehearsed. Its response says what the receiver makes of it, and does not count for the health of the endpoint. Null for an attempt as usual.",
    ),
  },
  { title: "DeliveryAttempt", description: "An attempt to deliver an event to an endpoint." },
);

export const DeliveryStatusSchema = enumeration(
  "DeliveryStatus",
  DELIVERY_STATUSES,
  "`pending`: an attempt is planned or running. `succeeded`: the endpoint has accepted the event. `failed`: all attempts have failed, and no other is planned unless one is requested.",
);

export const DeliverySchema = Type.Object(
  {
    id: idField("dlv", "Id of the delivery, set by the service."),
    endpointId: Type.String({ description: "Id of the endpoint." }),
    eventId: Type.String({ description: "Id of the event. It is also the `webhook-id` of every attempt." }),
    eventType: Type.String({ description: "Type of the event.", examples: ["order.created"] }),
    orderId: nullable(Type.String(), "Id of the order. Null if the event is not about an order."),
    status: DeliveryStatusSchema,
    fault: nullable(
      DeliveryFaultNameSchema,
      "The fault that the delivery rehearses. Null without one: always, if its order is a real one.",
    ),
    nextAttemptAt: nullableTime(
      "When the next attempt is planned. Null if none is planned, and during an attempt.",
    ),
    createdAt: dateTime("When the event happened."),
    attemptCount: Type.Integer({ description: "Number of attempts so far, at most 10 000." }),
    attempts: Type.Array(AttemptSchema, {
      description:
        "The newest attempts, oldest first: at most 100 of a delivery that is read on its own, at most 20 in a list.",
    }),
  },
  { title: "Delivery", description: "An event for one endpoint, and the attempts to deliver it." },
);

/** Whose a delivery is, in a list of all owners. */
export const deliveryOwnerFields = {
  connectionId: nullable(
    idField("con", "Id of the connection."),
    "Id of the connection. Null if the endpoint is one of a merchant or a facility.",
  ),
  merchantId: nullable(idField("mer", "Id of the merchant."), "Id of the merchant. Null for a facility."),
  facilityId: nullable(
    idField("fac", "Id of the facility."),
    "Id of the facility. Null if the endpoint is not one of a facility.",
  ),
  ...ownerNameFields,
} as const;

export const toWireDelivery = (
  delivery: Delivery,
  { newest, count }: LoggedAttempts,
): Static<typeof DeliverySchema> => ({
  id: toTypeId("dlv", delivery.id),
  endpointId: wireEndpointId(delivery.endpointId),
  eventId: toTypeId("evt", delivery.eventId),
  eventType: delivery.eventType,
  orderId:
    delivery.orderId === null
      ? null
      : wireOrderId({ id: delivery.orderId, testMode: delivery.notAfter !== null }),
  status: delivery.status,
  fault: delivery.fault,
  nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
  createdAt: momentOf(delivery.id).toISOString(),
  attemptCount: count,
  attempts: newest.map((attempt, index) => ({
    number: count - newest.length + index + 1,
    trigger: attempt.trigger,
    startedAt: attempt.startedAt.toISOString(),
    durationMs: attempt.durationMs,
    responseStatus: attempt.responseStatus,
    responseBody: attempt.responseBody,
    error: attempt.error,
    errorCode: attempt.error === null ? null : attemptErrorCode(attempt.error),
    fault: attempt.fault,
  })),
});
