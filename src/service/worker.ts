import { JobNotes } from "../operations/processes-sql.ts";
import { isOutOfReach } from "../platform/database/database.ts";
import { atMostEvery } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { withinJob } from "../platform/telemetry/tracing.ts";
import { SECOND_MS } from "../platform/time.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { JOBS, type Job } from "./jobs.ts";

export type Worker = {
  /**
   * Runs each job without its pause, and returns how many items they processed. A run that has begun already has read the time and
   * the tables, so it does not count.
   */
  runNow(): Promise<number>;
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
  const loops = jobs.map((job) => new JobLoop(context, { metrics, notes, logFailure }, job, stopping.signal));
  return {
    async runNow() {
      const counts = await Promise.all(loops.map((loop) => loop.runNow()));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    async stop() {
      stopping.abort();
      await Promise.all(loops.map(({ ended }) => ended));
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

/** The runs of one job, with a pause after each. */
class JobLoop {
  readonly ended: Promise<void>;
  readonly #stopping: AbortSignal;
  /** Callers of `runNow` whose run has not begun. */
  #requests: ((itemCount: number) => void)[] = [];
  #endPause: () => void = () => undefined;

  constructor(context: WebhookContext, reports: Reports, job: Job, stopping: AbortSignal) {
    this.#stopping = stopping;
    stopping.addEventListener("abort", () => this.#endPause(), { once: true });
    this.ended = this.#repeat(context, reports, job);
  }

  runNow(): Promise<number> {
    if (this.#stopping.aborted) return Promise.resolve(0);
    return new Promise((resolve) => {
      this.#requests.push(resolve);
      this.#endPause();
    });
  }

  async #repeat(context: WebhookContext, reports: Reports, job: Job): Promise<void> {
    while (!this.#stopping.aborted) {
      const requests = this.#requests.splice(0);
      const { itemCount, waitMs } = await runOnce(context, reports, job, this.#stopping);
      for (const resolve of requests) resolve(itemCount);
      await this.#pause(waitMs);
    }
    for (const resolve of this.#requests) resolve(0);
  }

  async #pause(ms: number): Promise<void> {
    if (this.#stopping.aborted || this.#requests.length > 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

async function runOnce(
  context: WebhookContext,
  { metrics, notes, logFailure }: Reports,
  job: Job,
  stopping: AbortSignal,
): Promise<{ itemCount: number; waitMs: number }> {
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
  return { itemCount: count ?? 0, waitMs };
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
