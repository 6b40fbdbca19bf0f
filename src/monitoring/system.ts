import type { Context } from "../platform/context.ts";
import { within } from "../platform/pause.ts";
import { SECOND_MS } from "../platform/time.ts";
import { examineDatabase } from "./checks/examine-database.ts";
import { examineConfig } from "./checks/production-risks.ts";
import { type Finding, failed } from "./checks/rules.ts";
import { type DatabaseFigures, readDatabaseFigures } from "./checks/server-sql.ts";
import { type JobSummary, PROCESSES_SHOWN_MAX, type Process, sumUpJobs } from "./processes/process.ts";
import { listJobRuns, listProcesses } from "./processes/processes-sql.ts";
import { type Backlog, QUEUES } from "./queues.ts";
import { sharedWhileRunning } from "./shared-while-running.ts";

export type QueueState = Backlog & { readonly name: string };

export type SystemState = {
  readonly readAt: Date;
  readonly queues: readonly QueueState[];
  readonly processes: readonly Process[];
  readonly jobs: readonly JobSummary[];
  /** Null: it could not be read in time. */
  readonly database: DatabaseFigures | null;
  /** The parts that could not be read in time. */
  readonly unreadable: readonly string[];
};

export type Examination = { readonly checkedAt: Date; readonly findings: readonly Finding[] };

/** What an operator sees of the whole service. Callers at the same time share one read of each part. */
export type SystemReader = {
  read(): Promise<SystemState>;
  examine(): Promise<Examination>;
};

/** A part that takes longer is left out of the response. The read continues, and later callers wait for the same one. */
const PART_MS = 2 * SECOND_MS;
/** Many checks, one after the other. */
const CHECKS_MS = 10 * SECOND_MS;

/**
 * Reads the state of the service over all of its processes (decision 0145).
 * @param context its database is that of health, whose few connections nothing else waits for
 */
export function systemReader({ db, clock, config }: Pick<Context, "db" | "clock" | "config">): SystemReader {
  const part = <T>(read: () => Promise<T>): (() => Promise<T | null>) => {
    const shared = sharedWhileRunning(read);
    return () => within(PART_MS, shared()).catch(() => null);
  };
  const queues = QUEUES.map(({ name, read }) => ({ name, read: part(() => read(db, clock.now())) }));
  const readProcesses = part(async () => {
    const processes = await listProcesses(db, PROCESSES_SHOWN_MAX, clock.now());
    const live = processes.filter(({ status }) => status === "running").map(({ id }) => id);
    return { processes, jobs: sumUpJobs(await listJobRuns(db, live)) };
  });
  const readDatabase = part(() => readDatabaseFigures(db));
  const examineShared = sharedWhileRunning(() => examineDatabase(db, config, clock));

  async function read(): Promise<SystemState> {
    const [processes, database, ...backlogs] = await Promise.all([
      readProcesses(),
      readDatabase(),
      ...queues.map((queue) => queue.read()),
    ]);
    const states = queues.map(({ name }, index) => ({ name, backlog: backlogs[index] ?? null }));
    return {
      readAt: clock.now(),
      queues: states.flatMap(({ name, backlog }) => (backlog === null ? [] : [{ name, ...backlog }])),
      processes: processes?.processes ?? [],
      jobs: processes?.jobs ?? [],
      database,
      unreadable: [
        ...(processes === null ? ["processes"] : []),
        ...(database === null ? ["database"] : []),
        ...states.filter(({ backlog }) => backlog === null).map(({ name }) => name),
      ],
    };
  }

  async function examine(): Promise<Examination> {
    const findings = await within(CHECKS_MS, examineShared()).catch((): Finding[] => [
      { check: "database", ...failed(`the checks took longer than ${CHECKS_MS / SECOND_MS} s`) },
    ]);
    return { checkedAt: clock.now(), findings: [...examineConfig(config), ...findings] };
  }

  return { read, examine };
}
