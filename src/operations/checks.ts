import { sendsInTheClear } from "../mail/send-mails.ts";
import type { Config } from "../platform/config.ts";
import { readSecret } from "../platform/data-dir.ts";
import type { Queryable } from "../platform/database/database.ts";
import {
  DAY_TABLES,
  PARTITIONS_AHEAD_MIN_MS,
  partitionsAheadMs,
} from "../platform/database/day-partitions.ts";
import {
  hasDistributedTables,
  listTables,
  misplacedTables,
  readCitusVersion,
  readNodes,
} from "../platform/database/distribute.ts";
import { pendingMigrations } from "../platform/database/migrate.ts";
import { isUnprotected } from "../platform/database/servers.ts";
import { createSecretBox, keyIdOf } from "../platform/secret-box.ts";
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../platform/time.ts";
import { countPausedEndpoints } from "../webhooks/conditions-sql.ts";
import { listAllKeyIdsInUse, missingKeyIds } from "./keyring.ts";
import { messageOf, QUEUES } from "./metrics.ts";
import {
  listJobRuns,
  listProcesses,
  PROCESSES_SHOWN_MAX,
  type Process,
  readWorkers,
  sumUpJobs,
  type Workers,
} from "./processes-sql.ts";

/**
 * The checks of the database, one after the other on one connection. Changes nothing. After a failed check it continues
 * as far as that makes sense.
 */
export async function examineDatabase(db: Queryable, config: Config, clock: Clock): Promise<Finding[]> {
  const reached = await check("database", async () => checkVersion(await readVersionNumber(db)));
  if (reached.status === "fail") return [reached];
  const findings = [reached, await check("clock", async () => checkClock(await readClockAheadMs(db, clock)))];
  const migrations = await check("migrations", async () => checkMigrations(await pendingMigrations(db)));
  findings.push(migrations);
  if (migrations.status === "fail") return findings; // The tables may not be there.
  findings.push(await check("distribution", () => examineDistribution(db)));
  const now = clock.now();
  findings.push(...(await examineProcesses(db, config, now)));
  for (const { name, read } of QUEUES)
    findings.push(await check(name, async () => checkQueue(ageMs((await read(db, now)).oldestDueAt, now))));
  findings.push(await check("paused endpoints", async () => checkPaused(await countPausedEndpoints(db))));
  for (const table of DAY_TABLES)
    findings.push(
      await check(`partitions of ${table}`, async () =>
        checkPartitions(await partitionsAheadMs(db, table, now)),
      ),
    );
  findings.push(await check("secret keys", async () => checkSecretKeys(await missingKeys(db, config, now))));
  return findings;
}

async function examineDistribution(db: Queryable): Promise<Result> {
  if ((await readCitusVersion(db)) === null) return checkDistribution(null, false, []);
  const tables = await listTables(db);
  const { count } = await readNodes(db);
  const misplaced = misplacedTables(tables).map(({ name }) => name);
  return checkDistribution(count, hasDistributedTables(tables), misplaced);
}

async function examineProcesses(db: Queryable, config: Config, now: Date): Promise<Finding[]> {
  const withStatus = async (status: Process["status"]) =>
    (await listProcesses(db, PROCESSES_SHOWN_MAX, now)).filter((each) => each.status === status);
  return [
    await check("workers", async () => checkWorkers(await readWorkers(db, now), now)),
    await check("processes", async () => {
      const missing = await withStatus("missing");
      return checkProcesses(
        (await withStatus("running")).length,
        missing.map(({ host, pid }) => `${host} (process ${pid})`),
      );
    }),
    await check("jobs", async () => {
      const running = (await withStatus("running")).map(({ id }) => id);
      const failing = sumUpJobs(await listJobRuns(db, running)).filter(
        ({ failureCount }) => failureCount > 0,
      );
      return checkJobs(failing.map(({ job }) => job));
    }),
    await check("versions of processes", async () => checkVersions(await withStatus("running"))),
    await check("keys of processes", async () => {
      const [newest] = await configuredKeys(config);
      return checkKeys(await withStatus("running"), newest === undefined ? null : keyIdOf(newest));
    }),
  ];
}

const ageMs = (since: Date | null, now: Date): number | null =>
  since === null ? null : now.getTime() - since.getTime();

/** A check that throws has failed. */
async function check(name: string, run: () => Promise<Result>): Promise<Finding> {
  try {
    return { check: name, ...(await run()) };
  } catch (error) {
    return { check: name, ...failed(messageOf(error)) };
  }
}

