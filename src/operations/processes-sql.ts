import type { Queryable } from "../platform/database/database.ts";
import { before, type Clock, MINUTE_MS, SECOND_MS } from "../platform/time.ts";

/** Stores that a process runs, or has stopped, and how its jobs do. */
export async function upsertProcess(
  db: Queryable,
  process: ProcessReport,
  jobs: readonly JobRuns[],
): Promise<void> {
  await db.query({
    name: "upsert-process",
    text: `
      with process as (
        insert into processes as p (id, roles, version, host, pid, started_at, seen_at, stopped_at, key_ids)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $17)
        on conflict (id) do update set seen_at = excluded.seen_at, stopped_at = excluded.stopped_at
        returning p.id
      )
      insert into process_jobs as j (process_id, job, running_since, last_started_at, duration_ms, item_count, error,
        failure_count, next_run_at)
      select process.id, r.job, r.running_since, r.last_started_at, r.duration_ms, r.item_count, r.error,
        r.failure_count, r.next_run_at
      from process
      cross join unnest($9::text[], $10::timestamptz[], $11::timestamptz[], $12::integer[], $13::bigint[],
        $14::text[], $15::integer[], $16::timestamptz[])
        as r (job, running_since, last_started_at, duration_ms, item_count, error, failure_count, next_run_at)
      on conflict (process_id, job) do update set running_since = excluded.running_since,
        last_started_at = excluded.last_started_at, duration_ms = excluded.duration_ms,
        item_count = excluded.item_count, error = excluded.error, failure_count = excluded.failure_count,
        next_run_at = excluded.next_run_at`,
    values: [
      process.id,
      process.roles,
      process.version,
      process.host,
      process.pid,
      process.startedAt,
      process.seenAt,
      process.stoppedAt,
      jobs.map(({ job }) => job),
      jobs.map(({ runningSince }) => runningSince),
      jobs.map(({ last }) => last?.startedAt ?? null),
      jobs.map(({ last }) => last?.durationMs ?? null),
      jobs.map(({ last }) => last?.itemCount ?? null),
      jobs.map(({ last }) => last?.error ?? null),
      jobs.map(({ failureCount }) => failureCount),
      jobs.map(({ nextRunAt }) => nextRunAt),
      process.keyIds,
    ],
  });
}

type ProcessRow = {
  id: string;
  roles: string[];
  version: string;
  key_ids: string[];
  host: string;
  pid: number;
  started_at: Date;
  seen_at: Date;
  stopped_at: Date | null;
};

/** The last seen first, as they are at a time. */
export async function listProcesses(db: Queryable, limit: number, now: Date): Promise<Process[]> {
  const rows = await db.query<ProcessRow>({
    name: "list-processes",
    text: `
      select id, roles, version, key_ids, host, pid, started_at, seen_at, stopped_at
      from processes
      order by seen_at desc, id
      limit $1`,
    values: [limit],
  });
  return rows.map((row) => toProcess(row, now));
}

function toProcess(row: ProcessRow, now: Date): Process {
  const report: ProcessReport = {
    id: row.id,
    roles: row.roles,
    version: row.version,
    keyIds: row.key_ids,
    host: row.host,
    pid: row.pid,
    startedAt: row.started_at,
    seenAt: row.seen_at,
    stoppedAt: row.stopped_at,
  };
  return { ...report, status: processStatus(report, now) };
}

type JobRow = {
  job: string;
  running_since: Date | null;
  last_started_at: Date | null;
  duration_ms: number | null;
  item_count: bigint | null;
  error: string | null;
  failure_count: number;
  next_run_at: Date | null;
};

/**
 * The workers of the service as they were last seen. A worker that was stopped counts like one that was killed, so that a restart,
 * which takes a few seconds, is no alarm. A service whose processes have all gone has no worker that could be missed.
 */
export async function readWorkers(db: Queryable, now: Date): Promise<Workers> {
  const [row] = await db.query<{ running: number; seen_at: Date | null; others_since: Date | null }>({
    name: "read-workers",
    text: `
      select count(*) filter (where 'worker' = any(roles) and stopped_at is null and seen_at >= $1)::integer as running,
             max(seen_at) filter (where 'worker' = any(roles)) as seen_at,
             min(started_at) filter (where stopped_at is null and seen_at >= $1) as others_since
      from processes`,
    values: [before(now, WORKER_MISSED_AFTER_MS)],
  });
  const seenAt = row?.seen_at ?? null;
  const since = seenAt ?? row?.others_since ?? null;
  const isStopped =
    row?.running === 0 && since !== null && now.getTime() - since.getTime() > WORKER_MISSED_AFTER_MS;
  return { runningCount: row?.running ?? 0, seenAt, stoppedSince: isStopped ? since : null };
}

/** The jobs of these processes. */
export async function listJobRuns(db: Queryable, processIds: readonly string[]): Promise<JobRuns[]> {
  const rows = await db.query<JobRow>({
    name: "list-job-runs",
    text: `
      select job, running_since, last_started_at, duration_ms, item_count, error, failure_count, next_run_at
      from process_jobs
      where process_id = any($1::uuid[])`,
    values: [processIds],
  });
  return rows.map((row) => ({
    job: row.job,
    runningSince: row.running_since,
    last:
      row.last_started_at === null
        ? null
        : {
            startedAt: row.last_started_at,
            durationMs: row.duration_ms ?? 0,
            itemCount: row.item_count === null ? null : Number(row.item_count),
            error: row.error,
          },
    failureCount: row.failure_count,
    nextRunAt: row.next_run_at,
  }));
}

/** Deletes processes, with their jobs, that were last seen before a time. Returns how many. */
export async function deleteProcesses(db: Queryable, seenBefore: Date, limit: number): Promise<number> {
  const rows = await db.query({
    name: "delete-processes",
    text: `
      delete from processes
      where id in (
        select id
        from processes
        where seen_at < $1
        order by seen_at
        limit $2)
      returning id`,
    values: [seenBefore, limit],
  });
  return rows.length;
}

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

/** The runs of this process's jobs, in memory. The heartbeat stores it. */
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

/** How often a process reports that it runs. */
export const HEARTBEAT_MS = 5 * SECOND_MS;
/** Without a worker nothing is delivered, charged or accepted, so people learn of it within half a minute. */
const WORKER_MISSED_AFTER_MS = 20 * SECOND_MS;
/** A process that was not seen for so long is missing: it was killed, or cannot reach the database. */
const MISSING_AFTER_MS = MINUTE_MS;
/** How long the rows of a process are kept after it was last seen. */
export const PROCESSES_KEPT_MS = 60 * MINUTE_MS;
/** How many processes are shown, the last seen first. */
export const PROCESSES_SHOWN_MAX = 100;

/** The report of a process of the service. */
export type ProcessReport = {
  readonly id: string;
  readonly roles: readonly string[];
  readonly version: string;
  /** Ids of the keys that it decrypts secrets with: first the one that it encrypts with. */
  readonly keyIds: readonly string[];
  readonly host: string;
  readonly pid: number;
  readonly startedAt: Date;
  readonly seenAt: Date;
  readonly stoppedAt: Date | null;
};

export type Workers = {
  /** Workers that have reported within 20 seconds. */
  readonly runningCount: number;
  /** When any worker last reported. Null: none has within the hour for which processes are kept. */
  readonly seenAt: Date | null;
  /** Since when no worker has run, once that is no restart any more. Null: one runs, or no process of the service does. */
  readonly stoppedSince: Date | null;
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
