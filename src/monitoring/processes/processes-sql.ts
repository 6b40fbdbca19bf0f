import type { Queryable } from "../../platform/database/database.ts";
import type { JobRuns } from "./job-runs.ts";
import { type Process, type ProcessReport, processStatus } from "./process.ts";

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
        insert into processes as p (id, roles, version, host, pid, started_at, seen_at, stopped_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
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
    ],
  });
}

type ProcessRow = {
  id: string;
  roles: string[];
  version: string;
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
      select id, roles, version, host, pid, started_at, seen_at, stopped_at
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