/** The service would generate a missing key. The check only reads it. */
async function missingKeys(db: Queryable, config: Config, now: Date): Promise<string[]> {
  const inUse = await listAllKeyIdsInUse(db, now);
  const keys = await configuredKeys(config);
  return keys.length === 0 ? inUse : missingKeyIds(inUse, createSecretBox(keys));
}

const configuredKeys = async (config: Config): Promise<readonly Buffer[]> =>
  config.webhookSecretKeys ?? (await keptKeys(config));

async function keptKeys({ dataDir }: Config): Promise<Buffer[]> {
  const key = await readSecret(dataDir, "webhook-secret-key");
  return key === null ? [] : [Buffer.from(key, "base64url")];
}

export type ProductionRisk = { readonly check: string; readonly reason: Reason; readonly message: string };

/**
 * Settings that production should not have (docs/design/dependencies.md, "Supply chain"). `serve` warns of it,
 * and `doctor` reports it.
 */
export function productionRisks({
  databaseUrl,
  smtpUrl,
  webhookAllowPrivateNetworks,
  roles,
  backOfficeUrl,
  trustedProxies,
  baseUrl,
  selfServiceTestKeys,
}: Config): ProductionRisk[] {
  const risks: ProductionRisk[] = [];
  if (databaseUrl === null)
    risks.push({
      check: "embedded PostgreSQL",
      reason: "embedded-postgres",
      message:
        "the embedded PostgreSQL is for trials: set DATABASE_URL to a server that is maintained and backed up",
    });
  else if (isUnprotected(databaseUrl))
    risks.push({
      check: "connection to the database",
      reason: "database-in-the-clear",
      message: "the connection to another host is not encrypted: add sslmode=verify-full to DATABASE_URL",
    });
  if (smtpUrl !== null && sendsInTheClear(smtpUrl))
    risks.push({
      check: "connection to the mail server",
      reason: "mail-in-the-clear",
      message:
        "SMTP_URL permits to send mails to another host without encryption: remove ignoreTLS and requireTLS from it",
    });
  if (webhookAllowPrivateNetworks)
    risks.push({
      check: "destinations of webhooks",
      reason: "private-destinations",
      message:
        "partners can have requests sent into your network: remove WEBHOOK_ALLOW_PRIVATE_NETWORKS, which is for trials",
    });
  // The listener itself speaks no TLS, so a proxy is in front of it.
  const countsAddresses =
    (roles.has("back-office") && backOfficeUrl.startsWith("https:")) ||
    (roles.has("api") && baseUrl.startsWith("https:") && selfServiceTestKeys !== null);
  if (countsAddresses && trustedProxies.length === 0)
    risks.push({
      check: "addresses of clients",
      reason: "proxies-not-trusted",
      message:
        "behind a proxy all clients have its address, so they share limits of sign-in and of test keys: set TRUSTED_PROXIES to the addresses of your proxies",
    });
  return risks;
}

/** The checks of a valid configuration. */
export const examineConfig = (config: Config): Finding[] => [
  { check: "configuration", ...ok("all variables are valid") },
  ...productionRisks(config).map(({ check, reason, message }) => ({ check, ...warn(reason, message) })),
];

export const CHECK_STATUSES = ["ok", "warn", "fail"] as const;

/** The result of a check. Only `fail` makes the exit code of `doctor` 1. */
export type Finding = {
  readonly check: string;
  readonly status: (typeof CHECK_STATUSES)[number];
  readonly message: string;
  /** The finding, by a name that does not change, for programs and translations. Null: the message says all. */
  readonly reason: Reason | null;
  /** The parameters of the message: numbers, and names joined with commas. Times are in milliseconds. */
  readonly values: Readonly<Record<string, string | number>>;
};

export const REASONS = [
  "version-too-old",
  "migrations-missing",
  "clock-ahead",
  "clock-behind",
  "work-waits",
  "endpoints-paused",
  "not-distributed",
  "tables-misplaced",
  "no-partition",
  "few-partitions",
  "secret-keys-missing",
  "no-worker",
  "processes-missing",
  "jobs-failed",
  "versions-differ",
  "processes-lack-keys",
  "embedded-postgres",
  "database-in-the-clear",
  "mail-in-the-clear",
  "private-destinations",
  "proxies-not-trusted",
] as const;
type Reason = (typeof REASONS)[number];

type Result = Omit<Finding, "check">;
type Found = (reason: Reason, message: string, values?: Result["values"]) => Result;

const ok = (message: string): Result => ({ status: "ok", message, reason: null, values: {} });
const warn: Found = (reason, message, values = {}) => ({ status: "warn", message, reason, values });
const fail: Found = (reason, message, values = {}) => ({ status: "fail", message, reason, values });
/** A check that could not be made, or an error that says all. */
export const failed = (message: string): Result => ({ status: "fail", message, reason: null, values: {} });

