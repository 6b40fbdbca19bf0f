import { MINUTE_MS, SECOND_MS } from "../../platform/time.ts";
import type { JobRuns } from "./job-runs.ts";

/** How often a process reports that it runs. */
export const HEARTBEAT_MS = 10 * SECOND_MS;
/** A process that was not seen for so long is missing: it was killed, or cannot reach the database. */
const MISSING_AFTER_MS = MINUTE_MS;
/** How long the rows of a process are kept after it was last seen. */
export const PROCESSES_KEPT_MS = 60 * MINUTE_MS;
/** How many processes are shown, the last seen first. */
export const PROCESSES_SHOWN_MAX = 100;

/** What a process of the service reports of itself. */
export type ProcessReport = {
  readonly id: string;
  readonly roles: readonly string[];
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: Date;
  readonly seenAt: Date;
  readonly stoppedAt: Date | null;
};

export const PROCESS_STATUSES = ["running", "missing", "stopped"] as const;

/** A process as others see it. */
export type Process = ProcessReport & { readonly status: (typeof PROCESS_STATUSES)[number] };

export function processStatus(
  { seenAt, stoppedAt }: Pick<ProcessReport, "seenAt" | "stoppedAt">,
  now: Date,
): Process["status"] {
  if (stoppedAt !== null) return "stopped";
  return now.getTime() - seenAt.getTime() > MISSING_AFTER_MS ? "missing" : "running";
}

/** A job over all processes that run: its last run, wherever that was, and the next one. */
export type JobSummary = JobRuns & {
  /** How many processes run the job now. */
  readonly runningCount: number;
};

/** Sums up each job over several processes. In the order of the names. */
export function sumUpJobs(runs: readonly JobRuns[]): JobSummary[] {
  const byJob = Map.groupBy(runs, ({ job }) => job);
  return [...byJob.keys()].sort().map((job) => sumUp(job, byJob.get(job) ?? []));
}

function sumUp(job: string, runs: readonly JobRuns[]): JobSummary {
  const running = runs.map(({ runningSince }) => runningSince).filter((since) => since !== null);
  const next = runs.map(({ nextRunAt }) => nextRunAt).filter((at) => at !== null);
  const lasts = runs.map(({ last }) => last).filter((last) => last !== null);
  return {
    job,
    runningCount: running.length,
    runningSince: earliest(running),
    last: lasts.toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime())[0] ?? null,
    failureCount: Math.max(0, ...runs.map(({ failureCount }) => failureCount)),
    nextRunAt: earliest(next),
  };
}

const earliest = (times: readonly Date[]): Date | null =>
  times.toSorted((a, b) => a.getTime() - b.getTime())[0] ?? null;
