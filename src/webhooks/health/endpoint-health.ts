import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../platform/time.ts";
/** How an endpoint has been doing. Decision 0031. */
export type EndpointHealth = {
  readonly consecutiveFailures: number;
  /** The first failure since the last success; null when all is well. */
  readonly failingSince: Date | null;
  readonly lastFailureAt: Date | null;
  /** To the hour: at least one hour must have passed before a later success is noted. */
  readonly lastSuccessAt: Date;
  /** Nothing is sent until then; afterwards a single delivery tries the way. */
  readonly backoffUntil: Date | null;
  readonly warningsSent: number;
};

export type PauseReason = "gone" | "failing";

export type HealthChange = {
  readonly health: EndpointHealth;
  readonly pause: PauseReason | null;
  /** The warning to send now: 1 after a day, 2 after three, 3 at the pause. */
  readonly warning: 1 | 2 | 3 | null;
};

/** What the outcomes of an endpoint, so far, say of it. */
export type HealthReport = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly endpointId: string;
  readonly health: EndpointHealth;
  readonly pause: HealthChange["pause"];
  readonly warning: HealthChange["warning"];
};

/** Failures in a row after which an endpoint is left alone for a while. */
const BACKOFF_AFTER_FAILURES = 10;
const BACKOFF_MAX_MS = 5 * MINUTE_MS;
const PAUSE_AFTER_MS = 5 * DAY_MS;
const SPREAD_MS = 12 * HOUR_MS;
const FIRST_WARNING_AFTER_MS = DAY_MS;
const SECOND_WARNING_AFTER_MS = 3 * DAY_MS;
/** A success is noted only to the hour, so nothing is concluded from its age before another hour has passed. */
const NOTED_MS = HOUR_MS;

/** True when the endpoint has failed so often that one delivery at a time has to try the way first. */
export const isOnProbation = ({ consecutiveFailures }: EndpointHealth): boolean =>
  consecutiveFailures >= BACKOFF_AFTER_FAILURES;

/** Null when the success changes nothing worth a write. */
export function afterSuccess(health: EndpointHealth, at: Date): EndpointHealth | null {
  const isNoted = at.getTime() - health.lastSuccessAt.getTime() < NOTED_MS;
  if (health.failingSince === null && isNoted) return null;
  return {
    consecutiveFailures: 0,
    failingSince: null,
    lastFailureAt: health.lastFailureAt,
    lastSuccessAt: at,
    backoffUntil: null,
    warningsSent: 0,
  };
}

/**
 * @param gone the endpoint answered 410: it wants nothing more
 * @param retryMs the schedule: holds begin with its first step, double, and are no longer than its longest step or
 *   five minutes
 */
export function afterFailure(
  health: EndpointHealth,
  { at, gone, retryMs }: { at: Date; gone: boolean; retryMs: readonly number[] },
): HealthChange {
  // Requests that were under way when the hold began tell nothing new.
  const held = health.backoffUntil !== null && at < health.backoffUntil;
  const consecutiveFailures = health.consecutiveFailures + (held ? 0 : 1);
  const failed: EndpointHealth = {
    ...health,
    consecutiveFailures,
    failingSince: health.failingSince ?? at,
    lastFailureAt: at,
    backoffUntil: held ? health.backoffUntil : backoffEnd(consecutiveFailures, at, retryMs),
  };
  if (gone) return { health: failed, pause: "gone", warning: 3 };
  return withWarning(failed, at);
}

function backoffEnd(consecutiveFailures: number, at: Date, retryMs: readonly number[]): Date | null {
  if (consecutiveFailures < BACKOFF_AFTER_FAILURES) return null;
  const longest = Math.min(BACKOFF_MAX_MS, Math.max(0, ...retryMs));
  const doubled = (retryMs[0] ?? 0) * 2 ** Math.min(consecutiveFailures - BACKOFF_AFTER_FAILURES, 30);
  return new Date(at.getTime() + Math.min(longest, doubled));
}

function withWarning(health: EndpointHealth, at: Date): HealthChange {
  const silentMs = at.getTime() - health.lastSuccessAt.getTime() - NOTED_MS;
  const spreadMs = at.getTime() - (health.failingSince ?? at).getTime();
  if (silentMs >= PAUSE_AFTER_MS && spreadMs >= SPREAD_MS)
    return { health: { ...health, warningsSent: 3 }, pause: "failing", warning: 3 };
  // An endpoint that was merely quiet for days is not warned of at its first failure.
  const stage = spreadMs < SPREAD_MS ? null : warningStage(silentMs);
  if (stage === null || stage <= health.warningsSent) return { health, pause: null, warning: null };
  return { health: { ...health, warningsSent: stage }, pause: null, warning: stage };
}

function warningStage(silentMs: number): 1 | 2 | null {
  if (silentMs < FIRST_WARNING_AFTER_MS) return null;
  return silentMs < SECOND_WARNING_AFTER_MS ? 1 : 2;
}
