import { examineConfig, examineDatabase, type Finding, failed } from "../operations/checks.ts";
import { messageOf } from "../operations/metrics.ts";
import { type Config, ConfigError, readConfig } from "../platform/config.ts";
import { CannotDistributeError, distribute } from "../platform/database/distribute.ts";
import { type Clock, systemClock } from "../platform/time.ts";
import {
  migrateConfiguredDatabase,
  type OpenDatabase,
  openConfiguredDatabase,
} from "../service/open-service.ts";
import { cliLog, orUnavailable } from "./back-office.ts";
import {
  EXIT,
  type ExitCode,
  type Output,
  ServiceUnavailableError,
  UsageError,
  writeChange,
} from "./output.ts";
import { presentTable } from "./present.ts";

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
  const configuration = examineConfig(config);
  let database: OpenDatabase;
  try {
    database = await openConfiguredDatabase(config, cliLog(environment, config), {
      mayCreate: false,
    });
  } catch (error) {
    return [...configuration, { check: "database", ...failed(messageOf(error)) }];
  }
  try {
    return [...configuration, ...(await examineDatabase(database.db, config, clock))];
  } finally {
    await database.close();
  }
}

function configOf(environment: NodeJS.ProcessEnv): Config | Finding[] {
  try {
    return readConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.errors.map((message) => ({ check: "configuration", ...failed(message) }));
  }
}

/** `distribute`: splits the tables over the nodes of Citus, and reports each one. */
export async function runDistribute(
  environment: NodeJS.ProcessEnv,
  output: Output,
  shardCount: number,
): Promise<ExitCode> {
  const { databaseUrl } = readConfig(environment);
  if (databaseUrl === null)
    throw new UsageError("distribute needs DATABASE_URL: the address of the coordinator of Citus.");
  let count: number;
  try {
    count = await distribute(databaseUrl, shardCount, (message) => output.note(`${message}\n`));
  } catch (error) {
    if (error instanceof CannotDistributeError) throw error;
    throw new ServiceUnavailableError(`The database cannot be used. ${messageOf(error)}`);
  }
  await writeChange(
    output,
    count === 0 ? "All tables are where they should be.\n" : `Moved ${count} tables over the nodes.\n`,
  );
  return EXIT.done;
}

/** `migrate`. It needs no key of secrets, and makes none: an operator may migrate where no process of the service runs. */
export async function runMigrate(environment: NodeJS.ProcessEnv, output: Output): Promise<void> {
  const config = readConfig(environment);
  await orUnavailable(migrateConfiguredDatabase(config, cliLog(environment, config), systemClock));
  await writeChange(output, "The schema of the database is up to date.\n");
}
