import { type Static, Type } from "typebox";
import { unauthorized } from "../http/credentials.ts";
import { isValid } from "../merchants/api-key.ts";
import { readKey } from "../merchants/keys-sql.ts";
import { fromTypeId, toTypeId, wireOrderId } from "../platform/ids.ts";
import { SECOND_MS } from "../platform/time.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";
import { isProblem } from "../platform/wire/problems.ts";
import { dateTime, enumeration, idField, nullable } from "../platform/wire/schemas.ts";
import { DeliveryFaultNameSchema } from "../webhooks/faults/delivery-fault.ts";
import { acknowledgeDeliveries } from "../webhooks/pull/acknowledge.ts";
import type { PulledDelivery } from "../webhooks/pull/lease-deliveries.ts";
import { returnPulled } from "../webhooks/pull/polls.ts";
import { type PartnerRoute, route } from "./partner-route.ts";
import { changeableKey, EndpointIdParams } from "./webhook-endpoints.ts";

const WAIT_MAX_SECONDS = 20;
const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 100;
const ACKNOWLEDGEMENTS_MAX = 100;

const attemptNumber = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: "The attempt, as the log of the delivery counts it. It stands for this lease.",
  examples: [1],
});

const PulledDeliverySchema = Type.Object(
  {
    deliveryId: idField("dlv", "Id of the delivery."),
    attempt: attemptNumber,
    leaseExpiresAt: dateTime(
      "Until when no other client gets the delivery. Without an acknowledgement the attempt counts as failed then.",
    ),
    eventId: idField("evt", "Id of the event. It is also the header field `webhook-id`."),
    fault: nullable(
      DeliveryFaultNameSchema,
      "The fault that the attempt rehearses, of a test order. What it does to the request is done. The client performs two itself: `cut-body` by closing the connection to your receiver in the middle of the body, and `two-at-once` by sending the request twice at the same time. Null without one.",
    ),
    eventType: Type.String({ description: "Type of the event.", examples: ["order.created"] }),
    orderId: nullable(Type.String(), "Id of the order. Null if the event is not about an order."),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        "The header fields of the request that a push endpoint would get, with the signature. `webhook-timestamp` is the time of the lease.",
      examples: [
        {
          "content-type": "application/json",
          "user-agent": "PartnerOrders/0.1.0",
          "webhook-id": "evt_01kabcdefghjkmnpqrstvwxyz0",
          "webhook-timestamp": "1795903200",
          "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
        },
      ],
    }),
    body: Type.String({
      description: "The exact body of that request. The signature is over these characters in UTF-8.",
    }),
  },
  { title: "LeasedDelivery", description: "A delivery that the client has leased." },
);

const AcknowledgementSchema = Type.Object(
  {
    deliveryId: Type.String({ maxLength: 200, description: "Id of the delivery." }),
    attempt: attemptNumber,
    status: nullable(
      Type.Integer({ minimum: 100, maximum: 599 }),
      "HTTP status with which your receiver has responded. 200 to 299: the delivery has succeeded. Any other fails the attempt, and 410 pauses the endpoint. Null if the receiver was not reached.",
    ),
    responseBody: Type.Optional(
      nullable(
        Type.String({ maxLength: 65_536 }),
        "The body of that response, for the log, which keeps 1 024 bytes of it. Null: it had none.",
      ),
    ),
    durationMs: Type.Optional(
      nullable(
        Type.Integer({ minimum: 0, maximum: 86_400_000 }),
        "How long your receiver took, in milliseconds. Default, and null: the time since the lease.",
      ),
    ),
    error: Type.Optional(
      nullable(
        Type.String({ minLength: 1, maxLength: 200, format: "text" }),
        "Why your receiver was not reached, or its response broke off, for the log. With it the attempt fails, whatever the status is. Null: the status decides.",
      ),
    ),
    retryAfterSeconds: Type.Optional(
      nullable(
        Type.Integer({ minimum: 0, maximum: 86_400 }),
        "`Retry-After` of a response with status 429 or 503. Null: it had none.",
      ),
    ),
  },
  { title: "DeliveryAcknowledgement", description: "What became of a leased delivery." },
);

const AcknowledgementsSchema = Type.Object(
  {
    acknowledgements: Type.Array(AcknowledgementSchema, {
      minItems: 1,
      maxItems: ACKNOWLEDGEMENTS_MAX,
      description: "One for each leased delivery that is done with.",
    }),
  },
  { title: "DeliveryAcknowledgements", description: "What became of leased deliveries." },
);

const AcknowledgementResultsSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          deliveryId: Type.String({ description: "Id of the delivery, as it was sent." }),
          attempt: attemptNumber,
          result: enumeration(
            "AcknowledgementResult",
            ["recorded", "lease-ended", "not-found"],
            "`recorded`: the log has the attempt, now or from an earlier request. `lease-ended`: the lease had ended before, so the delivery is leased again. `not-found`: the endpoint has no such delivery.",
          ),
        },
        { title: "AcknowledgementOutcome", description: "Whether an acknowledgement was recorded." },
      ),
      { description: "In the order of the request." },
    ),
  },
  { title: "AcknowledgementOutcomes", description: "Whether each acknowledgement was recorded." },
);

