import type { Readable } from "node:stream";
import { CommanderError } from "commander";
import { PendingMigrationsError } from "../app/open-service.ts";
import { ConfigError } from "../platform/config.ts";
import { isUnavailable } from "../platform/database/database.ts";
import { runDoctor } from "./doctor/doctor.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { runExport } from "./export.ts";
import { UsageError, wordsOf } from "./failure.ts";
import { runImport } from "./import.ts";
import { type Office, openOffice } from "./office.ts";
import type { Output } from "./output.ts";
import { createProgram } from "./program.ts";
import { runRequest } from "./requests/run-request.ts";

/** What a command line works with: the process's own, or a test's. */
export type Surroundings = {
  readonly environment: NodeJS.ProcessEnv;
  readonly output: Output;
  /** What `-` reads in place of a file. */
  readonly input: Readable;
};

/** Does what a command line asks for. Whatever goes wrong is said, and answered as an exit code. */
export async function runCommandLine(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  try {
    return await run(args, surroundings);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage; // It has said why.
    surroundings.output.note(`${wordsOf(error)}\n`);
    if (error instanceof ConfigError || error instanceof UsageError) return EXIT.usage;
    return isUnavailable(error) ? EXIT.outOfReach : EXIT.refused;
  }
}

async function run(args: readonly string[], { environment, output, input }: Surroundings): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const inOffice = async (work: (office: Office) => Promise<ExitCode>, schema?: "migrate"): Promise<void> => {
    const office = await openOrTell(environment, output, schema);
    if (office === null) {
      exitCode = EXIT.outOfReach;
      return;
    }
    try {
      exitCode = await work(office);
    } finally {
      await office.close();
    }
  };
  const program = createProgram(
    output,
    (command, id, options) => inOffice((office) => runRequest(office, output, command, id, options)),
    {
      importProducts: (file, options) =>
        inOffice((office) => runImport(office, output, input, { ...options, file })),
      exportOrders: (options) => inOffice(({ context }) => runExport(context, output, options)),
      doctor: async ({ json }) => {
        exitCode = await runDoctor(environment, output, json === true);
      },
      migrate: () => inOffice(() => tellMigrated(output), "migrate"),
    },
  );
  await program.parseAsync(args, { from: "user" });
  return exitCode;
}

async function tellMigrated(output: Output): Promise<ExitCode> {
  await output.write("The database's schema is up to date.\n");
  return EXIT.done;
}

/** Null when the database cannot be used, which has then been said. */
async function openOrTell(
  environment: NodeJS.ProcessEnv,
  output: Output,
  schema?: "migrate",
): Promise<Office | null> {
  try {
    return await openOffice(environment, schema);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const words = error instanceof PendingMigrationsError ? "" : "The database cannot be used. ";
    output.note(`${words}${wordsOf(error)}\n`);
    return null;
  }
}
