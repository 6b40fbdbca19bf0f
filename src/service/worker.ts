import { JobNotes } from "../operations/processes-sql.ts";
import { isOutOfReach } from "../platform/database/database.ts";
import { atMostEvery } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { pause } from "../platform/run-in-turn.ts";
import { withinJob } from "../platform/telemetry/tracing.ts";
import { SECOND_MS } from "../platform/time.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { JOBS, type Job } from "./jobs.ts";

export type Worker = {
  /** Starts no further run, and resolves when the current runs have ended. */
  stop(): Promise<void>;
};

type JobMetrics = Pick<Metrics, "jobDone" | "jobFailed">;

/** Runs each job repeatedly, independently of the others. A failed run is logged, and the job runs again. */
export function startWorker(
  context: WebhookContext,
  metrics: JobMetrics,
  jobs: readonly Job[] = JOBS,
  notes: JobNotes = new JobNotes(context.clock),
): Worker {
  const stopping = new AbortController();
  const logFailure = failureLog(context, jobs);
  const loops = jobs.map((job) => repeat(context, { metrics, notes, logFailure }, job, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

type LogFailure = (err: unknown, job: Job) => void;
/** Where the outcome of a run goes: to metrics, to operators, and to the log if it failed. */
type Reports = { readonly metrics: JobMetrics; readonly notes: JobNotes; readonly logFailure: LogFailure };

/**
 * What fails, fails again in each run, such as an order that cannot be stored: twice a second. One line of each job in this
 * time has the number of its failed runs, and while the database is unavailable one line that of all jobs.
 */
const FAILURE_LINE_MS = 10 * SECOND_MS;

function failureLog({ log }: WebhookContext, jobs: readonly Job[]): LogFailure {
  // A moment without the database is no error: at a start, or a failover. One that lasts is.
  let lastLineAtMs = Number.NEGATIVE_INFINITY;
  const logUnavailable = atMostEvery<unknown>(FAILURE_LINE_MS, (err, count) => {
    const lasts = performance.now() - lastLineAtMs < 2 * FAILURE_LINE_MS;
    lastLineAtMs = performance.now();
    log[lasts ? "error" : "warn"]({ err, count }, "database unavailable, jobs will run again");
  });
  const logOf = new Map(
    jobs.map((job) => [
      job,
      atMostEvery<unknown>(FAILURE_LINE_MS, (err, count) =>
        log.error({ err, job: job.name, count }, "job failed, will run again"),
      ),
    ]),
  );
  return (err, job) => (isOutOfReach(err) ? logUnavailable(err) : logOf.get(job)?.(err));
}

async function repeat(
  context: WebhookContext,
  { metrics, notes, logFailure }: Reports,
  job: Job,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const startedAt = performance.now();
    let count: number | null = null;
    let failure: unknown;
    notes.started(job.name);
    try {
      count = await withinJob(job.name, () => job.run(context, stopping));
      metrics.jobDone(job.name, count);
    } catch (err) {
      failure = err;
      metrics.jobFailed(job.name);
      logFailure(err, job);
    }
    const idleMs = count === 0 ? performance.now() - startedAt : 0;
    const waitMs = pauseMs(job.everyMs, idleMs);
    notes.ended(job.name, count === null ? { error: failure } : { itemCount: count }, waitMs);
    await pause(waitMs, stopping);
  }
}

/** The part of the time that a job may look for work without finding any. */
const IDLE_PART = 0.02;
const IDLE_PAUSE_MAX_MS = 2_500;

/**
 * How long a job pauses. To look for work takes longer, the more connections there are, or the busier the database is.
 * @param idleMs how long the job looked for work and found none
 */
export const pauseMs = (everyMs: number, idleMs: number): number =>
  Math.max(everyMs, Math.min(IDLE_PAUSE_MAX_MS, idleMs / IDLE_PART));
