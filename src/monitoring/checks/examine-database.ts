import { listTables, readCitusVersion, readNodes } from "../../distribution/distribution-sql.ts";
import { isDistributed, misplacedTables } from "../../distribution/placement.ts";
import { listAllKeyIdsInUse, missingKeyIds } from "../../keyring/key-ids-in-use.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import { readSecret } from "../../platform/data-dir/secret-file.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { DAY_TABLES, partitionsAheadMs } from "../../platform/database/day-partitions.ts";
import { pendingMigrations } from "../../platform/database/migrate.ts";
import { createSecretBox } from "../../platform/secret-box.ts";
import { countPausedEndpoints } from "../../webhooks/backlog-sql.ts";
import { messageOf } from "../error-message.ts";
import { PROCESSES_SHOWN_MAX, type Process, sumUpJobs } from "../processes/process.ts";
import { listJobRuns, listProcesses } from "../processes/processes-sql.ts";
import { QUEUES } from "../queues.ts";
import {
  checkClock,
  checkDistribution,
  checkJobs,
  checkMigrations,
  checkPartitions,
  checkPaused,
  checkProcesses,
  checkQueue,
  checkSecretKeys,
  checkVersion,
  type Finding,
  failed,
  type Result,
} from "./rules.ts";
import { readClockAheadMs, readVersionNumber } from "./server-sql.ts";

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
  findings.push(...(await examineProcesses(db, now)));
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
  return checkDistribution(count, isDistributed(tables), misplaced);
}

async function examineProcesses(db: Queryable, now: Date): Promise<Finding[]> {
  const withStatus = async (status: Process["status"]) =>
    (await listProcesses(db, PROCESSES_SHOWN_MAX, now)).filter((each) => each.status === status);
  return [
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
  const keys = config.webhookSecretKeys ?? (await keptKeys(config));
  return keys.length === 0 ? inUse : missingKeyIds(inUse, createSecretBox(keys));
}

async function keptKeys({ dataDir }: Config): Promise<Buffer[]> {
  const key = await readSecret(dataDir, "webhook-secret-key");
  return key === null ? [] : [Buffer.from(key, "base64url")];
}
