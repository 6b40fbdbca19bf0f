import { availableParallelism } from "node:os";
import { type Config, ConfigError, readConfig } from "../platform/config.ts";
import { EnvFileError, type Environment, readEnvFile, StartError } from "../platform/environment.ts";
import { createLog } from "../platform/log.ts";
import { startTelemetry } from "../platform/telemetry/telemetry.ts";
import { supervise } from "./supervise.ts";
import { processNames, supervisedBy } from "./supervised.ts";

const args = process.argv.slice(2);
const demo = args.includes("--demo");
const supervised = supervisedBy(args);
/** Known as soon as the configuration is read: each line of the log has them. */
let roles: Config["roles"] | undefined;

/**
 * Runs the service until the process is to stop: the configured roles in this process, or in several that it supervises. With
 * `--demo`, also creates demo data and prints a first order.
 */
export async function runService(stopping: AbortSignal): Promise<void> {
  try {
    await run(stopping);
  } catch (error) {
    if (stopping.aborted) process.exit(0); // What failed was ended by the same signal, or is not needed any more.
    reportFailedStart(error);
    process.exit(1);
  }
}

async function run(stopping: AbortSignal): Promise<void> {
  const environment = { ...process.env };
  readEnvFile();
  const isCountSet = Boolean(process.env["PROCESSES"]?.trim());
  const config = readConfig(environmentOf(process.env));
  roles = supervised === null ? config.roles : new Set([supervised.role]);
  const name = supervised?.name ?? null;
  if (name === null && config.processes > 1 && processNames(config).length > 1) {
    const log = createLog(config.logLevel, undefined, roles, "supervisor");
    process.exit(await supervise(config, log, { environment, args, isCountSet }, stopping));
  }
  const log = createLog(config.logLevel, undefined, roles, name);
  const exit = (): never => process.exit(0); // Nothing is started.
  stopping.addEventListener("abort", exit);
  const { runRoles } = await import("./run-roles.ts"); // It takes a second, which a supervisor has no use for.
  if (stopping.aborted) exit();
  stopping.removeEventListener("abort", exit);
  const telemetry = await startTelemetry(process.env, log, roles);
  await runRoles(config, log, { demo, telemetry, supervised }, stopping);
}

/** What a command sets unless the operator does. */
function environmentOf(given: Environment): Environment {
  const environment = demo ? demoEnvironment(given) : given;
  const counts =
    args.includes("--all-cores") && !environment["PROCESSES"]?.trim() && process.platform === "linux";
  if (!counts || !readConfig(environment).roles.has("api")) return environment;
  // The other half is for PostgreSQL, the workers and the back office.
  return { ...environment, PROCESSES: String(Math.max(1, Math.floor(availableParallelism() / 2))) };
}

/**
 * The environment of a demo: it sends webhooks to receivers on the same machine, unless the environment sets it otherwise
 * (docs/design/signing.md, "Public addresses only"). No balancer sends requests to it, so it stops without a delay
 * (docs/design/database.md, "Starting and stopping"). A person reads the terminal, so only warnings and errors are logged below
 * the welcome text.
 */
export const demoEnvironment = (environment: Environment): Environment => ({
  ...environment,
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: environment["WEBHOOK_ALLOW_PRIVATE_NETWORKS"]?.trim() || "true",
  SHUTDOWN_DELAY_MS: environment["SHUTDOWN_DELAY_MS"]?.trim() || "0",
  LOG_LEVEL: environment["LOG_LEVEL"]?.trim() || "warn",
});

function reportFailedStart(error: unknown): void {
  const isExplained =
    error instanceof ConfigError || error instanceof EnvFileError || error instanceof StartError;
  const log = () => createLog("fatal", undefined, roles, supervised?.name);
  if (isExplained) process.stderr.write(`${error.message}\n`);
  // A wrong configuration is for the person who wrote it; anything else also for programs that collect logs. They read
  // no demo.
  if (!isExplained) log().fatal({ err: error }, "could not start");
  else if (error instanceof StartError && !demo) log().fatal({ reason: error.message }, "could not start");
}
