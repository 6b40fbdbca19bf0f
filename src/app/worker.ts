import type { Metrics } from "../platform/metrics.ts";
import { pause } from "../platform/pause.ts";
import type { WebhookContext } from "../webhooks/context.ts";
import { JOBS, type Job } from "./jobs.ts";

export type Worker = {
  /** Starts no further run, and resolves when the current runs have ended. */
  stop(): Promise<void>;
};

/** Runs each job repeatedly, independently of the others. A failed run is logged, and the job runs again. */
export function startWorker(context: WebhookContext, metrics: Metrics, jobs: readonly Job[] = JOBS): Worker {
  const stopping = new AbortController();
  const loops = jobs.map((job) => repeat(context, metrics, job, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

async function repeat(
  context: WebhookContext,
  metrics: Metrics,
  job: Job,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const startedAt = performance.now();
    let count: number | null = null;
    try {
      count = await job.run(context, stopping);
      metrics.jobDone(job.name, count);
    } catch (err) {
      metrics.jobFailed(job.name);
      context.log.error({ err, job: job.name }, "job failed, will run again");
    }
    const idleMs = count === 0 ? performance.now() - startedAt : 0;
    await pause(pauseMs(job.everyMs, idleMs), stopping);
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
