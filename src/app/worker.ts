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
    try {
      metrics.jobDone(job.name, await job.run(context, stopping));
    } catch (err) {
      metrics.jobFailed(job.name);
      context.log.error({ err, job: job.name }, "job failed, will run again");
    }
    await pause(job.everyMs, stopping);
  }
}
