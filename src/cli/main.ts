import { CommanderError } from "commander";
import { ConfigError } from "../config.ts";
import { isUnavailable } from "../database/database.ts";
import { PendingMigrationsError } from "../open-service.ts";
import { runDoctor } from "./doctor.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { runExport } from "./export.ts";
import { UsageError, wordsOf } from "./failure.ts";
import { runImport } from "./import.ts";
import { type Office, openOffice } from "./office.ts";
import { createOutput } from "./output.ts";
import { createProgram } from "./program.ts";
import { runRequest } from "./run-request.ts";

const output = createOutput();

async function main(args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const inOffice = async (work: (office: Office) => Promise<ExitCode>): Promise<void> => {
    exitCode = await withOffice(work);
  };
  const program = createProgram(
    (command, id, options) => inOffice((office) => runRequest(office, output, command, id, options)),
    {
      importProducts: (file, options) => inOffice((office) => runImport(office, output, file, options)),
      exportOrders: (options) => inOffice(({ service }) => runExport(service, output, options)),
      doctor: async ({ json }) => {
        exitCode = await runDoctor(process.env, output, json === true);
      },
      migrate: async () => {
        exitCode = await migrate();
      },
    },
  );
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.done : EXIT.usage; // Commander has said why.
  }
}

async function withOffice(work: (office: Office) => Promise<ExitCode>): Promise<ExitCode> {
  const office = await openOrTell("as-it-is");
  if (office === null) return EXIT.outOfReach;
  try {
    return await work(office);
  } finally {
    await office.close();
  }
}

async function migrate(): Promise<ExitCode> {
  const office = await openOrTell("migrate");
  if (office === null) return EXIT.outOfReach;
  await office.close();
  await output.write("The database's schema is up to date.\n");
  return EXIT.done;
}

/** Null when the database cannot be used, which has then been said. */
async function openOrTell(schema: "migrate" | "as-it-is"): Promise<Office | null> {
  try {
    return await openOffice(process.env, schema);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const words = error instanceof PendingMigrationsError ? "" : "The database cannot be used. ";
    output.note(`${words}${wordsOf(error)}\n`);
    return null;
  }
}

main(process.argv.slice(2)).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    output.note(`${wordsOf(error)}\n`);
    const usage = error instanceof ConfigError || error instanceof UsageError;
    if (usage) process.exitCode = EXIT.usage;
    else process.exitCode = isUnavailable(error) ? EXIT.outOfReach : EXIT.refused;
  },
);