const toWire = ({
  delivery,
  number,
  eventType,
  headers,
  body,
  fault,
}: PulledDelivery): Static<typeof PulledDeliverySchema> => ({
  deliveryId: toTypeId("dlv", delivery.deliveryId),
  attempt: number,
  leaseExpiresAt: delivery.leasedUntil.toISOString(),
  eventId: delivery.event.wireId,
  fault,
  eventType,
  orderId:
    delivery.ownStreamId === delivery.eventId
      ? null
      : wireOrderId({ id: delivery.ownStreamId, testMode: delivery.notAfter !== null }),
  headers,
  body,
});

const tag = "Webhook endpoints";

/** What clients of pull endpoints do. See docs/design/deliveries.md, "Pull endpoints". */
export const pullRoutes: readonly PartnerRoute[] = [
  route({
    method: "GET",
    path: "/v1/webhook-endpoints/{endpointId}/deliveries",
    operationId: "leaseDeliveries",
    tag,
    summary: "Lease deliveries of a pull endpoint",
    description:
      "Returns deliveries that are due, each with the request that a push endpoint would get, and leases them to the caller. With `wait`, the response comes as soon as something is due, or without deliveries after that time. All clients together have at most `maxInFlight` deliveries leased. Acknowledge each before `leaseExpiresAt`.",
    params: EndpointIdParams,
    query: Type.Object({
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: WAIT_MAX_SECONDS,
          default: 0,
          description: "Seconds to wait until something is due.",
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: LIMIT_MAX,
          default: LIMIT_DEFAULT,
          description: "Deliveries to lease, at most.",
        }),
      ),
    }),
    responses: {
      200: {
        description: "The deliveries that the caller has leased. None if nothing was due.",
        schema: Type.Object(
          { data: Type.Array(PulledDeliverySchema, { description: "Those first that were due first." }) },
          { title: "LeasedDeliveries", description: "Deliveries that the client has leased." },
        ),
      },
    },
    problems: ["forbidden", "not-found", "endpoint-paused", "validation-failed"],
    isPoll: true,
    handle: async ({ caller, params, headers, left, query }, { context, polls }) => {
      const { limit = LIMIT_DEFAULT, wait = 0 } = query;
      const key = await changeableKey(context, caller, params);
      if (isProblem(key)) return key;
      const leased = await polls.poll(context, key, {
        limit,
        waitMs: wait * SECOND_MS,
        left,
        readRevocation: async () => {
          const found = await readKey(context.db, caller.key.id);
          return found !== null && isValid(found, context.clock.now()) ? null : unauthorized(headers);
        },
      });
      if (isProblem(leased)) return leased;
      const body = { data: leased.map(toWire) };
      if (leased.length === 0) return { status: 200, body };
      const ended = (error?: unknown): void => {
        if (error == null) return;
        returnPulled(context, key, leased).catch((err: unknown) =>
          context.log.warn({ err, endpoint: { id: key.id } }, "leases not returned, they will end"),
        );
      };
      return { status: 200, body, ended };
    },
  }),
  route({
    method: "POST",
    path: "/v1/webhook-endpoints/{endpointId}/acknowledgements",
    operationId: "acknowledgeDeliveries",
    tag,
    summary: "Acknowledge leased deliveries",
    description:
      "Says how your receiver has responded to deliveries that the caller has leased. Each is recorded as an attempt, and decides about the delivery as the response to a push does. Repeating a request has no further effect.",
    params: EndpointIdParams,
    body: AcknowledgementsSchema,
    responses: {
      200: {
        description: "Whether each acknowledgement was recorded.",
        schema: AcknowledgementResultsSchema,
      },
    },
    problems: ["forbidden", "not-found", "validation-failed"],
    isPoll: true,
    retry: "repeat",
    handle: async ({ caller, params, body: { acknowledgements } }, { context }) => {
      const key = await changeableKey(context, caller, params);
      if (isProblem(key)) return key;
      const results = await acknowledgeDeliveries(
        context,
        key,
        acknowledgements.map(({ deliveryId, attempt, status, ...optional }) => ({
          deliveryId: fromTypeId("dlv", deliveryId) ?? UUID_MIN,
          number: attempt,
          status,
          responseBody: optional.responseBody ?? null,
          durationMs: optional.durationMs ?? null,
          error: optional.error ?? null,
          retryAfterSeconds: optional.retryAfterSeconds ?? null,
        })),
      );
      if (isProblem(results)) return results;
      const data = acknowledgements.map(({ deliveryId, attempt }, index) => ({
        deliveryId,
        attempt,
        result: results[index] ?? "not-found",
      }));
      return { status: 200, body: { data } };
    },
  }),
];
