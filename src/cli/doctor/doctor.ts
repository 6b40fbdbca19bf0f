import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type OpenDatabase, openConfiguredDatabase } from "../../app/open-service.ts";
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
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { wordsOf } from "../failure.ts";
import { cliLog } from "../office.ts";
import type { Output } from "../output.ts";
import { presentTable } from "../requests/present.ts";
import {
  type Finding,
  judgeClock,
  judgeMigrations,
  judgePartitions,
  judgePaused,
  judgeQueue,
  judgeSecretKeys,
  judgeVersion,
} from "./doctor-judgements.ts";
import { readClockAheadMs, readVersionNumber } from "./doctor-sql.ts";

/** `doctor`: looks at everything, changes nothing, and goes on after what it finds wrong as far as that makes sense. */
export async function runDoctor(
  environment: NodeJS.ProcessEnv,
  output: Output,
  json: boolean,
  clock: Clock = systemClock,
): Promise<ExitCode> {
  const findings = await examine(environment, clock);
  await output.write(
    json
      ? `${JSON.stringify({ checks: findings })}\n`
      : presentTable(findings, ["check", "outcome", "words"]),
  );
  return findings.some(({ outcome }) => outcome === "fail") ? EXIT.refused : EXIT.done;
}

async function examine(environment: NodeJS.ProcessEnv, clock: Clock): Promise<Finding[]> {
  const config = configOf(environment);
  if (Array.isArray(config)) return config;
  const sound: Finding = { check: "configuration", outcome: "ok", words: "every variable can be used" };
  let database: OpenDatabase;
  try {
    database = await openConfiguredDatabase(config, cliLog(environment, config), {
      connectionsMax: 1,
      mayCreate: false,
    });
  } catch (error) {
    return [sound, { check: "database", outcome: "fail", words: wordsOf(error) }];
  }
  try {
    return [sound, ...(await examineDatabase(database.db, config, clock))];
  } finally {
    await database.close();
  }
}

function configOf(environment: NodeJS.ProcessEnv): Config | Finding[] {
  try {
    return readConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((words) => ({ check: "configuration", outcome: "fail", words }));
  }
}

async function examineDatabase(db: Queryable, config: Config, clock: Clock): Promise<Finding[]> {
  const reached = await check("database", async () => judgeVersion(await readVersionNumber(db)));
  if (reached.outcome === "fail") return [reached];
  const findings = [reached, await check("clock", async () => judgeClock(await readClockAheadMs(db, clock)))];
  const migrations = await check("migrations", async () => judgeMigrations(await pendingMigrations(db)));
  findings.push(migrations);
  if (migrations.outcome === "fail") return findings; // The tables may not be there.
  const now = clock.now();
  for (const [name, since] of queues(db, now))
    findings.push(await check(name, async () => judgeQueue(ageMs(await since(), now))));
  findings.push(await check("paused endpoints", async () => judgePaused(await countPausedEndpoints(db))));
  for (const table of DAY_TABLES)
    findings.push(
      await check(`partitions of ${table}`, async () =>
        judgePartitions(await partitionsAheadMs(db, table, now)),
      ),
    );
  findings.push(await check("secret keys", async () => judgeSecretKeys(await missingKeys(db, config, now))));
  return findings;
}

/** What the worker should have done, and since when it is due; null when there is nothing. */
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

/** A check that cannot be made has failed. */
async function check(name: string, judge: () => Promise<Omit<Finding, "check">>): Promise<Finding> {
  try {
    return { check: name, ...(await judge()) };
  } catch (error) {
    return { check: name, outcome: "fail", words: wordsOf(error) };
  }
}

/** A key that the service would make for itself is only looked for: the doctor makes nothing. */
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
