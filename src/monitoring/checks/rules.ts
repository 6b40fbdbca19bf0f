import { PARTITIONS_AHEAD_MIN_MS } from "../../platform/database/day-partitions.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../platform/time.ts";

export const CHECK_STATUSES = ["ok", "warn", "fail"] as const;

/** The result of a check. Only `fail` makes the exit code of `doctor` 1. */
export type Finding = {
  readonly check: string;
  readonly status: (typeof CHECK_STATUSES)[number];
  readonly message: string;
  /** What was found, by a name that does not change, for programs and translations. Null: the message says all. */
  readonly reason: Reason | null;
  /** What the message says of it: numbers, and names joined with commas. Times are in milliseconds. */
  readonly values: Readonly<Record<string, string | number>>;
};

export const REASONS = [
  "version-too-old",
  "migrations-missing",
  "clock-ahead",
  "clock-behind",
  "work-waits",
  "endpoints-paused",
  "not-distributed",
  "tables-misplaced",
  "no-partition",
  "few-partitions",
  "secret-keys-missing",
  "processes-missing",
  "jobs-failed",
  "embedded-postgres",
  "database-in-the-clear",
  "mail-in-the-clear",
  "private-destinations",
  "proxies-not-trusted",
] as const;
export type Reason = (typeof REASONS)[number];

export type Result = Omit<Finding, "check">;
type Found = (reason: Reason, message: string, values?: Result["values"]) => Result;

export const ok = (message: string): Result => ({ status: "ok", message, reason: null, values: {} });
export const warn: Found = (reason, message, values = {}) => ({ status: "warn", message, reason, values });
const fail: Found = (reason, message, values = {}) => ({ status: "fail", message, reason, values });
/** A check that could not be made, or an error that says all. */
export const failed = (message: string): Result => ({ status: "fail", message, reason: null, values: {} });

const POSTGRES_MIN = 15;
/** Deadlines, signatures and leases depend on the clock of each machine. */
const CLOCK_WARN_MS = 1_000;
/** With more, two workers take an endpoint from each other again and again (decision 0196). */
const CLOCK_FAIL_MS = 8_000;
/** A worker looks for due work about every second, so work that has waited for a minute indicates a problem. */
const WAIT_WARN_MS = MINUTE_MS;
const WAIT_FAIL_MS = 10 * MINUTE_MS;

/** @param versionNumber as PostgreSQL reports it: 180004 is 18.4 */
export function checkVersion(versionNumber: number): Result {
  const message = `PostgreSQL ${Math.floor(versionNumber / 10_000)}.${versionNumber % 10_000}`;
  if (versionNumber >= POSTGRES_MIN * 10_000) return ok(message);
  return fail("version-too-old", `${message}; the service needs ${POSTGRES_MIN} or later`, {
    version: message,
    needed: POSTGRES_MIN,
  });
}

export const checkMigrations = (pending: readonly string[]): Result =>
  pending.length === 0
    ? ok("all migrations are applied")
    : fail(
        "migrations-missing",
        `not applied: ${pending.join(", ")}; start the service, or run: npm run cli -- migrate`,
        { migrations: pending.join(", ") },
      );

/** @param aheadMs how far this machine's clock is ahead of the database's, negative when behind */
export function checkClock(aheadMs: number): Result {
  const apartMs = Math.abs(aheadMs);
  if (apartMs <= CLOCK_WARN_MS) return ok("this machine and the database agree");
  const message = `this machine is ${durationText(apartMs)} ${aheadMs > 0 ? "ahead of" : "behind"} the database`;
  const find = apartMs > CLOCK_FAIL_MS ? fail : warn;
  return find(aheadMs > 0 ? "clock-ahead" : "clock-behind", message, { apartMs });
}

/** @param waitingMs how long the oldest work has waited; null if there is none */
export function checkQueue(waitingMs: number | null): Result {
  if (waitingMs === null) return ok("no work is waiting");
  const message = `the oldest work has waited for ${durationText(Math.max(0, waitingMs))}`;
  if (waitingMs <= WAIT_WARN_MS) return ok(message);
  const hint = `${message}: check that enough workers run`;
  const find = waitingMs > WAIT_FAIL_MS ? fail : warn;
  return find("work-waits", hint, { waitingMs });
}

export const checkPaused = (count: number): Result =>
  count === 0
    ? ok("no endpoint is paused")
    : warn("endpoints-paused", `${count} paused; partners can resume them`, { count });

/**
 * @param nodeCount the nodes of Citus with data; null on a plain PostgreSQL
 * @param misplaced tables that are not where they should be
 */
export function checkDistribution(
  nodeCount: number | null,
  isDistributed: boolean,
  misplaced: readonly string[],
): Result {
  if (nodeCount === null) return ok("one server");
  if (!isDistributed)
    return warn("not-distributed", "Citus is installed, and no table is distributed: run distribute");
  const tables = misplaced.join(", ");
  if (misplaced.length > 0)
    return fail("tables-misplaced", `not where they should be: ${tables}; run distribute`, { tables });
  return ok(`all tables are where they should be, over ${nodeCount} nodes`);
}

/** @param aheadMs how long from now every row has a partition */
export function checkPartitions(aheadMs: number): Result {
  const message = `partitions exist for the next ${durationText(aheadMs)}`;
  if (aheadMs === 0)
    return fail("no-partition", "no partition for today: no row can be stored; check that a worker runs");
  return aheadMs < PARTITIONS_AHEAD_MIN_MS
    ? warn("few-partitions", `${message}: check that a worker runs`, { aheadMs })
    : ok(message);
}

/** @param missing ids of keys that stored secrets are encrypted with, but that are not configured */
export const checkSecretKeys = (missing: readonly string[]): Result =>
  missing.length === 0
    ? ok("all secrets can be decrypted")
    : fail(
        "secret-keys-missing",
        `WEBHOOK_SECRET_KEYS lacks ${missing.join(", ")}: secrets in the database cannot be decrypted`,
        { keys: missing.join(", ") },
      );

/** @param missing processes that were seen within the hour and neither run nor have stopped; named by host and number */
export function checkProcesses(runningCount: number, missing: readonly string[]): Result {
  if (missing.length > 0)
    return warn(
      "processes-missing",
      `not seen for a minute: ${missing.join(", ")}; it was killed, or cannot reach the database`,
      { processes: missing.join(", ") },
    );
  return ok(`${runningCount} running`);
}

/** @param failing the names of jobs whose last run has failed */
export const checkJobs = (failing: readonly string[]): Result =>
  failing.length === 0
    ? ok("no job has failed")
    : warn(
        "jobs-failed",
        `the last run failed: ${failing.join(", ")}; the log of the worker has the reason`,
        { jobs: failing.join(", ") },
      );

function durationText(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < 120 * MINUTE_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} days`;
}
