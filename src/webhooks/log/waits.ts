import { type Static, Type } from "typebox";
import type { Queryable } from "../../platform/database/database.ts";
import { described, enumeration, nullable, nullableTime } from "../../platform/wire/schemas.ts";
import { type Delivery, DeliverySchema, type LoggedAttempts, toWireDelivery } from "./delivery.ts";
import type { DeliveryKey } from "./delivery-log-sql.ts";
import { readWaitFacts, type WaitFacts } from "./waits-sql.ts";

const WAIT_REASONS = ["sending", "turn", "retry", "fault", "earlier_event", "backoff", "paused"] as const;

const WaitSchema = Type.Object(
  {
    reason: enumeration(
      "DeliveryWaitReason",
      WAIT_REASONS,
      described({
        sending: "an attempt is in progress, or begins now.",
        turn: "it is due, and is sent as soon as its turn comes.",
        retry: "its last attempt failed, and the next one is planned.",
        fault: "it rehearses a fault, which has the next attempt wait.",
        earlier_event: "an earlier event of the order has to arrive first.",
        backoff: "nothing is sent to the endpoint for some minutes, because it keeps failing.",
        paused: "nothing is sent to the endpoint until it is resumed.",
      }),
    ),
    until: nullableTime("When the next attempt is planned or the backoff ends. Null if no time is known."),
    error: nullable(
      Type.String(),
      "Of a retry, why the last attempt failed; of a backoff, why the last attempt of the endpoint did. Null for other reasons.",
    ),
  },
  { title: "DeliveryWait", description: "What a pending delivery waits for." },
);
type Wait = Static<typeof WaitSchema>;

/** What the back office shows of a delivery beside what a partner sees. */
export const backOfficeDeliveryFields = {
  externalOrderId: nullable(
    Type.String(),
    "The partner's own id of the order. Null if there is none, and in deliveries of a facility.",
  ),
  wait: nullable(WaitSchema, "What it waits for. Null if it is not pending."),
} as const;

export const BackOfficeDeliverySchema = Type.Object(
  { ...DeliverySchema.properties, ...backOfficeDeliveryFields },
  { title: "BackOfficeDelivery", description: "A delivery, as the back office shows it." },
);

/** The partners' own ids of orders, by the ids of the service. Orders are above this layer. */
export type ExternalIdsOf = (
  orders: readonly { readonly merchantId: string; readonly id: string }[],
) => Promise<ReadonlyMap<string, string>>;

/** Reads what deliveries wait for. Returns a function that shows them to the back office. */
export async function showDeliveries(
  db: Queryable,
  deliveries: readonly (Delivery & DeliveryKey)[],
  externalIdsOf: ExternalIdsOf,
  now: Date,
): Promise<(delivery: Delivery, attempts: LoggedAttempts) => Static<typeof BackOfficeDeliverySchema>> {
  const facts = await readWaitFacts(
    db,
    deliveries.filter(({ status }) => status === "pending"),
  );
  const externalIds = await externalIdsOf(
    deliveries.flatMap(({ merchantId, orderId }) => (orderId === null ? [] : [{ merchantId, id: orderId }])),
  );
  return (delivery, attempts) => ({
    ...toWireDelivery(delivery, attempts),
    externalOrderId: externalIds.get(delivery.orderId ?? "") ?? null,
    wait: waitOf(delivery, facts.get(delivery.id), attempts, now),
  });
}

/** Null if it is not pending, or if its endpoint was deleted: then it fails in a moment. */
function waitOf(
  { nextAttemptAt, fault }: Delivery,
  facts: WaitFacts | undefined,
  { newest }: LoggedAttempts,
  now: Date,
): Wait | null {
  if (facts === undefined) return null;
  const { isClaimed, endpointStatus, backoffUntil, lastError } = facts;
  if (isClaimed) return { reason: "sending", until: null, error: null };
  if (endpointStatus === "paused") return { reason: "paused", until: null, error: null };
  // The backoff is why the others wait, too: an event that is not the first of its order waits for one that backs off.
  if (
    backoffUntil !== null &&
    backoffUntil > now &&
    (nextAttemptAt === null || nextAttemptAt <= backoffUntil)
  )
    return { reason: "backoff", until: backoffUntil.toISOString(), error: lastError };
  if (nextAttemptAt === null) return { reason: "earlier_event", until: null, error: null };
  if (nextAttemptAt <= now) return { reason: "turn", until: null, error: null };
  const until = nextAttemptAt.toISOString();
  const last = newest.at(-1);
  // Without an attempt, only a fault has it wait; after one that has rehearsed a fault, no error does.
  if (fault !== null && (last === undefined || last.fault !== null))
    return { reason: "fault", until, error: null };
  return { reason: "retry", until, error: last?.error ?? null };
}
