import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { limitLockWaits, type Queryable } from "../../platform/database/database.ts";
import type { HealthReport } from "../endpoints/health.ts";
import { pauseEndpoint, saveHealth } from "../endpoints/health-sql.ts";
import { warnMerchant } from "../endpoints/pause.ts";
import type { Completion } from "./claimed-delivery.ts";
import {
  advanceStreams,
  type DeliveryState,
  type EndedHead,
  finishDeliveries,
  insertAttempts,
  lockClaimedStreams,
  readStates,
  rescheduleClaims,
} from "./complete-sql.ts";

/** How a claim ended, with its evidence about the endpoint. */
export type RecordedCompletion = {
  readonly completion: Completion;
  /** Null when the health of the endpoint need not be stored. */
  readonly health: HealthReport | null;
  /** Whether the endpoint was already paused when the outcome arrived. */
  readonly wasPaused: boolean;
};

/**
 * Records outcomes in one transaction: stores attempts, finishes or reschedules deliveries, advances their streams, and
 * saves the health of endpoints. Returns the connections whose streams have a new head. For a claim that was taken over
 * by another worker only the attempt is stored.
 * @param lockWaitMs the longest wait for a lock. Absent: that of the pool
 */
export async function completeDeliveries(
  context: Context,
  workerId: string,
  recorded: readonly RecordedCompletion[],
  lockWaitMs?: number,
): Promise<ConnectionKey[]> {
  return inTransaction(context, async (tx) => {
    if (lockWaitMs !== undefined) await limitLockWaits(tx, lockWaitMs);
    const now = context.clock.now();
    const completions = recorded.map(({ completion }) => completion);
    const held = await lockClaimedStreams(
      tx,
      completions.map(({ delivery }) => delivery),
    );
    await storeHealth(context, tx, workerId, newestReports(recorded), now);
    // The usual outcome, a success of an active endpoint, needs no read of the delivery and the endpoint.
    const unusual = recorded.filter(
      ({ completion: { delivery, outcome }, wasPaused }) =>
        !held.has(delivery) || outcome.is !== "succeeded" || wasPaused,
    );
    const stateOf = await readStates(
      tx,
      unusual.map(({ completion }) => completion.delivery),
    );
    // Nothing is stored about a delivery that was erased.
    await insertAttempts(
      tx,
      completions.filter(({ delivery }) => held.has(delivery) || stateOf(delivery) !== null),
    );
    const claims = completions
      .filter(({ delivery }) => held.has(delivery))
      .map((completion) => ({ ...completion, ...(stateOf(completion.delivery) ?? USUAL_STATE) }));
    return endClaims(tx, claims, now);
  });
}

const USUAL_STATE: DeliveryState = { isPending: true, endpointStatus: "active" };

/** Outcomes arrive in the order in which they were observed, so the last report of an endpoint includes the others. */
function newestReports(recorded: readonly RecordedCompletion[]): HealthReport[] {
  const newest = new Map<string, HealthReport>();
  for (const { health: report } of recorded) {
    if (report === null) continue;
    const earlier = newest.get(report.endpoint.id);
    newest.set(report.endpoint.id, {
      ...report,
      provenHost: report.provenHost ?? earlier?.provenHost,
      pause: report.pause ?? earlier?.pause ?? null,
      warning: report.warning ?? earlier?.warning ?? null,
    });
  }
  // In one order everywhere, so that transactions do not wait for each other in a circle.
  return [...newest.values()].sort((a, b) => (a.endpoint.id < b.endpoint.id ? -1 : 1));
}

async function storeHealth(
  context: Context,
  tx: Queryable,
  workerId: string,
  reports: readonly HealthReport[],
  now: Date,
): Promise<void> {
  await saveHealth(tx, workerId, reports);
  for (const report of reports) {
    const isNew = report.pause === null || (await pauseEndpoint(tx, report.endpoint, report.pause, now));
    if (report.warning !== null && isNew)
      await warnMerchant(tx, report, report.warning, { id: context.newId(), now });
  }
}

/** A claim that this worker still holds. */
type HeldClaim = Completion & DeliveryState;

async function endClaims(tx: Queryable, claims: readonly HeldClaim[], now: Date): Promise<ConnectionKey[]> {
  for (const status of ["succeeded", "failed"] as const)
    await finishDeliveries(
      tx,
      status,
      claims.filter((claim) => finalStatus(claim) === status).map(({ delivery }) => delivery),
    );
  await rescheduleClaims(
    tx,
    claims.filter(staysDue).map(({ delivery, outcome }) => ({
      delivery,
      dueAt: outcome.is === "retry" ? outcome.at : now,
      attemptCount: delivery.attemptCount + (outcome.is === "retry" ? 1 : 0),
    })),
  );
  return advanceStreams(tx, claims.filter((claim) => !staysDue(claim)).flatMap(endedHeads), now);
}

/** A manual attempt that fails changes nothing: neither an earlier success nor the schedule, which continues. */
function finalStatus({
  outcome,
  delivery,
  isPending,
  endpointStatus,
}: HeldClaim): "succeeded" | "failed" | null {
  if (outcome.is === "succeeded") return "succeeded";
  const isGivenUp = outcome.is === "failed" || endpointStatus === "deleted";
  return isGivenUp && delivery.trigger !== "manual" && isPending ? "failed" : null;
}

const staysDue = ({ outcome, delivery, isPending, endpointStatus }: HeldClaim): boolean =>
  (outcome.is === "retry" || outcome.is === "released") &&
  endpointStatus === "active" &&
  (isPending || delivery.trigger === "manual");

function endedHeads({ delivery, outcome, endpointStatus }: HeldClaim): EndedHead[] {
  const { merchantId, endpointId, streamId, deliveryId, claimId, ownStreamId } = delivery;
  const head = {
    merchantId,
    endpointId,
    streamId,
    deliveryId,
    claimId,
    continues: endpointStatus === "active",
  };
  if (delivery.trigger !== "manual") return [head];
  const ended = { ...head, continues: false };
  // A manual attempt that succeeds makes the scheduled one unnecessary, unless that is in progress.
  return outcome.is === "succeeded" ? [ended, { ...head, streamId: ownStreamId, claimId: null }] : [ended];
}
