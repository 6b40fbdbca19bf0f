import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import type { CodeBlock } from "./code-blocks.ts";
import type { Demo } from "./demo.ts";
import { temporaryFolder } from "./main-process.ts";
import { NODE_ENVIRONMENT } from "./node-environment.ts";

/** What a reader has: a folder of the project, a connection of the demo that is the reader's alone, and its keys. */
export type Reader = { readonly folder: string; readonly demo: Demo; readonly keys: Keys };
type Keys = { readonly key: string; readonly testKey: string; readonly productIds: readonly string[] };

/** What a checkout of this project does not contain, or what a command of a reader could change. */
const NOT_LINKED = [".data", ".env", ".git", "node_modules"];

/** A folder for a reader of a page, as `npm start` leaves it. The files of the project are linked. */
export async function createReader(demo: Demo): Promise<Reader> {
  const folder = await linkCheckout();
  await demo.copyFiles(folder);
  const keys = await createKeys(demo);
  await writeFile(join(folder, ".data/demo.json"), JSON.stringify(keys));
  // The database of `npm start` is found by the folder. This one has an address.
  await writeFile(join(folder, ".env"), `DATABASE_URL=${demo.databaseUrl}\n`);
  return { folder, demo, keys };
}

/** A folder that has the files of a checkout, and no data. */
export async function linkCheckout(): Promise<string> {
  const folder = await temporaryFolder();
  const linked = (await readdir(".")).filter((name) => !NOT_LINKED.includes(name));
  await mkdir(join(folder, "node_modules"));
  for (const name of [...linked, ...PACKAGES]) await symlink(resolve(name), join(folder, name));
  return folder;
}

/** What scripts of package.json name by their path. Node finds all other packages beside the sources. */
const PACKAGES = ["node_modules/.bin", "node_modules/vite", "node_modules/vitepress"];

