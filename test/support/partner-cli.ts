import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { NODE_ENVIRONMENT } from "./node-environment.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export type PartnerCliResult = { code: number | null; output: string; errors: string };

/**
 * `partner-orders` as a partner's developer types it, with these variables and no others: without a terminal, or on one, whose keys are
 * what is written to standard input.
 */
export function startPartnerCli(
  environment: Record<string, string>,
  args: readonly string[],
  { input = "", program = "packages/cli/src/main.ts", isTerminal = false } = {},
) {
  const command = [process.execPath, program, ...args];
  const [executable = "", ...rest] = isTerminal
    ? ["script", "--quiet", "--return", "--flush", "--command", command.join(" "), "/dev/null"]
    : command;
  const child = spawn(executable, rest, {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...NODE_ENVIRONMENT, PATH: process.env["PATH"], HOME: "/nowhere", ...environment },
  });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  child.stdin.on("error", () => undefined);
  if (!isTerminal) child.stdin.end(input);
  const closed = once(child, "close");
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await closed;
  });
  return {
    child,
    output: () => output,
    errors: () => errors,
    ended: async (): Promise<PartnerCliResult> => {
      const [code] = await closed;
      return { code, output, errors };
    },
  };
}

/** The results of `--json`. */
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of what was printed.
export const jsonLines = (output: string): any[] =>
  output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
