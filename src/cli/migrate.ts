import { migrateConfiguredDatabase } from "../app/open-service.ts";
import { systemClock } from "../platform/clock.ts";
import { readConfig } from "../platform/config.ts";
import { cliLog, orUnavailable } from "./back-office/in-process.ts";
import { type Output, writeChange } from "./output.ts";

/** `migrate`. It needs no key of secrets, and makes none: an operator may migrate where no process of the service runs. */
export async function runMigrate(environment: NodeJS.ProcessEnv, output: Output): Promise<void> {
  const config = readConfig(environment);
  await orUnavailable(migrateConfiguredDatabase(config, cliLog(environment, config), systemClock));
  await writeChange(output, "The schema of the database is up to date.\n");
}