/** A connection that has what the demo's has. So a page may use any id for its orders. */
async function createKeys({ api, backOffice, operatorToken, testKey: of, productIds }: Demo): Promise<Keys> {
  const me = await fetch(`${api}/v1/me`, { headers: { authorization: `Bearer ${of}` } });
  const { merchant } = (await me.json()) as { merchant: { id: string } }; // As the API describes it.
  // biome-ignore lint/suspicious/noExplicitAny: the API describes what it returns.
  const send = async (method: string, path: string, body?: object): Promise<any> => {
    const response = await fetch(`${backOffice}/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${operatorToken}`,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  const connection = await send("POST", `/merchants/${merchant.id}/connections`, {
    name: "Reader",
    reviewPolicy: { maxQuantity: 1_000 },
  });
  for (const id of productIds) await send("PUT", `/connections/${connection.id}/products/${id}`);
  const { key } = await send("POST", `/connections/${connection.id}/keys`, {});
  const { key: testKey } = await send("POST", `/connections/${connection.id}/keys`, { mode: "test" });
  return { key, testKey, productIds };
}

/** The first fault ends a session. */
const STRICT = "set -eu -o pipefail\n";

/** Counts what curl receives. Everything else of curl is as readers have it. */
const RECORDING_CURL = `curl() { command curl --no-progress-meter -w '%{stderr}%{http_code}\\n' "$@" 2>>"$STATUSES"; }\n`;

/** What `npm install @partner-orders/cli` puts on the path. */
const PARTNER_CLI = resolve("packages/cli/src/main.ts");

/**
 * `npm ci` has installed the packages of this checkout (docs/design/testing.md, "What makes a run short"), and no page may
 * change what belongs to all.
 */
const INSTALLED = `npm() {
  case "$1" in
    ci) ;;
    run | start) command npm "$@" ;;
    *) echo "npm $1 is not for a test" >&2; return 1 ;;
  esac
}
partner-orders() { node ${PARTNER_CLI} "$@"; }\n`;

/** What readers of the pages for partners have set on the first of them. */
export const variablesOf = ({ demo, keys }: Reader): Record<string, string> => ({
  API: demo.api,
  KEY: keys.testKey,
  PRODUCT: keys.productIds[0] ?? "",
});

/** The statuses that were received, and the output. */
type ShellRun = { readonly statuses: number[]; readonly output: string };

/** Runs the shell blocks of a page as one session. */
export async function runShell(
  blocks: readonly CodeBlock[],
  reader: Reader,
  { environment }: { environment: Readonly<Record<string, string>> },
): Promise<ShellRun> {
  const script = withAddresses(programOf(blocks), reader);
  const args = ["--norc", "-c", `${STRICT}${INSTALLED}${RECORDING_CURL}${script}`];
  return runCounted("bash", args, reader, environment);
}

async function runCounted(
  command: string,
  args: readonly string[],
  { folder }: Reader,
  environment: Readonly<Record<string, string>>,
): Promise<ShellRun> {
  const statuses = join(folder, "statuses");
  await writeFile(statuses, "");
  const session = start(command, args, { folder, environment: { ...environment, STATUSES: statuses } });
  session.child.stdin.end();
  const output = await session.succeeded();
  const received = await readFile(statuses, "utf8");
  return { statuses: received.trim().split("\n").filter(Boolean).map(Number), output };
}

/** How the blocks of a page are one program, in the file that the first page for partners names. */
const PROGRAMS = {
  typescript: {
    file: "example.mts",
    command: process.execPath,
    recording: `import { appendFileSync } from "node:fs";
const send = globalThis.fetch;
globalThis.fetch = async (...request) => {
  const response = await send(...request);
  appendFileSync(process.env.STATUSES, \`\${response.status}\\n\`);
  return response;
};\n`,
  },
  python: {
    file: "example.py",
    command: "python3",
    recording: `import os, requests
send = requests.Session.send
def record(*request, **options):
    response = send(*request, **options)
    print(response.status_code, file=open(os.environ["STATUSES"], "a"))
    return response
requests.Session.send = record\n`,
  },
} as const;

export const programOf = (blocks: readonly CodeBlock[]): string => blocks.map(({ code }) => code).join("\n");

/** Runs the blocks of a page as one program. */
export async function runProgram(
  language: keyof typeof PROGRAMS,
  blocks: readonly CodeBlock[],
  reader: Reader,
): Promise<ShellRun> {
  const { file, command, recording } = PROGRAMS[language];
  // What counts is a module of its own: a program may use each of its names.
  const counting = `counting.${file.split(".")[1]}`;
  await writeFile(join(reader.folder, counting), recording);
  const importing = language === "python" ? "import counting\n" : `import "./${counting}";\n`;
  await writeFile(join(reader.folder, file), `${importing}${programOf(blocks)}`);
  return runCounted(command, [file], reader, variablesOf(reader));
}

/** Runs a block in a folder, as its only session there. */
export const runIn = (folder: string, code: string): Promise<string> =>
  start("bash", ["--norc", "-c", `${STRICT}${INSTALLED}${code}`], { folder, environment: {} }).succeeded();

/**
 * Runs a block that starts a service, in a terminal of its own, and presses Ctrl-C when the output says that it runs.
 * Returns the output.
 */
export async function runUntil(
  running: RegExp,
  code: string,
  where: { folder: string; environment: Readonly<Record<string, string>> },
): Promise<string> {
  const terminal = start("bash", ["--norc", "-c", `${STRICT}${INSTALLED}${code}`], where);
  await terminal.wrote(running);
  terminal.pressCtrlC();
  return terminal.ended();
}

/** npm writes nothing of its own, and looks for no newer version. */
const NPM_ENVIRONMENT = { HOME: tmpdir(), npm_config_logs_max: "0", npm_config_update_notifier: "false" };

/** Starts a program that ends with its test, with all that it has started. */
function start(
  file: string,
  args: readonly string[],
  { folder, environment }: { folder: string; environment: Readonly<Record<string, string>> },
) {
  const child = spawn(file, args, {
    cwd: folder,
    detached: true, // A process group of its own, as that of a terminal.
    env: { ...NODE_ENVIRONMENT, ...NPM_ENVIRONMENT, ...environment },
  });
  let [printed, written] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    written += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written += text;
  });
  child.stdin.on("error", () => undefined); // It need not read what is typed.
  const closed = once(child, "close");
  const signal = (name: NodeJS.Signals) => process.kill(-(child.pid ?? Number.NaN), name);
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) signal("SIGKILL");
    await closed;
  });
  return {
    child,
    pressCtrlC: () => signal("SIGINT"),
    /** All that it wrote, after its end. */
    ended: async () => {
      await closed;
      return written;
    },
    /** What it printed, if it ended with 0. */
    succeeded: async () => {
      const [code] = await closed;
      if (code !== 0) throw new Error(`It ended with ${code}:\n${written}`);
      return printed;
    },
    /** Resolves when what it wrote contains this. */
    wrote: (text: RegExp) =>
      new Promise<void>((resolved, rejected) => {
        const look = () => void (text.test(written) && resolved());
        child.stdout.on("data", look);
        child.stderr.on("data", look);
        void closed.then(() => rejected(new Error(`It ended before it wrote ${text}:\n${written}`)));
      }),
  };
}

/** Readers have the ports of `npm start`, or addresses and a key of their own. */
const withAddresses = (code: string, { demo: { api, backOffice }, keys }: Reader): string =>
  code
    .replaceAll("https://api.deployment.example", api)
    .replaceAll("pok_test_…", keys.testKey)
    .replaceAll("http://localhost:8080", api)
    .replaceAll("http://localhost:8081", backOffice)
    .replaceAll("https://back-office.example.com", backOffice);

/** The statuses that a page announces in comments at the end of lines, such as `# 409: a line has no shipment`. */
export const announcedStatuses = (blocks: readonly CodeBlock[]): number[] =>
  blocks.flatMap(({ code }) =>
    [...code.matchAll(/(?:#|\/\/) ([1-5]\d\d)\b/g)].map(([, status]) => Number(status)),
  );
