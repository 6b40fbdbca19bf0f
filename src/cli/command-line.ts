import type { Readable } from "node:stream";
import { CommanderError } from "commander";
import { PendingMigrationsError } from "../app/open-service.ts";
import { ConfigError } from "../platform/config.ts";
import { isUnavailable } from "../platform/database/database.ts";
import { type BackOffice, openBackOffice } from "./back-office.ts";
import { runDoctor } from "./doctor/doctor.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { runExport } from "./export.ts";
import { runAuditExport } from "./export-audit.ts";
import { messageOf, UsageError } from "./failure.ts";
import { runImport } from "./import.ts";
import type { Output } from "./output.ts";
import { createProgram } from "./program.ts";
import { runRequest } from "./requests/run-request.ts";

/** What a command line works with: that of the process, or of a test. */
export type Terminal = {
  readonly environment: NodeJS.ProcessEnv;
  readonly output: Output;
  /** What is read if the file is `-`. */
  readonly input: Readable;
};

/** Runs a command line. Every error is reported on standard error and returned as an exit code. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    return await run(args, terminal);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage; // Commander has reported it.
    terminal.output.note(`${messageOf(error)}\n`);
    if (error instanceof ConfigError || error instanceof UsageError) return EXIT.usage;
    return isUnavailable(error) ? EXIT.unavailable : EXIT.failed;
  }
}

async function run(args: readonly string[], { environment, output, input }: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const inBackOffice = async (
    work: (backOffice: BackOffice) => Promise<ExitCode>,
    schema?: "migrate",
  ): Promise<void> => {
    const backOffice = await openOrReport(environment, output, schema);
    if (backOffice === null) {
      exitCode = EXIT.unavailable;
      return;
    }
    try {
      exitCode = await work(backOffice);
    } finally {
      await backOffice.close();
    }
  };
  const program = createProgram(
    output,
    (command, id, options) =>
      inBackOffice((backOffice) => runRequest(backOffice, output, command, id, options)),
    {
      importProducts: (file, options) =>
        inBackOffice((backOffice) => runImport(backOffice, output, input, { ...options, file })),
      exportOrders: (options) => inBackOffice((backOffice) => runExport(backOffice, output, options)),
      exportAudit: (options) => inBackOffice(({ context }) => runAuditExport(context, output, options)),
      doctor: async (options) => {
        exitCode = await runDoctor(environment, output, options);
      },
      migrate: () => inBackOffice(() => reportMigrated(output), "migrate"),
    },
  );
  await program.parseAsync(args, { from: "user" });
  return exitCode;
}

async function reportMigrated(output: Output): Promise<ExitCode> {
  await output.write("The schema of the database is up to date.\n");
  return EXIT.done;
}

/** Null if the database cannot be used, which is then reported. */
async function openOrReport(
  environment: NodeJS.ProcessEnv,
  output: Output,
  schema?: "migrate",
): Promise<BackOffice | null> {
  try {
    return await openBackOffice(environment, schema);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const message = error instanceof PendingMigrationsError ? "" : "The database cannot be used. ";
    output.note(`${message}${messageOf(error)}\n`);
    return null;
  }
}
