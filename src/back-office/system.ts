import { type Static, Type } from "typebox";
import { CHECK_STATUSES, REASONS } from "../operations/checks.ts";
import { PROCESS_STATUSES } from "../operations/processes-sql.ts";
import {
  type Examination,
  SETTING_UNITS,
  type Setting,
  type SystemState,
  settingsOf,
} from "../operations/system.ts";
import { toTypeId } from "../platform/ids.ts";
import { SECOND_MS } from "../platform/time.ts";
import {
  dateTime,
  enumeration,
  idField,
  noNextCursor,
  nullable,
  nullableTime,
} from "../platform/wire/schemas.ts";
import { andMonitoring, type BackOfficeRoute, operatorOnly, route } from "./access.ts";

const SettingSchema = Type.Object(
  {
    name: Type.String({ description: "Name of the variable of the environment." }),
    value: nullable(
      Type.String(),
      "The value in use, as one would write it. An address is without user, password and query. Null: it has none, or is secret.",
    ),
    isSecret: Type.Boolean({ description: "Whether the value is never shown." }),
    isSet: Type.Boolean({ description: "Whether it has a value, its own or the default." }),
    isDefault: Type.Boolean({ description: "Whether the value in use is the default." }),
    default: nullable(
      Type.String(),
      "The value without the variable. Null: it has none then, or the service generates it.",
    ),
    unit: nullable(
      enumeration(
        "SettingUnit",
        SETTING_UNITS,
        "Unit of the value: `seconds`, `milliseconds`, `days` or `requests per minute`.",
      ),
      "Unit of the value, or of each value of a list. Null: it has none.",
    ),
  },
  {
    title: "Setting",
    description: "A variable of the configuration. It changes only when the process starts again.",
  },
);

const SettingsSchema = Type.Object(
  {
    documentation: Type.String({ description: "The page of the documentation that explains each variable." }),
    data: Type.Array(SettingSchema, { description: "All variables." }),
    nextCursor: noNextCursor,
  },
  { title: "Settings", description: "The configuration of a process." },
);

const toWireSetting = (setting: Setting) => ({
  ...setting,
  isDefault: setting.isSecret ? !setting.isSet : setting.value === setting.default,
});

export const settingsRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/settings",
    operationId: "listSettings",
    admits: operatorOnly,
    tag: "System",
    summary: "List the settings of the service",
    description:
      "The configuration of the process that responds, without secrets. Processes with other roles can have another one.",
    responses: { 200: { description: "The settings.", schema: SettingsSchema } },
    problems: [],
    handle: async (_request, { context }) => ({
      status: 200,
      body: {
        documentation: "docs/configuration.md",
        data: settingsOf(context.config).map(toWireSetting),
        nextCursor: null,
      },
    }),
  }),
];

const QueueSchema = Type.Object(
  {
    name: Type.String({ description: "What waits, such as `orders to route`. A check has the same name." }),
    count: nullable(
      Type.Integer(),
      "How many wait. Null: this queue is not counted, because that would read too much.",
    ),
    oldestDueAt: nullableTime("Since when the oldest of them is due. Null: none is."),
    oldestAgeSeconds: Type.Integer({ description: "Seconds since then; 0 if none is due." }),
  },
  { title: "Queue", description: "Work that waits for the workers." },
);

const JobSchema = Type.Object(
  {
    name: Type.String({ description: "Name of the job." }),
    runningCount: Type.Integer({ description: "How many processes run it at this moment." }),
    lastStartedAt: nullableTime("When its last run started, in whichever process. Null: none has ended yet."),
    lastDurationMs: nullable(
      Type.Integer(),
      "How long that run took, in milliseconds. Null: none has ended yet.",
    ),
    lastItemCount: nullable(
      Type.Integer(),
      "How many items that run processed. Null: it failed, or none has ended yet.",
    ),
    lastError: nullable(Type.String(), "Why that run failed. Null: it did not."),
    failureCount: Type.Integer({
      description: "How many runs have failed one after the other, in the process that has most.",
    }),
    nextRunAt: nullableTime(
      "When it runs next, in whichever process. Null: it runs now, or a process is about to stop.",
    ),
  },
  { title: "SystemJob", description: "A recurring job of the workers, over all processes that run." },
);

