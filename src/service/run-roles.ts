import type { Logger } from "pino";
import { productionRisks } from "../operations/checks.ts";
import { awaitsFirstOperator, firstOperatorLink } from "../people/first-operator.ts";
import { deleteDemoLinks } from "../people/links.ts";
import type { Config } from "../platform/config.ts";
import type { Telemetry } from "../platform/telemetry/telemetry.ts";
import { ensureDemo, welcome } from "./demo.ts";
import { processesThatFit } from "./open-service.ts";
import { type RunningService, startService } from "./start.ts";
import type { Supervised } from "./supervised.ts";

/** Cuts off a start that is stopped, and a stop whose own limits failed. After ten seconds tools send SIGKILL. */
const EXIT_MS = 9_500;

type HowToRun = {
  readonly demo: boolean;
  readonly telemetry: Telemetry;
  /** Null: this process has all roles of the command. */
  readonly supervised: Supervised | null;
};

/** Starts the roles of this process, and runs them until it is to stop. */
export async function runRoles(
  command: Config,
  log: Logger,
  { demo, telemetry, supervised }: HowToRun,
  stopping: AbortSignal,
): Promise<void> {
  const config = supervised === null ? command : { ...command, roles: new Set([supervised.role]) };
  process.on("uncaughtException", (error) => endAtOnce(log, error));
  // To replace a process that nothing but the operator's own supervisor starts again is to stop it.
  if (supervised === null) process.on("SIGUSR2", () => process.kill(process.pid, "SIGTERM"));
  const stopRequested = new Promise<string>((resolve) => {
    stopping.addEventListener("abort", () => resolve(stopping.reason));
  });
  // The database rolls back what was not committed.
  void stopRequested.then(() => setTimeout(() => process.exit(0), EXIT_MS).unref());
  const running = await startService(config, log, { telemetry, stopRequested: stopping, supervised });
  if (supervised === null || supervised.servesHealth) await greet(running, command, log, demo);
  const { partnerApiUrl, backOfficeUrl, context } = running;
  const processesMax = supervised?.servesHealth ? await processesThatFit(command, context.db) : null;
  supervised?.ready(processesMax); // It writes the line for all.
  if (supervised === null) log.info({ partnerApiUrl, backOfficeUrl }, "ready");

  const reason = await Promise.race([stopRequested, running.databaseLost]);
  if (reason instanceof Error) {
    log.fatal({ err: reason }, "database lost, the service ends");
    supervised?.endAll();
    setTimeout(() => process.exit(1), EXIT_MS).unref();
  } else log.info({ signal: reason }, "stopping, finishing requests in flight");
  await running.stop();
  log.info("stopped");
  process.exit(reason instanceof Error ? 1 : 0);
}

/** What a person, or who reads the log, learns once of a command. */
async function greet(running: RunningService, command: Config, log: Logger, demo: boolean): Promise<void> {
  if (demo) return showDemo(running, command);
  for (const { check, message } of productionRisks(command))
    log.warn({ check }, `not for production: ${message}`);
  await showFirstLink(running, log);
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

async function showDemo(
  { context, partnerApiUrl, backOfficeUrl, operatorToken }: RunningService,
  { host, port, roles }: Config,
): Promise<void> {
  const data = await ensureDemo(context);
  const ofOthers = roles.has("api") ? `http://${host}:${port}` : "";
  process.stdout.write(
    welcome(data, {
      partnerApiUrl: partnerApiUrl ?? ofOthers,
      backOfficeUrl: backOfficeUrl ?? "",
      operatorToken,
      allowsPrivateNetworks: context.config.webhookAllowPrivateNetworks,
    }),
  );
}
