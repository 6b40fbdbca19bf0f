import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFailed, onTestFinished } from "vitest";
import { NODE_ENVIRONMENT } from "./node-environment.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Longer than anything takes on a busy machine; a test that gets here has failed. */
const DEADLINE_MS = 80_000;
/** Of what the service wrote, shown for a test that failed. */
const LINES_SHOWN = 60;

/** One line of the service's log. */
type LogLine = { level: string; msg: string } & Record<string, unknown>;

/** `node src/main.ts` as an operator starts it, with everything it writes. */
export type MainProcess = {
  readonly child: ChildProcess;
  output(): string;
  errors(): string;
  /** Lines of the log so far. */
  log(): LogLine[];
  /** The first line of the log with this message; waits for it. */
  logged(message: string): Promise<LogLine>;
  /** Resolves when the process is gone. */
  exited(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

/**
 * Starts the service with these variables and no others; what is left of it is ended with the test.
 * @param folder where its sources are
 */
export function startMain(
  environment: Record<string, string>,
  args: string[] = [],
  folder = ROOT,
): MainProcess {
  const child = spawn(process.execPath, ["src/main.ts", ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      // What is compiled of a folder that is deleted with its test is of no use to others.
      ...(folder === ROOT ? NODE_ENVIRONMENT : { PATH: process.env["PATH"] }),
      SHUTDOWN_DELAY_MS: "0",
      ...environment,
    },
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const closed = once(child, "close");
  onTestFailed(() => {
    const written = `${output}${errors}`.split("\n").slice(-LINES_SHOWN).join("\n");
    process.stderr.write(`The end of what the service wrote (exit code ${child.exitCode}):\n${written}\n`);
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await closed;
  });
  const log = (): LogLine[] =>
    output
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));

  return {
    child,
    output: () => output,
    errors: () => errors,
    log,
    logged: (message) =>
      new Promise((resolve, reject) => {
        const give = (what: string) => {
          clearTimeout(timer);
          reject(new Error(`${what} before "${message}" was logged:\n${output}\n${errors}`));
        };
        const timer = setTimeout(() => give("Time ran out"), DEADLINE_MS);
        const look = () => {
          const found = log().find(({ msg }) => msg === message);
          if (found === undefined) return;
          clearTimeout(timer);
          child.stdout.off("data", look);
          resolve(found);
        };
        child.stdout.on("data", look);
        void closed.then(() => give("The process ended"));
        look();
      }),
    exited: async () => {
      const [code, signal] = await closed;
      return { code, signal };
    },
  };
}

/** A folder of its own for a test, deleted with it. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "partner-orders-main-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** True if a server accepts connections at an address. */
export async function isListening(address: string): Promise<boolean> {
  try {
    await fetch(address);
    return true;
  } catch {
    return false;
  }
}
