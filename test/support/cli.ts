import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { systemClock } from "../../src/platform/time.ts";
import { createPartner, type Partner } from "./builders.ts";
import { NODE_ENVIRONMENT } from "./node-environment.ts";
import { createDatabase, startTestService, type TestService } from "./test-service.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of what was printed.
export type CliResult = { code: number | null; output: string; bytes: Buffer; errors: string; json(): any };

/** `node src/cli/main.ts` as an operator types it, with these variables and no others. */
export function startCli(environment: Record<string, string>, args: readonly string[]) {
  const child = spawn(process.execPath, ["src/cli/main.ts", ...args], {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...NODE_ENVIRONMENT, ...environment },
  });
  const parts: Buffer[] = [];
  let errors = "";
  child.stdout.on("data", (part: Buffer) => parts.push(part));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  child.stdin.on("error", () => undefined); // It may end before it has read everything.
  const closed = once(child, "close");
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await closed;
  });
  return {
    child,
    ended: async (): Promise<CliResult> => {
      const [code] = await closed;
      return resultOf(code, parts, errors);
    },
  };
}

function resultOf(code: number | null, parts: readonly Buffer[], errors: string): CliResult {
  const bytes = Buffer.concat(parts);
  const output = bytes.toString();
  return { code, output, bytes, errors, json: () => parse(output, errors) };
}

function parse(output: string, errors: string) {
  if (output === "") throw new Error(`Nothing was printed, and said: ${errors}`);
  return JSON.parse(output);
}

/** The same within this process, which is much faster to start. */
export async function runCli(
  environment: Record<string, string>,
  args: readonly string[],
  input = "",
): Promise<CliResult> {
  const parts: Buffer[] = [];
  let errors = "";
  const code = await runCommandLine(args, {
    environment,
    input: Readable.from(input === "" ? [] : [Buffer.from(input)]),
    output: {
      write: async (part) => {
        parts.push(Buffer.from(part));
      },
      note: (text) => {
        errors += text;
      },
    },
  });
  return resultOf(code, parts, errors);
}

/** A service with a partner, and a command line on its database. */
export type CliTest = {
  test: TestService;
  partner: Partner;
  environment: Record<string, string>;
  /** @param args as typed: parted by spaces; what is quoted stays together. */
  cli(args: string, input?: string): Promise<CliResult>;
};

export async function startCliTest(): Promise<CliTest> {
  const databaseUrl = await createDatabase();
  const test = await startTestService({ databaseUrl });
  Object.assign(test.clock, systemClock); // The command line goes by the machine's clock.
  const environment = {
    DATABASE_URL: databaseUrl,
    WEBHOOK_SECRET_KEYS: Buffer.alloc(32, 1).toString("base64"), // As the service of the tests has it.
  };
  const partner = await createPartner(test);
  return { test, partner, environment, cli: (args, input) => runCli(environment, words(args), input) };
}

const words = (args: string): string[] =>
  [...args.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