const ProcessSchema = Type.Object(
  {
    id: idField("proc", "Id of the process, new with each start."),
    status: enumeration(
      "ProcessStatus",
      PROCESS_STATUSES,
      "`running`: seen within the last minute. `missing`: not seen for longer; it was killed, or cannot reach the database. `stopped`: it has stopped.",
    ),
    roles: Type.Array(Type.String(), { description: "Its roles: `api`, `back-office`, `worker`." }),
    version: Type.String({ description: "Version of the program." }),
    host: Type.String({ description: "Name of the machine or the container." }),
    pid: Type.Integer({ description: "Number of the process on its machine." }),
    startedAt: dateTime("When it started."),
    seenAt: dateTime("When it last reported. It does so every five seconds."),
    stoppedAt: nullableTime("When it stopped. Null: it runs, or ended without a stop."),
  },
  { title: "Process", description: "A process of the service that was seen within the last hour." },
);

const DatabaseSchema = Type.Object(
  {
    version: Type.String({ description: "Version of PostgreSQL." }),
    sizeBytes: Type.Integer({ description: "Size of the database on its disk, in bytes." }),
    connectionCount: Type.Integer({ description: "Connections to this database, of all programs." }),
    connectionsMax: Type.Integer({
      description: "Connections that the server permits, to all of its databases.",
    }),
  },
  { title: "DatabaseState", description: "The database of the service." },
);

const SystemSchema = Type.Object(
  {
    readAt: dateTime("When this was read."),
    queues: Type.Array(QueueSchema, { description: "What waits for the workers." }),
    jobs: Type.Array(JobSchema, {
      description: "The jobs of all running workers, by name. Empty: no worker runs.",
    }),
    processes: Type.Array(ProcessSchema, { description: "Up to 100 processes, the last seen first." }),
    database: nullable(DatabaseSchema, "The database. Null: it could not be read in time."),
    unreadable: Type.Array(Type.String(), {
      description:
        "Parts that could not be read within two seconds: names of queues, `processes`, `database`.",
    }),
  },
  { title: "System", description: "How the service is doing, over all of its processes." },
);

const toWireSystem = (state: SystemState): Static<typeof SystemSchema> => ({
  readAt: state.readAt.toISOString(),
  queues: state.queues.map(({ name, count, oldestDueAt }) => ({
    name,
    count,
    oldestDueAt: oldestDueAt?.toISOString() ?? null,
    oldestAgeSeconds:
      oldestDueAt === null
        ? 0
        : Math.max(0, Math.floor((state.readAt.getTime() - oldestDueAt.getTime()) / SECOND_MS)),
  })),
  jobs: state.jobs.map(({ job, runningCount, last, failureCount, nextRunAt }) => ({
    name: job,
    runningCount,
    lastStartedAt: last?.startedAt.toISOString() ?? null,
    lastDurationMs: last?.durationMs ?? null,
    lastItemCount: last?.itemCount ?? null,
    lastError: last?.error ?? null,
    failureCount,
    nextRunAt: nextRunAt?.toISOString() ?? null,
  })),
  processes: state.processes.map((process) => ({
    id: toTypeId("proc", process.id),
    status: process.status,
    roles: [...process.roles],
    version: process.version,
    host: process.host,
    pid: process.pid,
    startedAt: process.startedAt.toISOString(),
    seenAt: process.seenAt.toISOString(),
    stoppedAt: process.stoppedAt?.toISOString() ?? null,
  })),
  database: state.database,
  unreadable: [...state.unreadable],
});

