import type { Logger } from "pino";
import { productionRisks } from "../operations/checks.ts";
import { awaitsFirstOperator, firstOperatorLink } from "../people/first-operator.ts";
import { deleteDemoLinks } from "../people/links.ts";
import { type Config, ConfigError, readConfig } from "../platform/config.ts";
import { EnvFileError, readEnvFile, StartError } from "../platform/environment.ts";
import { createLog } from "../platform/log.ts";
import { startTelemetry } from "../platform/telemetry/telemetry.ts";
import { demoEnvironment, ensureDemo, welcome } from "./demo.ts";
import { type RunningService, startService } from "./start.ts";

/** Cuts off a start that is stopped, and a stop whose own limits failed. After ten seconds tools send SIGKILL. */
const EXIT_MS = 9_500;

const demo = process.argv.includes("--demo");
/** Known as soon as the configuration is read: each line of the log has them. */
let roles: Config["roles"] | undefined;

/**
 * Starts the configured roles, and runs them until the process is to stop. With `--demo`, also creates demo data and prints a
 * first order.
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
  readEnvFile();
  const config = readConfig(demo ? demoEnvironment(process.env) : process.env);
  roles = config.roles;
  const log = createLog(config.logLevel, undefined, roles);
  process.on("uncaughtException", (error) => endAtOnce(log, error));
  const stopRequested = new Promise<string>((resolve) => {
    stopping.addEventListener("abort", () => resolve(stopping.reason));
  });
  // The database rolls back what was not committed.
  void stopRequested.then(() => setTimeout(() => process.exit(0), EXIT_MS).unref());
  const telemetry = await startTelemetry(process.env, log, config.roles);
  const running = await startService(config, log, { telemetry, stopRequested: stopping });
  if (demo) await showDemo(running);
  else {
    for (const { check, message } of productionRisks(config))
      log.warn({ check }, `not for production: ${message}`);
    await showFirstLink(running, log);
  }
  const { partnerApiUrl, backOfficeUrl } = running;
  log.info({ partnerApiUrl, backOfficeUrl }, "ready");

  const reason = await Promise.race([stopRequested, running.databaseLost]);
  if (reason instanceof Error) {
    log.fatal({ err: reason }, "database lost, the service ends");
    setTimeout(() => process.exit(1), EXIT_MS).unref();
  } else log.info({ signal: reason }, "stopping, finishing requests in flight");
  await running.stop();
  log.info("stopped");
  process.exit(reason instanceof Error ? 1 : 0);
}

/**
 * Ends the process after an error that no code expected, also one of a promise: its state is unknown. What was
 * acknowledged is stored. The log leaves out what drivers add to their errors, such as the values of a row.
 */
function endAtOnce(log: Logger, error: unknown): void {
  log.fatal({ err: error }, "unexpected error, the process ends");
  process.exit(1);
}

/**
 * A reader of the log may not become the operator, so the link is written to a terminal alone
 * (docs/design/people.md, "The first operator").
 */
async function showFirstLink({ context, backOfficeUrl }: RunningService, log: Logger): Promise<void> {
  if (backOfficeUrl === null) return;
  await deleteDemoLinks(context);
  if (!process.stdout.isTTY) {
    if (await awaitsFirstOperator(context))
      log.warn(
        "no operator has signed in yet, make a link with the command line: person link operator@localhost",
      );
    return;
  }
  const link = await firstOperatorLink(context);
  if (link !== null)
    process.stdout.write(`\nSign in to the console for the first time, within an hour:\n\n  ${link.url}\n\n`);
}

async function showDemo({
  context,
  partnerApiUrl,
  backOfficeUrl,
  operatorToken,
}: RunningService): Promise<void> {
  const data = await ensureDemo(context);
  process.stdout.write(
    welcome(data, {
      partnerApiUrl: partnerApiUrl ?? "",
      backOfficeUrl: backOfficeUrl ?? "",
      operatorToken,
      allowsPrivateNetworks: context.config.webhookAllowPrivateNetworks,
    }),
  );
}

function reportFailedStart(error: unknown): void {
  const isExplained =
    error instanceof ConfigError || error instanceof EnvFileError || error instanceof StartError;
  if (isExplained) process.stderr.write(`${error.message}\n`);
  // A wrong configuration is for the person who wrote it; anything else also for programs that collect logs. They read
  // no demo.
  if (!isExplained) createLog("fatal", undefined, roles).fatal({ err: error }, "could not start");
  else if (error instanceof StartError && !demo)
    createLog("fatal", undefined, roles).fatal({ reason: error.message }, "could not start");
}