const POSTGRES_MIN = 15;
/** Deadlines, signatures and leases depend on the clock of each machine. */
const CLOCK_WARN_MS = 1_000;
/** With more, two workers take an endpoint from each other again and again (docs/design/deliveries.md, "Leases"). */
const CLOCK_FAIL_MS = 8_000;
/** A worker looks for due work about every second, so work that has waited for a minute indicates a problem. */
const WAIT_WARN_MS = MINUTE_MS;
const WAIT_FAIL_MS = 10 * MINUTE_MS;

/** @param versionNumber as PostgreSQL reports it: 180004 is 18.4 */
export function checkVersion(versionNumber: number): Result {
  const message = `PostgreSQL ${Math.floor(versionNumber / 10_000)}.${versionNumber % 10_000}`;
  if (versionNumber >= POSTGRES_MIN * 10_000) return ok(message);
  return fail("version-too-old", `${message}; the service needs ${POSTGRES_MIN} or later`, {
    version: message,
    needed: POSTGRES_MIN,
  });
}

const checkMigrations = (pending: readonly string[]): Result =>
  pending.length === 0
    ? ok("all migrations are applied")
    : fail(
        "migrations-missing",
        `not applied: ${pending.join(", ")}; start the service, or run: npm run cli -- migrate`,
        { migrations: pending.join(", ") },
      );

/** @param aheadMs how far this machine's clock is ahead of the database's, negative when behind */
export function checkClock(aheadMs: number): Result {
  const apartMs = Math.abs(aheadMs);
  if (apartMs <= CLOCK_WARN_MS) return ok("this machine and the database agree");
  const message = `this machine is ${durationText(apartMs)} ${aheadMs > 0 ? "ahead of" : "behind"} the database`;
  const find = apartMs > CLOCK_FAIL_MS ? fail : warn;
  return find(aheadMs > 0 ? "clock-ahead" : "clock-behind", message, { apartMs });
}

/** @param waitingMs how long the oldest work has waited; null if there is none */
export function checkQueue(waitingMs: number | null): Result {
  if (waitingMs === null) return ok("no work is waiting");
  const message = `the oldest work has waited for ${durationText(Math.max(0, waitingMs))}`;
  if (waitingMs <= WAIT_WARN_MS) return ok(message);
  const hint = `${message}: check that enough workers run`;
  const find = waitingMs > WAIT_FAIL_MS ? fail : warn;
  return find("work-waits", hint, { waitingMs });
}

export const checkPaused = (count: number): Result =>
  count === 0
    ? ok("no endpoint is paused")
    : warn("endpoints-paused", `${count} paused; partners can resume them`, { count });

/**
 * @param nodeCount the nodes of Citus with data; null on a plain PostgreSQL
 * @param misplaced tables that are not where they should be
 */
export function checkDistribution(
  nodeCount: number | null,
  hasDistributedTables: boolean,
  misplaced: readonly string[],
): Result {
  if (nodeCount === null) return ok("one server");
  if (!hasDistributedTables)
    return warn("not-distributed", "Citus is installed, and no table is distributed: run distribute");
  const tables = misplaced.join(", ");
  if (misplaced.length > 0)
    return fail("tables-misplaced", `not where they should be: ${tables}; run distribute`, { tables });
  return ok(`all tables are where they should be, over ${nodeCount} nodes`);
}

/** @param aheadMs how long from now every row has a partition */
export function checkPartitions(aheadMs: number): Result {
  const message = `partitions exist for the next ${durationText(aheadMs)}`;
  if (aheadMs === 0)
    return fail("no-partition", "no partition for today: no row can be stored; check that a worker runs");
  return aheadMs < PARTITIONS_AHEAD_MIN_MS
    ? warn("few-partitions", `${message}: check that a worker runs`, { aheadMs })
    : ok(message);
}

/** @param missing ids of keys that stored secrets are encrypted with, but that are not configured */
const checkSecretKeys = (missing: readonly string[]): Result =>
  missing.length === 0
    ? ok("all secrets can be decrypted")
    : fail(
        "secret-keys-missing",
        `WEBHOOK_SECRET_KEYS lacks ${missing.join(", ")}: secrets in the database cannot be decrypted`,
        { keys: missing.join(", ") },
      );

function checkWorkers({ runningCount, stoppedSince }: Workers, now: Date): Result {
  if (stoppedSince === null) return ok(runningCount === 0 ? "none is missed" : `${runningCount} running`);
  const stoppedMs = now.getTime() - stoppedSince.getTime();
  return fail(
    "no-worker",
    `no worker has run for ${durationText(stoppedMs)}, so nothing is delivered, charged, accepted or mailed: start a process with the role worker`,
    { stoppedMs },
  );
}

