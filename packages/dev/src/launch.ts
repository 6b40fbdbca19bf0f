import { fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { productionReason } from "./production.ts";

export type StartOptions = {
  /** The port of the partner API. Default: a free one. */
  readonly port?: number;
  /** A folder that keeps the data, the keys and the time of the clock. Default: a temporary one, which is removed at the end. */
  readonly dataDir?: string;
  /** What the service logs to standard error, as JSON lines. Default: `warn`. */
  readonly logLevel?: "silent" | "error" | "warn" | "info" | "debug";
};

/** Where the service is, and what it has. Plain data, which other processes may get. */
export type Addresses = {
  /** The partner API, without `/v1`: the `baseUrl` of the SDK. */
  readonly api: string;
  /** A live key. Its orders are demo orders: nothing is charged or shipped. */
  readonly key: string;
  /** A key for test orders only. */
  readonly testKey: string;
  /** Products that the connection may order. */
  readonly productIds: readonly string[];
  /** Where `/dev/clock` is. */
  readonly dev: string;
  /** The console and `/api` of the back office, and the operator's token. */
  readonly backOffice: { readonly url: string; readonly token: string };
  /** Links with which one is signed in to the console, one for each role. */
  readonly people: readonly { readonly role: string; readonly url: string }[];
};

/** What the process of the service reports: that it accepts requests, or why it does not. */
export type Report = { readonly addresses: Addresses } | { readonly failure: string };

export type Launched = {
  readonly addresses: Addresses;
  stop(): Promise<void>;
  /** Resolves when the process of the service has ended, for whatever reason. */
  readonly ended: Promise<void>;
};

/** Beside this file, as TypeScript in the sources and as JavaScript in the package. */
const SERVICE = fileURLToPath(import.meta.url.replace("/launch.", "/service-process."));

/** What programs need to run, and nothing that could be a setting of the service. */
const ENVIRONMENT = ["PATH", "LD_LIBRARY_PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "NODE_COMPILE_CACHE"];

/**
 * Starts the service in a process of its own (docs/design/dev.md, "A process of its own"), which ends when the channel to this one
 * closes. It keeps only the command alive.
 * @throws Error with the reason
 */
export async function launch(options: StartOptions, { isCommand = false } = {}): Promise<Launched> {
  const reason = productionReason(process.env, isCommand);
  if (reason !== null) throw new Error(reason);
  const child = fork(SERVICE, [], {
    // `node:sqlite` warns that it is new.
    execArgv: ["--disable-warning=ExperimentalWarning"],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => ENVIRONMENT.includes(name))),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    // Ctrl-C in a terminal, and whatever ends a group of processes, must leave it the time to remove its data.
    detached: true,
  });
  const ended = once(child, "exit").then(
    () => undefined,
    () => undefined, // It could not be started at all.
  );
  const { dataDir } = options;
  child.send({ ...options, ...(dataDir !== undefined && { dataDir: resolve(dataDir) }) });
  const [report] = await Promise.race([
    once(child, "message") as Promise<[Report]>, // The process of the service sends nothing else.
    ended.then((): [Report] => [{ failure: "Its process ended while it started." }]),
  ]);
  if ("failure" in report) {
    if (child.connected) child.disconnect();
    await ended;
    throw new Error(`The service did not start. ${report.failure}`);
  }
  if (!isCommand) {
    // A test that forgets to stop it ends all the same.
    child.unref();
    child.channel?.unref();
  }
  return {
    addresses: report.addresses,
    ended,
    stop: async () => {
      child.ref();
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
