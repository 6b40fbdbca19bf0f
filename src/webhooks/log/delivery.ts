import { type Static, Type } from "typebox";
import { momentOf, toTypeId, wireOrderId } from "../../platform/ids.ts";
import { dateTime, nullable } from "../../platform/wire/schemas.ts";
import { wireEndpointId } from "../endpoints/endpoint.ts";

export const DELIVERY_STATUSES = ["pending", "succeeded", "failed"] as const;
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
  /** When it is sent next. Null when no attempt is planned, and during an attempt. */
  readonly nextAttemptAt: Date | null;
};

/** One attempt to send a delivery, as the log shows it. */
export type Attempt = {
  readonly deliveryId: string;
  readonly trigger: AttemptTrigger;
  readonly startedAt: Date;
  /** Null when the outcome is unknown. */
  readonly durationMs: number | null;
  /** Null when there was no response, like `responseBody`. */
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly error: string | null;
};

const AttemptSchema = Type.Object(
  {
    number: Type.Integer({ minimum: 1, description: "Number of the attempt, in the order of time, from 1." }),
    trigger: Type.Enum([...ATTEMPT_TRIGGERS], {
      description: "Whether the schedule, `redeliver` or `recover` caused it.",
    }),
    startedAt: dateTime(),
    durationMs: nullable(Type.Integer(), "Null when the outcome of the attempt is unknown."),
    responseStatus: nullable(Type.Integer(), "Null without a response."),
    responseBody: nullable(Type.String(), "The first 1024 bytes of the response; null without one."),
    error: nullable(
      Type.String(),
      "What went wrong, as a fixed phrase such as `HTTP 500` or `timeout`; null when the attempt succeeded.",
    ),
  },
  { title: "DeliveryAttempt" },
);

export const DeliverySchema = Type.Object(
  {
    id: Type.String({ examples: ["dlv_01m7y7np16fe68bxp4h91tdmdn"] }),
    endpointId: Type.String(),
    eventId: Type.String({ description: "Also the `webhook-id` of every attempt." }),
    eventType: Type.String(),
    orderId: nullable(Type.String(), "The service's id of the order; null when the event is not about one."),
    status: Type.Enum([...DELIVERY_STATUSES], {
      description: "`failed`: no further attempt is planned, unless it is requested.",
    }),
    nextAttemptAt: nullable(dateTime(), "Null when no attempt is planned, and during an attempt."),
    createdAt: dateTime("When the event happened."),
    attempts: Type.Array(AttemptSchema, { description: "Oldest first." }),
  },
  { title: "Delivery" },
);

export const toWireDelivery = (
  delivery: Delivery,
  attempts: readonly Attempt[],
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
  nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
  createdAt: momentOf(delivery.id).toISOString(),
  attempts: attempts.map((attempt, index) => ({
    number: index + 1,
    trigger: attempt.trigger,
    startedAt: attempt.startedAt.toISOString(),
    durationMs: attempt.durationMs,
    responseStatus: attempt.responseStatus,
    responseBody: attempt.responseBody,
    error: attempt.error,
  })),
});
