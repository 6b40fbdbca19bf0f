import type { Readable } from "node:stream";
import { CommanderError } from "commander";
import { messageOf } from "../operations/metrics.ts";
import { ConfigError } from "../platform/config.ts";
import type { BackOffice } from "./back-office.ts";
import { listOperations, runApi } from "./commands/api.ts";
import { runRequest } from "./commands/run-request.ts";
import { runAuditExport, runExport, runExposure, runImport } from "./files.ts";
import {
  EXIT,
  type ExitCode,
  type Output,
  OutputError,
  ServiceUnavailableError,
  UsageError,
} from "./output.ts";
import { isUnencrypted, readServiceAddress } from "./over-http.ts";
import { createProgram } from "./program.ts";

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
    if (error instanceof OutputError && error.isClosed) return EXIT.done;
    const exitCode = exitCodeOf(error);
    const [title, detail] = [TITLES[exitCode], messageOf(error)];
    // Also before commander has read the options: a program that reads the errors gets no other form.
    const isForPrograms = args.includes("--json") || args.includes("api");
    const forPrograms = { title, detail: detail.replace(/^error: /, "").trim() };
    terminal.output.note(isForPrograms ? `${JSON.stringify(forPrograms)}\n` : `${detail}\n`);
    return exitCode;
  }
}

type FailureCode = Exclude<ExitCode, typeof EXIT.done>;

function exitCodeOf(error: unknown): FailureCode {
  if (error instanceof ConfigError || error instanceof UsageError) return EXIT.usage;
  return error instanceof ServiceUnavailableError ? EXIT.unavailable : EXIT.failed;
}

/** Of the problems that the API does not report, by exit code. */
const TITLES: Readonly<Record<FailureCode, string>> = {
  [EXIT.failed]: "Command failed",
  [EXIT.usage]: "Command line or configuration invalid",
  [EXIT.unavailable]: "Service or database not available",
};

async function run(args: readonly string[], { environment, output, input }: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  let url: string | undefined;
  const inBackOffice = async (work: (backOffice: BackOffice) => Promise<ExitCode>): Promise<void> => {
    const backOffice = await openBackOffice(url, environment, output);
    try {
      exitCode = await work(backOffice);
    } finally {
      await backOffice.close();
    }
  };
  const texts = { help: "", errors: "" };
  const program = createProgram(
    args,
    {
      writeOut: (text) => {
        texts.help += text;
      },
      writeErr: (text) => {
        texts.errors += text;
      },
    },
    (command, id, options) =>
      inBackOffice((backOffice) => runRequest(backOffice, output, command, id, options)),
    {
      useService: (given) => {
        url = given;
      },
      importProducts: (file, options) =>
        inBackOffice((backOffice) => runImport(backOffice, output, input, { ...options, file })),
      changeExposure: (verb, products, options) =>
        inBackOffice((backOffice) => runExposure(backOffice, output, verb, products, options)),
      exportOrders: (options) => inBackOffice((backOffice) => runExport(backOffice, output, options)),
      exportAudit: (options) => inBackOffice((backOffice) => runAuditExport(backOffice, output, options)),
      api: async (operation, options) => {
        if (operation === null) return output.write(listOperations());
        await inBackOffice((backOffice) => runApi(backOffice, output, input, operation, options));
      },
      doctor: async (options) => {
        rejectService("doctor", url, environment);
        const { runDoctor } = await import("./local-commands.ts");
        exitCode = await runDoctor(environment, output, options);
      },
      migrate: async () => {
        rejectService("migrate", url, environment);
        const { runMigrate } = await import("./local-commands.ts");
        await runMigrate(environment, output);
      },
      distribute: async ({ shards }) => {
        rejectService("distribute", url, environment);
        const { runDistribute } = await import("./local-commands.ts");
        exitCode = await runDistribute(environment, output, shards);
      },
    },
  );
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw new UsageError(texts.errors.trimEnd());
    await output.write(texts.help);
  }
  return exitCode;
}

/** At the address, if there is one, else within this process. What the latter needs is loaded only then. */
async function openBackOffice(
  url: string | undefined,
  environment: NodeJS.ProcessEnv,
  output: Output,
): Promise<BackOffice> {
  const address = readServiceAddress(url, environment);
  if (address === null) {
    const { openInProcess } = await import("./back-office.ts");
    return openInProcess(environment);
  }
  if (isUnencrypted(address.url))
    output.note(`Warning: http:// sends the token to ${address.url.host} without encryption.\n`);
  const { openOverHttp } = await import("./over-http.ts");
  return openOverHttp(address);
}

/** These commands need the database itself. Without this check they would use another one than the operator means. */
function rejectService(command: string, url: string | undefined, environment: NodeJS.ProcessEnv): void {
  if (url === undefined && (environment["PARTNER_ORDERS_URL"] ?? "") === "") return;
  throw new UsageError(
    `${command} works beside the database only: run it there, without --url and PARTNER_ORDERS_URL.`,
  );
}
