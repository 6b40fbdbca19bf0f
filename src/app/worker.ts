import type { Metrics } from "../platform/metrics.ts";
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
    try {
      metrics.jobDone(job.name, await job.run(context, stopping));
    } catch (err) {
      metrics.jobFailed(job.name);
      context.log.error({ err, job: job.name }, "job failed, will run again");
    }
    await pause(job.everyMs, stopping);
  }
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.aborted) return resolve();
    const timer = setTimeout(done, ms);
    stopping.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      stopping.removeEventListener("abort", done);
      resolve();
    }
  });
}
