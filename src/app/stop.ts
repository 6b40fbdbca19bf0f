import type { Logger } from "pino";
import { within } from "../platform/pause.ts";

/**
 * The longest stop, with the delay before it: operators and their tools send SIGKILL after ten seconds. Each part of it
 * has a limit of its own, and a test adds them up (decision 0101).
 */
export const STOP_MS = 9_000;
/** Listeners, jobs and deliveries, at the same time. What is not finished then continues without a listener or is lost. */
export const DRAIN_MS = 5_000;
/** What is left for the database if everything before took its limit. */
export const CLOSE_MIN_MS = 500;

type StopStep = { readonly name: string; stop(): Promise<unknown> };

/**
 * The order of stopping: first the entry points (listeners, jobs, deliveries), at the same time, then their resources, in
 * reverse order.
 */
export type Stops = { readonly entryPoints: StopStep[]; readonly resources: StopStep[] };

/**
 * Ends everything that was started, by a deadline. A step that needs longer is logged and left behind: what it had not
 * committed is rolled back, and its leases expire, as after a crash.
 */
export async function stopAll(
  { entryPoints, resources }: Stops,
  log: Logger,
  endsAtMs: number,
): Promise<void> {
  await Promise.all(entryPoints.map((step) => end(step, DRAIN_MS, log)));
  for (const step of resources.toReversed())
    await end(step, Math.max(CLOSE_MIN_MS, endsAtMs - performance.now()), log);
}

async function end({ name, stop }: StopStep, ms: number, log: Logger): Promise<void> {
  try {
    await within(ms, stop());
  } catch (err) {
    log.warn({ err, step: name }, "part of the service not stopped, left behind");
  }
}
