import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type OpenDatabase, openConfiguredDatabase } from "../../app/open-service.ts";
import { productionRisks } from "../../app/production-risks.ts";
import { readOldestDuePayment } from "../../ledger/claim-payments-sql.ts";
import { readOldestDueMail } from "../../mail/backlog-sql.ts";
import {
  readOldestDueOrder,
  readOldestExpiredOrder,
  readOldestUnroutedOrder,
} from "../../orders/backlog-sql.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { type Config, ConfigError, readConfig } from "../../platform/config.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { DAY_TABLES, partitionsAheadMs } from "../../platform/database/day-partitions.ts";
import { pendingMigrations } from "../../platform/database/migrate.ts";
import { createSecretBox } from "../../platform/secret-box.ts";
import { countPausedEndpoints, readDueDeliveries, readOldestRecovery } from "../../webhooks/backlog-sql.ts";
import { listKeyIdsInUse } from "../../webhooks/secrets/reseal-secrets-sql.ts";
import { cliLog } from "../back-office/in-process.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { messageOf } from "../failure.ts";
import type { Output } from "../output.ts";
import { presentTable } from "../presentation/present.ts";
import {
  checkClock,
  checkMigrations,
  checkPartitions,
  checkPaused,
  checkQueue,
  checkSecretKeys,
  checkVersion,
  type Finding,
} from "./doctor-checks.ts";
import { readClockAheadMs, readVersionNumber } from "./doctor-sql.ts";

/**
 * `doctor`: checks everything and changes nothing. After a failed check it continues as far as that makes sense.
 * @param options.strict a warning is a failure, too, so that a scheduled job reports it
 */
export async function runDoctor(
  environment: NodeJS.ProcessEnv,
  output: Output,
  { json = false, strict = false }: { json?: boolean; strict?: boolean },
  clock: Clock = systemClock,
): Promise<ExitCode> {
  const findings = await examine(environment, clock);
  await output.write(
    json
      ? `${JSON.stringify({ checks: findings })}\n`
      : presentTable(findings, ["check", "status", "message"]),
  );
  const failed = findings.some(({ status }) => status === "fail" || (strict && status === "warn"));
  return failed ? EXIT.failed : EXIT.done;
}

async function examine(environment: NodeJS.ProcessEnv, clock: Clock): Promise<Finding[]> {
  const config = configOf(environment);
  if (Array.isArray(config)) return config;
  const valid: Finding = { check: "configuration", status: "ok", message: "all variables are valid" };
  const risks = productionRisks(config).map((risk): Finding => ({ ...risk, status: "warn" }));
  let database: OpenDatabase;
  try {
    database = await openConfiguredDatabase(config, cliLog(environment, config), {
      mayCreate: false,
    });
  } catch (error) {
    return [valid, ...risks, { check: "database", status: "fail", message: messageOf(error) }];
  }
  try {
    return [valid, ...risks, ...(await examineDatabase(database.db, config, clock))];
  } finally {
    await database.close();
  }
}

function configOf(environment: NodeJS.ProcessEnv): Config | Finding[] {
  try {
    return readConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.errors.map((message) => ({ check: "configuration", status: "fail", message }));
  }
}

async function examineDatabase(db: Queryable, config: Config, clock: Clock): Promise<Finding[]> {
  const reached = await check("database", async () => checkVersion(await readVersionNumber(db)));
  if (reached.status === "fail") return [reached];
  const findings = [reached, await check("clock", async () => checkClock(await readClockAheadMs(db, clock)))];
  const migrations = await check("migrations", async () => checkMigrations(await pendingMigrations(db)));
  findings.push(migrations);
  if (migrations.status === "fail") return findings; // The tables may not be there.
  const now = clock.now();
  for (const [name, since] of queues(db, now))
    findings.push(await check(name, async () => checkQueue(ageMs(await since(), now))));
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

/** The work of the workers, with the time since which the oldest of it is due; null if there is none. */
const queues = (db: Queryable, now: Date): [name: string, since: () => Promise<Date | null>][] => [
  ["orders to accept", () => readOldestDueOrder(db, now)],
  ["orders to route", () => readOldestUnroutedOrder(db)],
  ["payments to process", () => readOldestDuePayment(db, now)],
  ["test orders to erase", () => readOldestExpiredOrder(db, now)],
  ["webhooks to send", async () => (await readDueDeliveries(db, now)).oldestDueAt],
  ["recoveries", () => readOldestRecovery(db, now)],
  ["mails to send", () => readOldestDueMail(db, now)],
];

const ageMs = (since: Date | null, now: Date): number | null =>
  since === null ? null : now.getTime() - since.getTime();

/** A check that throws has failed. */
async function check(name: string, run: () => Promise<Omit<Finding, "check">>): Promise<Finding> {
  try {
    return { check: name, ...(await run()) };
  } catch (error) {
    return { check: name, status: "fail", message: messageOf(error) };
  }
}

/** The service would generate a missing key. The doctor only reads it. */
async function missingKeys(db: Queryable, config: Config, now: Date): Promise<string[]> {
  const inUse = await listKeyIdsInUse(db, now);
  const keys = config.webhookSecretKeys ?? (await keptKeys(config));
  if (keys.length === 0) return inUse;
  const secrets = createSecretBox(keys);
  return inUse.filter((keyId) => !secrets.knows(keyId));
}

async function keptKeys({ dataDir }: Config): Promise<Buffer[]> {
  try {
    return [Buffer.from((await readFile(join(dataDir, "webhook-secret-key"), "utf8")).trim(), "base64url")];
  } catch {
    return [];
  }
}
