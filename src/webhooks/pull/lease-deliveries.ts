import { inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, uuidAt } from "../../platform/ids.ts";
import { after, before, CLOCK_SKEW_MAX_MS, signingTime } from "../../platform/time.ts";
import { notFound, type Problem, validationFailed } from "../../platform/wire/problems.ts";
import type { WebhookContext } from "../conditions-sql.ts";
import { claimDeliveries, leaseMsOf } from "../delivery/claim-sql.ts";
import {
  type ClaimedDelivery,
  type Completion,
  releasedClaim,
  type SendableEvent,
} from "../delivery/claimed-delivery.ts";
import { COMMON_HEADERS, type SignedHeaders } from "../delivery/exchange.ts";
import { bodyBytesOf, isSendable, unsentCompletion } from "../delivery/send-delivery.ts";
import type { Endpoint, EndpointKey } from "../endpoints/endpoint.ts";
import { readEndpoint } from "../endpoints/endpoints-sql.ts";
import { isOnProbation } from "../endpoints/health.ts";
import { readSecrets, signingKey } from "../endpoints/secrets.ts";
import { attemptRequest, type FaultName, faultOfAttempt } from "../faults/delivery-fault.ts";
import { countDeliveryAttempts } from "../log/delivery-log-sql.ts";
import { ENDPOINT_PAUSED } from "../resend/manual.ts";
import { insertPullLeases, lockPullState, type NewPullLease, type PullLease } from "./pull-sql.ts";
import { endOverdue, type LockedPull, noteMade, recordPulled } from "./record-pulled.ts";

/** A delivery that a client has got, with the request that a push would have made. */
export type PulledDelivery = {
  readonly delivery: ClaimedDelivery & { readonly event: SendableEvent };
  readonly number: number;
  readonly eventType: string;
  readonly headers: Readonly<typeof COMMON_HEADERS & SignedHeaders>;
  readonly body: string;
  /** What the attempt rehearses. */
  readonly fault: FaultName | null;
};

/** Characters of the bodies that are leased together. The first delivery is leased whatever its size. */
const BODIES_MAX = 1_048_576;
/** Attempts are counted up to this number. */
const NUMBER_MAX = 10_000;

const ofPush: Problem = validationFailed([{ parameter: "endpointId", rule: "pull_endpoint" }]);

/** Why nothing can be leased from an endpoint, or acknowledged. Null: something can be. */
export function pullProblem(endpoint: Endpoint | null): Problem | null {
  if (endpoint === null) return notFound("webhook endpoint");
  return endpoint.kind === "pull" ? null : ofPush;
}

/**
 * Leases deliveries of a pull endpoint that are due, those first that have been due longest. At most `inFlightMax` are leased at the
 * same time, over all clients: the state of the endpoint is locked. Each delivery is signed as it is leased
 * (docs/design/deliveries.md, "Pull endpoints").
 */
export async function leaseDeliveries(
  context: WebhookContext,
  key: EndpointKey,
  limit: number,
): Promise<readonly PulledDelivery[] | Problem> {
  let made: readonly Completion[] = [];
  const leased = await inTransaction(context, async (tx) => {
    const health = await lockPullState(tx, key);
    const endpoint = await readEndpoint(tx, key, key.id);
    const problem = pullProblem(endpoint);
    if (problem !== null || endpoint === null || health === null)
      return problem ?? notFound("webhook endpoint");
    if (endpoint.status === "paused") return ENDPOINT_PAUSED;
    const now = context.clock.now();
    const keys = await signingKeys(tx, context, endpoint, now);
    const pull: LockedPull = { key, health, isPaused: false, made: [] };
    made = pull.made;
    const held = await endOverdue(tx, context, pull);
    const { backoffUntil } = pull.health;
    if (pull.isPaused || (backoffUntil !== null && now < backoffUntil)) return [];
    const inFlightMax = isOnProbation(pull.health) ? 1 : endpoint.inFlightMax;
    const size = Math.min(limit, inFlightMax - held.length);
    if (size <= 0) return [];
    const leases = await claim(tx, context, pull, size, now);
    const numbered = await withNumbers(tx, key, leases, held, now);
    await insertPullLeases(tx, key, numbered);
    const timestamp = signingTime(context.clock);
    return numbered.map(({ delivery, number }) => {
      const { wireId: id, body: eventBody } = delivery.event;
      const fault = faultOfAttempt(delivery);
      const parts = { attemptId: delivery.claimId, id, timestamp, body: eventBody, keys };
      const request = attemptRequest(fault, parts);
      const body = request.body.toString();
      // The body is JSON that the service has written.
      const { type: eventType } = JSON.parse(body) as { type: string };
      return { delivery, number, eventType, headers: { ...COMMON_HEADERS, ...request.headers }, body, fault };
    });
  });
  noteMade(context, made);
  return leased;
}

