import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { Counter, Gauge, Registry } from "prom-client";
import type { Config } from "../platform/config.ts";
import { type Environment, StartError } from "../platform/environment.ts";
import { MINUTE_MS, SECOND_MS } from "../platform/time.ts";
import { listen } from "./listen.ts";
import {
  argumentsOf,
  type Message,
  type ProcessMetrics,
  processNames,
  STORING,
  type States,
} from "./supervised.ts";

/** How the processes are started. */
export type Command = {
  /** Without what the file `.env` adds: each process reads it at its own start. */
  readonly environment: Environment;
  readonly args: readonly string[];
  /** Whether the operator has set PROCESSES. */
  readonly isCountSet: boolean;
};

type Child = {
  readonly name: string;
  process: ChildProcess | null;
  readyAtMs: number | null;
  /** Ends in a row, none of which came after a minute of work. */
  failures: number;
  restarts: number;
  isReplaced: boolean;
};

/** A process has ended itself by then, unless its event loop hangs. After ten seconds tools kill this one. */
const STOP_MS = 9_700;
const RESTART_MS = SECOND_MS / 4;
const RESTART_MAX_MS = 30 * SECOND_MS;
/** `/metrics` responds within a second. */
const METRICS_MS = 700;

/**
 * Runs the processes of a command until it is to stop: starts, watches and stops them, and does nothing else
 * (docs/design/database.md, "Several processes of one command"). Resolves with the exit code.
 * @throws StartError if PORT is not free
 */
export async function supervise(
  config: Config,
  log: Logger,
  command: Command,
  stopping: AbortSignal,
): Promise<number> {
  const port = config.roles.has("api") ? await findPort(config) : config.port;
  const supervisor = new Supervisor(config, log, { ...command, environment: withPort(command, port) });
  // What is left is never left behind: this also ends them at a second Ctrl-C.
  process.once("exit", () => supervisor.kill());
  process.stdout.on("error", () => undefined); // Who reads the log may be gone. The service runs on.
  process.on("SIGUSR2", () => void supervisor.replaceAll());
  return supervisor.run(stopping);
}

const withPort = ({ environment }: Command, port: number): Environment => ({
  ...environment,
  PORT: String(port),
});

/**
 * Several processes may listen on one port, also those of another command of this user. So it must be free, without that right,
 * before they start.
 */
async function findPort({ host, port }: Config): Promise<number> {
  if (process.platform !== "linux") throw new StartError("PROCESSES above 1 needs Linux: set it to 1.");
  const server = createServer();
  const probe = {
    async listen(address: { host: string; port: number }): Promise<string> {
      server.listen(address);
      await once(server, "listening");
      return String((server.address() as AddressInfo).port); // It listens on a port.
    },
  };
  const found = Number(await listen(probe, { host, port, variable: "PORT" }));
  server.close();
  await once(server, "close");
  return found;
}

class Supervisor {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #command: Command;
  readonly #children: Child[];
  readonly #end = Promise.withResolvers<number>();
  readonly #registry = new Registry();
  readonly #metrics = new Map<number, { readonly missing: Set<Child>; readonly found: ProcessMetrics[] }>();
  /** Called at each change of a process. */
  readonly #watching = new Set<() => void>();
  #state: "starting" | "running" | "stopping" = "starting";
  #isReplacing = false;

