import { type Static, Type } from "typebox";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fromTypeId, toTypeId } from "../../platform/ids.ts";
import { after, SECOND_MS } from "../../platform/time.ts";
import { type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { dateTime, idField, nullable, nullableTime } from "../../platform/wire/schemas.ts";
import { EventTypeSchema, wireEndpointId } from "../endpoints/endpoint.ts";
import { EVENT_TYPES, type EventType } from "../events/event.ts";
import { ENDPOINT_PAUSED } from "../resend/manual.ts";
import { type ArmedFault, DeliveryFaultNameSchema, type FaultName } from "./delivery-fault.ts";
import { insertFault, listFaults, listTargets } from "./faults-sql.ts";

/** Faults of one test order: those that are armed, and those that its events have had. */
const FAULTS_MAX = 50;
/** Fewer than the attempts of a test order's delivery, so that the last one is sent. */
const ATTEMPTS_MAX = 5;
const SECONDS_MAX = 600;

/** Of the faults that hold deliveries back. */
const SECONDS_DEFAULT: Readonly<Partial<Record<FaultName, number>>> = {
  delayed: 10,
  reordered: 60,
  outage: 30,
};

/** Types of the events that an order can still have. */
const LATER_TYPES: readonly EventType[] = EVENT_TYPES.filter(
  (type) => type !== "order.created" && type !== "product.published",
);

const secondsField = {
  minimum: 1,
  maximum: SECONDS_MAX,
  description:
    "For `delayed`, `reordered` and `outage`: how long deliveries wait, at most. Default: 10, 60 and 30. No delivery waits beyond the erasure of its order.",
};

export const DeliveryFaultRequestSchema = Type.Object(
  {
    fault: DeliveryFaultNameSchema,
    endpointId: Type.Optional(
      Type.String({
        description:
          "The test endpoint to rehearse with. Default: each test endpoint that receives the event. Endpoints that receive the events of real orders never get a fault.",
        examples: ["whe_01m7y7np16fe68bxp4h91tdmdn"],
      }),
    ),
    eventType: Type.Optional(EventTypeSchema),
    attempts: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: ATTEMPTS_MAX,
        description: "For `dropped`: how many attempts are not sent. Default: 1.",
      }),
    ),
    seconds: Type.Optional(Type.Integer(secondsField)),
  },
  {
    title: "DeliveryFaultRequest",
    additionalProperties: false,
    description:
      "A fault to rehearse with the next event of a test order. Fields that other faults have are ignored.",
  },
);
export type DeliveryFaultRequest = Static<typeof DeliveryFaultRequestSchema>;

export const ArmedFaultSchema = Type.Object(
  {
    id: idField("flt", "Id of the fault, set by the service."),
    fault: DeliveryFaultNameSchema,
    endpointId: nullable(Type.String(), "The endpoint that it is for. Null: each test endpoint."),
    eventType: nullable(Type.String(), "The type of the events that it is for. Null: any."),
    attempts: nullable(Type.Integer(), "How many attempts are not sent. Null for other faults."),
    seconds: nullable(Type.Integer(), "How long deliveries wait, at most. Null for other faults."),
    armedAt: dateTime("When it was requested."),
    endsAt: nullableTime("Until when an `outage` lasts. Null for other faults."),
    eventId: nullable(
      Type.String(),
      "The event whose deliveries have it; of an `outage`, the first one. Null: it is armed, and waits for an event.",
    ),
  },
  { title: "DeliveryFault", description: "A fault to rehearse with deliveries of a test order." },
);

export const DeliveryFaultsSchema = Type.Object(
  { data: Type.Array(ArmedFaultSchema, { description: "Oldest first." }) },
  { title: "DeliveryFaults", description: "The faults of a test order." },
);

export const toWireFault = ({
  id,
  fault,
  endpointId,
  eventType,
  attempts,
  seconds,
  createdAt,
  eventId,
}: ArmedFault): Static<typeof ArmedFaultSchema> => ({
  id: toTypeId("flt", id),
  fault,
  endpointId: endpointId === null ? null : wireEndpointId(endpointId),
  eventType,
  attempts,
  seconds,
  armedAt: createdAt.toISOString(),
  endsAt: fault === "outage" ? after(createdAt, (seconds ?? 0) * SECOND_MS).toISOString() : null,
  eventId: eventId === null ? null : toTypeId("evt", eventId),
});

/** Stores a fault for a test order, which the caller has locked: so the limit is exact, and no event is published before it is stored. */
export async function armFault(
  tx: Queryable,
  { newId }: Pick<Context, "newId">,
  order: ConnectionKey & { readonly id: string },
  request: DeliveryFaultRequest,
  now: Date,
): Promise<ArmedFault | Problem> {
  const { fault, eventType = null } = request;
  const endpointId = request.endpointId === undefined ? null : fromTypeId("whe", request.endpointId);
  const problem =
    (eventType === null ? null : typeProblem(eventType)) ??
    (endpointId === null && request.endpointId !== undefined
      ? UNKNOWN_ENDPOINT
      : await targetProblem(tx, order, { fault, endpointId, eventType }, now));
  if (problem !== null) return problem;
  const earlier = await listFaults(tx, order, order.id);
  if (earlier.length >= FAULTS_MAX) return tooMany;
  const armed: ArmedFault = {
    id: newId(),
    fault,
    endpointId,
    eventType,
    attempts: fault === "dropped" ? (request.attempts ?? 1) : null,
    seconds: SECONDS_DEFAULT[fault] === undefined ? null : (request.seconds ?? SECONDS_DEFAULT[fault]),
    createdAt: now,
    eventId: null,
  };
  await insertFault(tx, order, order.id, armed);
  return armed;
}

const typeProblem = (eventType: EventType): Problem | null =>
  LATER_TYPES.includes(eventType)
    ? null
    : validationFailed([{ pointer: "/eventType", rule: "one_of", allowed: LATER_TYPES }]);

const UNKNOWN_ENDPOINT = validationFailed([
  { pointer: "/endpointId", rule: "not_found", kind: "webhook_endpoint" },
]);

/** Why no endpoint can get the fault. */
async function targetProblem(
  tx: Queryable,
  order: ConnectionKey,
  { fault, endpointId, eventType }: Pick<ArmedFault, "fault" | "endpointId" | "eventType">,
  now: Date,
): Promise<Problem | null> {
  const targets = await listTargets(tx, order, endpointId, now);
  const [named] = targets;
  if (endpointId !== null && named === undefined) return UNKNOWN_ENDPOINT;
  if (!targets.some(({ mode }) => mode === "test"))
    return validationFailed([{ pointer: "/endpointId", rule: "test_endpoint" }]);
  const active = targets.filter(({ status }) => status === "active");
  if (active.length === 0) return ENDPOINT_PAUSED;
  const receiving = active.filter(({ eventTypes }) =>
    eventType === null
      ? LATER_TYPES.some((type) => eventTypes.includes(type))
      : eventTypes.includes(eventType),
  );
  if (receiving.length === 0)
    return validationFailed([
      { pointer: eventType === null ? "/endpointId" : "/eventType", rule: "receiving_endpoint" },
    ]);
  if (fault === "previous-secret" && !receiving.some(({ secretCount }) => secretCount > 1))
    return validationFailed([{ pointer: "/fault", rule: "previous_secret" }]);
  return null;
}

const tooMany: Problem = {
  code: "limit-reached",
  detail: `The maximum of ${FAULTS_MAX} rehearsed faults of a test order is reached. Use another test order.`,
  members: { limit: "deliveryFaults", maximum: FAULTS_MAX },
};
