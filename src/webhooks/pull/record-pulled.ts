import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { eachUntilDone, listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { before, DAY_MS } from "../../platform/time.ts";
import { type Completion, releasedClaim } from "../delivery/claimed-delivery.ts";
import { recordCompletions, storeHealth } from "../delivery/complete-deliveries.ts";
import { attemptLog } from "../delivery/dispatcher.ts";
import { completionOf, isGone, isSuccess } from "../delivery/send-delivery.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import { readEndpoint } from "../endpoints/endpoints-sql.ts";
import {
  afterFailure,
  afterSilence,
  afterSuccess,
  type EndpointHealth,
  type HealthReport,
  isOnProbation,
  NOT_FETCHED,
} from "../endpoints/health.ts";
import {
  deletePullLeases,
  listEndpointsWithEndedLeases,
  listPullLeases,
  listSilentEndpoints,
  lockPullState,
  type PullLease,
  type SilentEndpoint,
} from "./pull-sql.ts";

// How leases of pull endpoints end: with an acknowledgement, returned, or without either. The outcome is recorded as that of a
// push (docs/design/deliveries.md, "Pull endpoints").

/** A pull endpoint whose state is locked. */
export type LockedPull = {
  readonly key: EndpointKey;
  /** As the transaction leaves it. */
  health: EndpointHealth;
  /** A deleted endpoint counts as paused: its attempts are no evidence any more. */
  isPaused: boolean;
  /** What the transaction records, to be noted after its commit. */
  readonly made: Completion[];
};

/** The log and the metrics have these attempts as those of a dispatcher. A client decides when it fetches, so no delay is measured. */
export function noteMade(
  { log, attemptMade }: Pick<Context, "log" | "attemptMade">,
  made: readonly Completion[],
): void {
  if (made.length === 0) return;
  const lines = attemptLog(log);
  for (const completion of made) {
    lines.write(completion);
    const { attempt } = completion;
    if (attempt?.fault === null) attemptMade?.(isSuccess(attempt) ? "succeeded" : "failed", null);
  }
  lines.close();
}

/** Locks a pull endpoint, which may be deleted. Null if there is none. */
export async function lockPull(tx: Queryable, key: EndpointKey): Promise<LockedPull | null> {
  const health = await lockPullState(tx, key);
  if (health === null) return null;
  const endpoint = await readEndpoint(tx, key, key.id); // After the lock, so that it is as the last one has left it.
  return { key, health, isPaused: endpoint?.status !== "active", made: [] };
}

/** A lease and how its attempt ended. Without a delivery, which was erased, nothing is recorded. */
export type EndedLease = {
  readonly lease: Pick<PullLease, "deliveryId" | "number">;
  readonly completion: Completion | null;
};

/** Ends leases with their outcomes, in the order of their attempts. */
export async function endLeases(
  tx: Queryable,
  context: Context,
  pull: LockedPull,
  ended: readonly EndedLease[],
): Promise<void> {
  if (ended.length === 0) return;
  const completions = ended.flatMap(({ completion }) => completion ?? []);
  await deletePullLeases(
    tx,
    pull.key,
    ended.map(({ lease }) => lease),
  );
  await recordPulled(tx, context, pull, completions);
}

/** Records the outcomes of claims of the endpoint. */
export async function recordPulled(
  tx: Queryable,
  context: Context,
  pull: LockedPull,
  completions: readonly Completion[],
): Promise<void> {
  if (completions.length === 0) return;
  const recorded = completions.map((completion) => ({
    completion,
    health: healthAfter(context, pull, completion),
    wasPaused: true, // So that the state of each delivery is read: the endpoint may have been paused or deleted since the lease.
  }));
  await recordCompletions(context, tx, null, recorded);
  pull.made.push(...completions);
}

/** As a worker's queue does it for a push. Null if nothing is to be stored. */
function healthAfter(
  { clock, config }: Context,
  pull: LockedPull,
  { attempt }: Completion,
): HealthReport | null {
  if (attempt?.fault !== null || pull.isPaused) return null;
  const { key: endpoint, health } = pull;
  const at = clock.now();
  if (isSuccess(attempt)) {
    const next = afterSuccess(health, at);
    if (next === null) return null;
    pull.health = next;
    return { endpoint, health: next, pause: null, warning: null, endsBackoff: isOnProbation(health) };
  }
  const change = afterFailure(health, {
    at,
    error: attempt.error,
    gone: isGone(attempt),
    retryMs: config.webhookRetryMs,
  });
  pull.health = change.health;
  if (change.pause !== null) pull.isPaused = true;
  return { endpoint, ...change, failedSince: attempt.startedAt };
}

/** The error of an attempt whose lease has ended. It begins as those whose outcome is not known do. */
export const LEASE_ENDED = "outcome unknown: not acknowledged before the lease ended";

/** Records the leases whose time is over as failed attempts. Returns the others. */
export async function endOverdue(tx: Queryable, context: Context, pull: LockedPull): Promise<PullLease[]> {
  const now = context.clock.now();
  const leases = await listPullLeases(tx, pull.key);
  const overdue = leases.filter(({ leasedUntil }) => leasedUntil <= now);
  await endLeases(
    tx,
    context,
    pull,
    overdue.map((lease) => ({ lease, completion: lostCompletion(context, lease) })),
  );
  return leases.filter(({ leasedUntil }) => leasedUntil > now);
}

function lostCompletion(context: Context, { delivery, leasedAt, leasedUntil }: PullLease): Completion | null {
  if (delivery === null) return null;
  return completionOf({ ...context, random: Math.random }, delivery, leasedAt, {
    durationMs: leasedUntil.getTime() - leasedAt.getTime(),
    responseStatus: null,
    responseBody: null,
    error: LEASE_ENDED,
    retryAfter: null,
  });
}

/** Returns leased deliveries that did not reach their client: they are due again, and the attempts do not count. */
export async function returnLeases(
  context: Context,
  key: EndpointKey,
  returned: readonly Pick<PullLease, "deliveryId" | "number">[],
): Promise<void> {
  await inTransaction(context, async (tx) => {
    const pull = await lockPull(tx, key);
    if (pull === null) return;
    const named = new Set(returned.map(nameOf));
    const leases = (await listPullLeases(tx, key)).filter((lease) => named.has(nameOf(lease)));
    const ended = leases.map((lease) => ({
      lease,
      completion: lease.delivery === null ? null : releasedClaim(lease.delivery),
    }));
    await endLeases(tx, context, pull, ended);
  });
  context.signals.send("leases_ended", [key]);
}

export const nameOf = ({ deliveryId, number }: Pick<PullLease, "deliveryId" | "number">): string =>
  `${deliveryId} ${number}`;

/** Ends the leases of all pull endpoints whose time is over. A client that never comes back leaves none. Returns how many endpoints. */
export function endPullLeases(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(() => listEndpointsWithEndedLeases(context.db, context.clock.now())),
    async (key) => {
      const made = await inTransaction(context, async (tx) => {
        const pull = await lockPull(tx, key);
        if (pull !== null) await endOverdue(tx, context, pull);
        return pull?.made ?? [];
      });
      noteMade(context, made);
      context.signals.send("leases_ended", [key]);
      return 1;
    },
    stopping,
  );
}

/**
 * Reports pull endpoints from which no program leases, as failing ones (docs/design/deliveries.md, "Pull endpoints"). Returns how many.
 */
export async function reportSilentEndpoints(context: Context, stopping?: AbortSignal): Promise<number> {
  const silentSince = () => before(context.clock.now(), DAY_MS);
  const silent = await listSilentEndpoints(context.db, silentSince(), NOT_FETCHED);
  let count = 0;
  const reportOnce = async ({ dueSince, ...key }: SilentEndpoint): Promise<number> => {
    const paused = await inTransaction(context, async (tx) => {
      const pull = await lockPull(tx, key);
      // A program may have come since the search.
      if (pull === null || pull.isPaused || pull.health.lastSuccessAt >= silentSince()) return false;
      if ((await listPullLeases(tx, key)).length > 0) return false;
      const at = context.clock.now();
      const report = { endpoint: key, ...afterSilence(pull.health, { at, dueSince }) };
      await storeHealth(context, tx, null, [report], at);
      count += 1;
      return report.pause !== null;
    });
    if (paused) context.signals.send("endpoints_changed", [key]);
    return 0; // Each once in a run.
  };
  await runInTurn(eachUntilDone(silent), reportOnce, stopping);
  return count;
}
