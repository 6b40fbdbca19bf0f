import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Demo } from "./demo.ts";
import { temporaryFolder } from "./main-process.ts";

/** A block of code of a page. */
export type CodeBlock = {
  readonly language: string;
  /** What follows the language: of JSON, the schema that it fits. */
  readonly label: string;
  readonly code: string;
  /** Why the block is not run. The page says it in a comment, which readers of the site do not see. */
  readonly notRun: string | null;
};

const BLOCK = /(?:<!-- not run: ([^>]+) -->\n)?^```(\w+) ?([^\n]*)\n(.*?)^```$/gms;

export const codeBlocksOf = (text: string): CodeBlock[] =>
  [...text.matchAll(BLOCK)].map(([, notRun = null, language = "", label = "", code = ""]) => ({
    language,
    label,
    code,
    notRun,
  }));

/** Counts what curl receives. Everything else of curl is as readers have it. */
const RECORDING_CURL = `curl() { command curl --show-error -w '%{stderr}%{http_code}\\n' "$@" 2>>"$STATUSES"; }\n`;

export type ShellRun = { readonly statuses: number[]; readonly output: string };

/** Runs the shell blocks of a page as one session, in a folder that has the file of the demo. */
export async function runShell(blocks: readonly CodeBlock[], demo: Demo): Promise<ShellRun> {
  const folder = await demoFolder(demo);
  const script = blocks.map(({ code }) => withAddresses(code, demo)).join("\n");
  const start = `set -eu -o pipefail\nAPI=${demo.api}\nKEY=${demo.testKey}\nPRODUCT=${productOf(demo)}\n${RECORDING_CURL}`;
  const statuses = join(folder, "statuses");
  await writeFile(statuses, "");
  const output = await run("bash", ["--norc", "-c", `${start}${script}`], {
    cwd: folder,
    env: { STATUSES: statuses },
  });
  const received = await readFile(statuses, "utf8");
  return { statuses: received.trim().split("\n").filter(Boolean).map(Number), output };
}

/** Runs a block of JavaScript as a program of its own. */
export const runProgram = async ({ code }: CodeBlock, demo: Demo): Promise<string> =>
  run(process.execPath, ["--input-type=module", "-e", code], {
    cwd: await demoFolder(demo),
    env: { API: demo.api, KEY: demo.testKey, PRODUCT: productOf(demo) },
  });

const productOf = ({ productIds }: Demo): string => productIds[0] ?? "";

/** Readers have the ports of `npm start`. */
const withAddresses = (code: string, { api, backOffice }: Demo): string =>
  code.replaceAll("http://localhost:8080", api).replaceAll("http://localhost:8081", backOffice);

async function demoFolder(demo: Demo): Promise<string> {
  const folder = await temporaryFolder();
  await demo.copyFiles(folder);
  return folder;
}

function run(
  file: string,
  args: string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<string> {
  const environment = { PATH: process.env["PATH"] ?? "", ...env };
  return new Promise((resolve, reject) =>
    execFile(file, args, { cwd, env: environment }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`${error.message}\n${stdout}\n${stderr}`)),
    ),
  );
}

/** The statuses that a page announces in comments at the end of lines, such as `# 409: a line has no shipment`. */
export const announcedStatuses = (blocks: readonly CodeBlock[]): number[] =>
  blocks.flatMap(({ code }) => [...code.matchAll(/# ([1-5]\d\d)\b/g)].map(([, status]) => Number(status)));
