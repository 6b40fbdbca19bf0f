import type { Clock } from "../../platform/clock.ts";

/** How the runs of one job of this process went. */
export type JobRuns = {
  readonly job: string;
  readonly runningSince: Date | null;
  /** The last run that has ended. `itemCount` is null if it failed, `error` if it did not. */
  readonly last: {
    readonly startedAt: Date;
    readonly durationMs: number;
    readonly itemCount: number | null;
    readonly error: string | null;
  } | null;
  readonly failureCount: number;
  readonly nextRunAt: Date | null;
};

const ERROR_MAX = 500;

/** PostgreSQL stores no NUL in a text. */
const textOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll("\0", "").slice(0, ERROR_MAX);

/** What the worker of this process notes of its jobs, in memory. The heartbeat stores it. */
export class JobNotes {
  readonly #runs = new Map<string, JobRuns>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call it when a run starts. */
  started(job: string): void {
    const before = this.#runs.get(job);
    this.#runs.set(job, {
      job,
      runningSince: this.#clock.now(),
      last: before?.last ?? null,
      failureCount: before?.failureCount ?? 0,
      nextRunAt: null,
    });
  }

  /** Call it when the run has ended. @param outcome how many items it processed, or why it failed */
  ended(job: string, outcome: { itemCount: number } | { error: unknown }, nextRunInMs: number): void {
    const before = this.#runs.get(job);
    const now = this.#clock.now();
    const startedAt = before?.runningSince ?? now;
    const failed = "error" in outcome;
    this.#runs.set(job, {
      job,
      runningSince: null,
      last: {
        startedAt,
        durationMs: Math.max(0, now.getTime() - startedAt.getTime()),
        itemCount: failed ? null : outcome.itemCount,
        error: failed ? textOf(outcome.error) : null,
      },
      failureCount: failed ? (before?.failureCount ?? 0) + 1 : 0,
      nextRunAt: new Date(now.getTime() + nextRunInMs),
    });
  }

  /** As it is now. Jobs are few and fixed. */
  list(): JobRuns[] {
    return [...this.#runs.values()];
  }
}