async function signingKeys(tx: Queryable, { secrets }: WebhookContext, endpoint: EndpointKey, now: Date) {
  const stored = await readSecrets(tx, endpoint);
  return stored.secrets
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .map(({ sealed }) => signingKey(secrets.open(sealed, endpoint.id)));
}

type Sendable = ClaimedDelivery & { readonly event: SendableEvent };

/** Claims as a worker does. What cannot be sent any more fails, and what would be too much for one response is returned. */
async function claim(
  tx: Queryable,
  context: WebhookContext,
  pull: LockedPull,
  size: number,
  now: Date,
): Promise<Sendable[]> {
  const { config, newId } = context;
  const { id: endpointId, merchantId, connectionId } = pull.key;
  const claimed = await claimDeliveries(
    tx,
    { scheduled: newId(), manual: newId() },
    { now, leasedUntil: after(now, leaseMsOf(config)) },
    [{ merchantId, connectionId, endpointId, size }],
  );
  const unsent = claimed.flatMap((delivery) =>
    isSendable(delivery, config, now)
      ? (unsentCompletion({ ...context, random: Math.random }, delivery, now) ?? [])
      : { delivery, attempt: null, outcome: { is: "failed" } as const },
  );
  const isUnsent = new Set(unsent.map(({ delivery }) => delivery));
  // The others passed `isSendable`.
  const sendable = claimed.filter((delivery): delivery is Sendable => !isUnsent.has(delivery));
  let bytes = 0;
  const leased = sendable.filter((delivery, index) => {
    bytes += bodyBytesOf(delivery);
    return index === 0 || bytes <= BODIES_MAX;
  });
  const isLeased = new Set(leased);
  const returned = sendable.filter((delivery) => !isLeased.has(delivery)).map(releasedClaim);
  await recordPulled(tx, context, pull, [...unsent, ...returned]);
  return leased;
}

/** The attempt that each will be in the log. A delivery may be leased twice, on schedule and by request: then it has the next one. */
async function withNumbers(
  tx: Queryable,
  key: EndpointKey,
  claimed: readonly Sendable[],
  held: readonly PullLease[],
  leasedAt: Date,
): Promise<(NewPullLease & { readonly delivery: Sendable })[]> {
  if (claimed.length === 0) return [];
  const { merchantId, connectionId } = key;
  const earliestMs = Math.min(...claimed.map(({ deliveryId }) => momentOf(deliveryId).getTime()));
  const made = await countDeliveryAttempts(
    tx,
    claimed.map(({ deliveryId: id }) => ({ merchantId, connectionId, id })),
    { oldestId: uuidAt(before(new Date(earliestMs), CLOCK_SKEW_MAX_MS)), countMax: NUMBER_MAX },
  );
  const last = new Map(made);
  for (const { deliveryId, number } of held)
    if (last.has(deliveryId)) last.set(deliveryId, Math.max(last.get(deliveryId) ?? 0, number));
  return claimed.map((delivery) => {
    const number = (last.get(delivery.deliveryId) ?? 0) + 1;
    last.set(delivery.deliveryId, number);
    return { delivery, number, leasedAt };
  });
}
