import { type OpenDatabase, openConfiguredDatabase } from "../app/open-service.ts";
import { examineDatabase } from "../monitoring/checks/examine-database.ts";
import { examineConfig } from "../monitoring/checks/production-risks.ts";
import { type Finding, failed } from "../monitoring/checks/rules.ts";
import { messageOf } from "../monitoring/error-message.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { type Config, ConfigError, readConfig } from "../platform/config.ts";
import { cliLog } from "./back-office/in-process.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { Output } from "./output.ts";
import { presentTable } from "./presentation/present.ts";

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