  constructor(config: Config, log: Logger, command: Command) {
    [this.#config, this.#log, this.#command] = [config, log, command];
    this.#children = processNames(config).map(newChild);
    addProcessMetrics(this.#registry, this.#children);
  }

  async run(stopping: AbortSignal): Promise<number> {
    const stop = (): void => this.#end.resolve(0);
    stopping.addEventListener("abort", stop);
    if (stopping.aborted) stop();
    else void this.#startAll();
    const code = await this.#end.promise;
    this.#state = "stopping";
    this.#log.info({ signal: stopping.reason }, "stopping, finishing requests in flight");
    for (const { process: running } of this.#children) running?.kill("SIGTERM");
    const ended = this.#until(() => this.#children.every((child) => child.process === null));
    await Promise.race([ended, delay(STOP_MS, undefined, { ref: false })]);
    for (const { name, process: running } of this.#children)
      if (running !== null) this.#log.warn({ of: name, ofPid: running.pid }, "process did not end, killed");
    this.kill();
    this.#log.info("stopped");
    return code;
  }

  kill(): void {
    for (const { process: running } of this.#children) running?.kill("SIGKILL");
  }

  /** The first alone: it makes what is missing, and if it cannot start, the others could not either. */
  async #startAll(): Promise<void> {
    const [first] = this.#children;
    if (first === undefined) return;
    this.#start(first);
    await this.#until(() => first.readyAtMs !== null);
    for (const child of this.#children) if (child !== first && this.#state === "starting") this.#start(child);
    await this.#until(() => this.#children.every(({ readyAtMs }) => readyAtMs !== null));
    if (this.#state !== "starting") return;
    this.#state = "running";
    const { backOfficeUrl, host, roles } = this.#config;
    const partnerApiUrl = `http://${host}:${this.#command.environment["PORT"]}`;
    this.#log.info(
      {
        partnerApiUrl: roles.has("api") ? partnerApiUrl : null,
        backOfficeUrl: roles.has("back-office") ? backOfficeUrl : null,
        processes: this.#children.map(({ name }) => name),
      },
      "ready",
    );
  }

  #start(child: Child): void {
    const isFirst = child === this.#children[0];
    const [, program = ""] = process.argv;
    const started = fork(program, [...this.#command.args, ...argumentsOf(child.name, isFirst)], {
      env: { ...this.#command.environment, PROCESSES: String(this.#config.processes) },
      // A terminal is passed on: what is written for a person looks whether there is one.
      serialization: "advanced", // Without it, data is sent as JSON.
      stdio: ["ignore", process.stdout.isTTY ? "inherit" : "pipe", "inherit", "ipc"],
    });
    child.process = started;
    if (started.stdout !== null) forwardLines(started.stdout);
    started.on("message", (message: Message) => this.#receive(child, message));
    started.on("error", (err) => this.#log.error({ err, of: child.name }, "process not reached"));
    started.once("close", (code, signal) => this.#ended(child, code, signal));
  }

  #receive(child: Child, message: Message): void {
    if (message.is === "ready") {
      child.readyAtMs = performance.now();
      this.#log.info({ of: child.name, ofPid: child.process?.pid }, "process ready");
      if (child === this.#children[0] && this.#state === "starting") this.#fit(message.processesMax);
      if (child.name === STORING) this.#announce("ready");
      else if (this.#isReady(STORING)) send(child, { is: "storing", state: "ready" });
      this.#changed();
    }
    if (message.is === "group") send(this.#named(STORING), { ...message, from: child.name });
    if (message.is === "outcomes") send(this.#named(message.to), message);
    if (message.is === "storing") this.#announce(message.state);
    if (message.is === "end of all") this.#end.resolve(1);
    if (message.is === "metrics requested") void this.#collectMetrics(child, message.number);
    if (message.is === "metrics") {
      const collected = this.#metrics.get(message.number);
      if (collected?.missing.delete(child)) collected.found.push(message.metrics);
      this.#changed();
    }
  }

  #named(name: string): Child | undefined {
    return this.#children.find((child) => child.name === name);
  }

  #isReady(name: string): boolean {
    return (this.#named(name)?.readyAtMs ?? null) !== null;
  }

  #announce(state: "ready" | "leaving" | "gone"): void {
    for (const child of this.#children)
      if (child.name !== STORING && child.name.startsWith("api-")) send(child, { is: "storing", state });
  }

  /** Starts fewer than the default, if the database has not enough connections. */
  #fit(processesMax: number | null): void {
    const { processes } = this.#config;
    if (processesMax === null || processesMax >= processes) return;
    const { isCountSet } = this.#command;
    const fields = { processes, processesMax, started: isCountSet ? processes : processesMax };
    this.#log.warn(fields, "PostgreSQL has not enough connections for all processes: raise max_connections");
    if (isCountSet) return;
    const names = processNames({ ...this.#config, processes: processesMax });
    this.#children.splice(
      0,
      Number.POSITIVE_INFINITY,
      ...this.#children.filter(({ name }) => names.includes(name)),
    );
  }

  #ended(child: Child, code: number | null, signal: NodeJS.Signals | null): void {
    const pid = child.process?.pid;
    const worked = child.readyAtMs !== null && performance.now() - child.readyAtMs > MINUTE_MS;
    child.process = null;
    child.readyAtMs = null;
    if (child.name === STORING) this.#announce("gone");
    this.#changed();
    if (this.#state === "stopping") return;
    if (this.#state === "starting") {
      // Its own message says why.
      this.#log.fatal({ of: child.name, code, signal }, "a process could not start, the command ends");
      this.#end.resolve(1);
      return;
    }
    child.restarts += 1;
    child.failures = worked || child.isReplaced ? 0 : child.failures + 1;
    const waitMs = child.isReplaced ? 0 : Math.min(RESTART_MAX_MS, RESTART_MS * 2 ** (child.failures - 1));
    const fields = { of: child.name, ofPid: pid, code, signal, waitMs };
    if (child.isReplaced) this.#log.info(fields, "process ended, its replacement starts");
    else this.#log.error(fields, "process ended, will be started again");
    child.isReplaced = false;
    setTimeout(() => this.#state === "running" && this.#start(child), waitMs);
  }

  /** Replaces one process after the other: it stops as always, and the next one waits for its successor. */
  async replaceAll(): Promise<void> {
    if (this.#state !== "running" || this.#isReplacing) return;
    this.#isReplacing = true;
    for (const child of this.#children) {
      const old = child.process;
      child.isReplaced = old !== null;
      old?.kill("SIGTERM");
      await this.#until(() => child.process !== old && child.readyAtMs !== null);
    }
    this.#isReplacing = false;
    this.#log.info("all processes replaced");
  }

  async #collectMetrics(from: Child, number: number): Promise<void> {
    const others = this.#children.filter((child) => child !== from && child.readyAtMs !== null);
    const found = {
      missing: new Set(others),
      found: [await this.#registry.getMetricsAsJSON()] as ProcessMetrics[],
    };
    this.#metrics.set(number, found);
    for (const other of others) send(other, { is: "metrics requested", number });
    await Promise.race([
      this.#until(() => found.missing.size === 0),
      delay(METRICS_MS, undefined, { ref: false }),
    ]);
    this.#metrics.delete(number);
    send(from, { is: "metrics of others", number, metrics: found.found });
  }

  #changed(): void {
    const states: States = Object.fromEntries(
      this.#children.map(({ name, readyAtMs }) => [name, readyAtMs === null ? "starting" : "ready"]),
    );
    const [first] = this.#children;
    if (first?.readyAtMs !== null && first !== undefined) send(first, { is: "states", states });
    for (const look of this.#watching) look();
  }

  /** Resolves once the processes are so. */
  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.#watching.delete(look);
        resolve();
      };
      this.#watching.add(look);
      look();
    });
  }
}

/** Of the processes of a command, which it alone knows while one is away. */
export function addProcessMetrics(
  registry: Registry,
  children: readonly Pick<Child, "name" | "readyAtMs" | "restarts">[],
): void {
  const labeled = { labelNames: ["process"], registers: [registry] };
  new Gauge({
    ...labeled,
    name: "partner_orders_process_up",
    help: "1 if the process of this command is ready.",
    collect() {
      for (const { name, readyAtMs } of children) this.set({ process: name }, readyAtMs === null ? 0 : 1);
    },
  });
  new Counter({
    ...labeled,
    name: "partner_orders_process_restarts_total",
    help: "How often the process of this command was started again.",
    collect() {
      this.reset();
      for (const { name, restarts } of children) this.inc({ process: name }, restarts);
    },
  });
}

const newChild = (name: string): Child => ({
  name,
  process: null,
  readyAtMs: null,
  failures: 0,
  restarts: 0,
  isReplaced: false,
});

/** A process that has just ended receives nothing, which its end tells. */
const send = (child: Child | undefined, message: Message): void =>
  void child?.process?.send(message, undefined, {}, () => undefined);

const NEWLINE = 10;

/** Passes whole lines on: longer ones of several processes would mix in one pipe. */
function forwardLines(from: Readable): void {
  let begun: Buffer[] = [];
  from.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      process.stdout.write(Buffer.concat([...begun, chunk.subarray(0, end)]));
      begun = [];
    }
    if (end < chunk.length) begun.push(chunk.subarray(end));
  });
  from.once("end", () => {
    if (begun.length > 0) process.stdout.write(Buffer.concat([...begun, Buffer.of(NEWLINE)]));
  });
}
