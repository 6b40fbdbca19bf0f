import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Addresses, launch } from "./launch.ts";

const HELP = `Usage: npx @partner-orders/dev [options]

Starts the Partner Orders service on this machine for your tests, with a database, a demo connection, and a clock that you can move.

  --port NUMBER  the port of the partner API (default: a free one)
  --data FOLDER  keeps the data there (default: a temporary folder, which is removed at the end)
  --log LEVEL    logs of the service: silent, error, warn, info or debug (default: warn)
  --json         prints one line of JSON, for programs
  --version
  --help
`;
const LEVELS = ["silent", "error", "warn", "info", "debug"] as const;

const OPTIONS = {
  port: { type: "string" },
  data: { type: "string" },
  log: { type: "string" },
  json: { type: "boolean" },
  version: { type: "boolean" },
  help: { type: "boolean" },
} as const;

class UsageError extends Error {}

/** Runs the service until a signal. @returns the exit code: 1 if the service did not start or was lost, 2 for wrong usage */
export async function runCommandLine(args: string[]): Promise<number> {
  const stopped = Promise.withResolvers<"signal">();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => stopped.resolve("signal"));
  onLostNpm(() => stopped.resolve("signal"));
  try {
    const { json, version, help, ...options } = readOptions(args);
    if (help) return print(HELP);
    if (version) return print(`${ownVersion()}\n`);
    const starting = launch(options, { isCommand: true });
    if ((await Promise.race([stopped.promise, starting])) === "signal") {
      await starting.then(
        ({ stop }) => stop(),
        () => undefined,
      );
      return 0;
    }
    const { addresses, stop, ended } = await starting;
    print(json ? `${JSON.stringify(addresses)}\n` : welcome(addresses, options.dataDir));
    const reason = await Promise.race([stopped.promise, ended.then(() => "ended")]);
    await stop();
    if (reason === "signal") return 0;
    process.stderr.write("The service has ended.\n");
    return 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

const LOOK_EVERY_MS = 500;

/**
 * npm starts programs in a shell, and passes a signal to the shell alone, which ends with it; or npm is killed, and the shell stays.
 * Without npm, losing the parent means nothing: the shell of a job in the background may end before it.
 */
function onLostNpm(stop: () => void): void {
  if (process.env["npm_command"] === undefined) return;
  const first = npmAndShell();
  setInterval(() => npmAndShell() !== first && stop(), LOOK_EVERY_MS).unref();
}

/** The ids of both processes. Only Linux names the parent of another process. */
function npmAndShell(): string {
  try {
    const status = readFileSync(`/proc/${process.ppid}/status`, "utf8");
    return `${process.ppid} ${/^PPid:\s*(\d+)/m.exec(status)?.[1]}`;
  } catch {
    return String(process.ppid);
  }
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

function readOptions(args: string[]) {
  const { port, data, log, ...flags } = parsed(args);
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535))
    throw new UsageError("--port must be a whole number from 1 to 65535.");
  const logLevel = LEVELS.find((level) => level === log);
  if (log !== undefined && logLevel === undefined)
    throw new UsageError(`--log must be one of ${LEVELS.join(", ")}.`);
  return {
    ...flags,
    ...(port !== undefined && { port: Number(port) }),
    ...(data !== undefined && { dataDir: data }),
    ...(logLevel !== undefined && { logLevel }),
  };
}

function parsed(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
  }
}

/** In the sources, the package of the service; in the package, a copy of what the service reads of it. */
const ownVersion = (): string =>
  JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")).version;

const welcome = (
  { api, key, testKey, productIds, dev, backOffice, people }: Addresses,
  dataDir: string | undefined,
): string => `
Partner Orders runs on this machine, for your tests.

  Partner API  ${api}/v1
  Clock        ${dev}/dev/clock
  Back office  ${backOffice.url}/api (token: ${backOffice.token})
  Key          ${key}
  Test key     ${testKey} (test orders only)
  Products     ${productIds.join("\n               ")}

The console, as one of these people:

${people.map(({ role, url }) => `  ${role.padEnd(11)}  ${url}`).join("\n")}

Your first order, to copy and paste:

  export API=${api} DEV=${dev} KEY=${key} PRODUCT=${productIds[0]}

  curl -i $API/v1/orders -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{
    "externalOrderId": "first-order",
    "lines": [{ "productId": "'$PRODUCT'", "quantity": 2 }],
    "shippingAddress": {
      "firstName": "Ada", "lastName": "Lovelace", "address1": "12 St James Square",
      "city": "London", "zip": "SW1Y 4JH", "countryCode": "GB"
    }
  }'

Two hours later it is accepted, and its webhook is sent:

  curl $DEV/dev/clock -H 'Content-Type: application/json' -d '{ "advanceSeconds": 7200 }'
  curl $API/v1/orders/first-order -H "Authorization: Bearer $KEY"

Ctrl-C stops it. ${dataDir === undefined ? "Its data is removed." : `Its data stays in ${dataDir}.`}
`;