/** @param missing processes that were seen within the hour and neither run nor have stopped; named by host and number */
export function checkProcesses(runningCount: number, missing: readonly string[]): Result {
  if (missing.length > 0)
    return warn(
      "processes-missing",
      `not seen for a minute: ${missing.join(", ")}; it was killed, or cannot reach the database`,
      { processes: missing.join(", ") },
    );
  return ok(`${runningCount} running`);
}

/** @param failing the names of jobs whose last run has failed */
export const checkJobs = (failing: readonly string[]): Result =>
  failing.length === 0
    ? ok("no job has failed")
    : warn(
        "jobs-failed",
        `the last run failed: ${failing.join(", ")}; the log of the worker has the reason`,
        { jobs: failing.join(", ") },
      );

type RunningProcess = Pick<Process, "host" | "pid" | "version" | "startedAt" | "keyIds">;

const nameOf = ({ host, pid }: RunningProcess): string => `${host} (process ${pid})`;

/** The one that started last has the version that all are to have: also after a step back. */
export function checkVersions(running: readonly RunningProcess[]): Result {
  const newest = running.toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime())[0];
  const others = running.filter(({ version }) => version !== newest?.version);
  if (newest === undefined || others.length === 0) return ok(newest?.version ?? "no process runs");
  const processes = others.map((each) => `${nameOf(each)}: ${each.version}`).join(", ");
  return warn(
    "versions-differ",
    `not the version that started last, ${newest.version}: ${processes}; restart it, unless an upgrade is in progress`,
    { processes, version: newest.version },
  );
}

/**
 * A process needs the keys with which the others encrypt, otherwise it can neither sign deliveries nor check codes.
 * @param newest id of the key with which the configuration of the caller encrypts
 */
export function checkKeys(running: readonly RunningProcess[], newest: string | null): Result {
  const needed = new Set(
    [newest, ...running.map(({ keyIds }) => keyIds[0])].filter((id) => typeof id === "string"),
  );
  const lacking = running
    .map((each) => ({ name: nameOf(each), keys: [...needed].filter((id) => !each.keyIds.includes(id)) }))
    .filter(({ keys }) => keys.length > 0);
  if (lacking.length === 0) return ok("all processes have the keys that encrypt");
  const processes = lacking.map(({ name, keys }) => `${name}: ${keys.join(" and ")}`).join(", ");
  return warn(
    "processes-lack-keys",
    `without a key with which others encrypt: ${processes}; restart it with the current WEBHOOK_SECRET_KEYS`,
    { processes },
  );
}

function durationText(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < 120 * MINUTE_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} days`;
}

/** As PostgreSQL reports it: 180004 is 18.4. */
async function readVersionNumber(db: Queryable): Promise<number> {
  const [row] = await db.query<{ version: string }>({
    name: "read-version",
    text: "select current_setting('server_version_num') as version",
    values: [],
  });
  return Number(row?.version);
}

/** How far the clock of this machine is ahead. The database is assumed to read its own clock halfway through the query. */
async function readClockAheadMs(db: Queryable, clock: Clock): Promise<number> {
  const started = clock.now().getTime();
  const [row] = await db.query<{ now: Date }>({
    name: "read-database-clock",
    text: "select clock_timestamp() as now",
    values: [],
  });
  const middle = (started + clock.now().getTime()) / 2;
  return middle - (row?.now.getTime() ?? middle);
}

export type DatabaseFigures = {
  /** As PostgreSQL names it: 18.4. */
  readonly version: string;
  readonly sizeBytes: number;
  readonly connectionCount: number;
  readonly connectionsMax: number;
};

/** Size and connections of this database, of all programs together. */
export async function readDatabaseFigures(db: Queryable): Promise<DatabaseFigures> {
  const [row] = await db.query<{
    version: string;
    size: bigint;
    connections: number;
    connections_max: number;
  }>({
    name: "read-database-figures",
    text: `
      select split_part(current_setting('server_version'), ' ', 1) as version,
        pg_database_size(current_database()) as size,
        (select count(*)::integer from pg_stat_activity where datname = current_database()) as connections,
        current_setting('max_connections')::integer as connections_max`,
    values: [],
  });
  return {
    version: row?.version ?? "",
    sizeBytes: Number(row?.size ?? 0),
    connectionCount: row?.connections ?? 0,
    connectionsMax: row?.connections_max ?? 0,
  };
}