const CheckSchema = Type.Object(
  {
    check: Type.String({ description: "What was checked." }),
    status: enumeration(
      "CheckStatus",
      CHECK_STATUSES,
      "`ok`; `warn`: a person should look; `fail`: the service does not work as it should.",
    ),
    message: Type.String({ description: "What was found, and what to do about it." }),
    reason: nullable(
      enumeration(
        "CheckReason",
        REASONS,
        "Name of what was found, for programs. `version-too-old`: the PostgreSQL. `migrations-missing`: the schema is older than the service. `clock-ahead`, `clock-behind`: against the database. `work-waits`: work is due for too long. `endpoints-paused`: after failures. `not-distributed`, `tables-misplaced`: on Citus. `no-partition`, `few-partitions`: of the next days. `secret-keys-missing`: secrets that no configured key can read. `no-worker`: processes run, and none of them is a worker. `processes-missing`: a process was killed, or cannot reach the database. `jobs-failed`: in their last run. `versions-differ`: processes run several versions of the service. `processes-lack-keys`: processes lack a key with which others encrypt. `embedded-postgres`: in production. `database-in-the-clear`, `mail-in-the-clear`: without TLS. `private-destinations`: of webhooks. `proxies-not-trusted`: clients have the address of the proxy.",
      ),
      "Name of what was found. Null: the check passed, or could not be made.",
    ),
    values: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
      description:
        "The numbers and names of the message. Times are in milliseconds, names are joined by commas.",
    }),
  },
  { title: "Check", description: "The result of a check." },
);

const ChecksSchema = Type.Object(
  {
    checkedAt: dateTime("When the last check ended."),
    checks: Type.Array(CheckSchema, { description: "The results, in the order of the checks." }),
  },
  { title: "Checks", description: "What `doctor` reports." },
);

const toWireChecks = ({ checkedAt, findings }: Examination): Static<typeof ChecksSchema> => ({
  checkedAt: checkedAt.toISOString(),
  checks: [...findings],
});

const WorkersSchema = Type.Object(
  {
    runningCount: Type.Integer({ description: "Workers that have reported within 20 seconds." }),
    seenAt: nullableTime("When any worker last reported. Null: none has within the last hour."),
    stoppedSince: nullableTime(
      "Since when no worker has run, though other processes do: nothing is delivered, charged, accepted or mailed. Null: a worker runs, or has been missing for less than 20 seconds.",
    ),
  },
  { title: "Workers", description: "The processes with the role `worker`." },
);

export const systemRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/system",
    operationId: "getSystem",
    admits: andMonitoring(operatorOnly),
    tag: "System",
    summary: "Get the state of the service",
    description:
      "Queues with their ages, jobs with their last and next run, processes and the database, over all processes of the service. Callers at the same time share one read.",
    responses: { 200: { description: "The state.", schema: SystemSchema } },
    problems: [],
    handle: async (_request, { system }) => ({ status: 200, body: toWireSystem(await system.read()) }),
  }),
  route({
    method: "GET",
    path: "/api/system/workers",
    operationId: "getWorkers",
    admits: andMonitoring(operatorOnly),
    tag: "System",
    summary: "Get whether workers run",
    description:
      "A small read for pages and monitors that repeat it every few seconds. Callers at the same time share one read.",
    responses: { 200: { description: "The workers.", schema: WorkersSchema } },
    problems: [],
    handle: async (_request, { system }) => {
      const { runningCount, seenAt, stoppedSince } = await system.readWorkers();
      return {
        status: 200,
        body: {
          runningCount,
          seenAt: seenAt?.toISOString() ?? null,
          stoppedSince: stoppedSince?.toISOString() ?? null,
        },
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/system/checks",
    operationId: "getSystemChecks",
    admits: andMonitoring(operatorOnly),
    tag: "System",
    summary: "Check the service",
    description: "What the command `doctor` checks. It changes nothing.",
    responses: { 200: { description: "The results.", schema: ChecksSchema } },
    problems: [],
    handle: async (_request, { system }) => ({ status: 200, body: toWireChecks(await system.examine()) }),
  }),
];
