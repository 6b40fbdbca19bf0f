import type { Registry } from "prom-client";
import type { SharedGroups } from "../orders/creation/create-order.ts";
import { type Config, ROLES, type Role } from "../platform/config.ts";
import { type GroupMessage, shareGroups } from "./shared-groups.ts";

/**
 * One of the processes of a command, and the channel to the one that supervises them
 * (docs/design/database.md, "Several processes of one command").
 */
export type Supervised = {
  readonly name: string;
  readonly role: Role;
  /** One process serves health and metrics for all of them. */
  readonly servesHealth: boolean;
  /** The process is ready. @param processesMax as many of PROCESSES as the database has connections for */
  ready(processesMax: number | null): void;
  /** No process of this command can work any more. */
  endAll(): void;
  /** Sends these metrics when they are requested. */
  shareMetrics(registry: Registry): void;
  /** The states of all processes of the command, by name. */
  states(): States;
  /** The metrics of the other processes. Those that do not respond in time are missing. */
  metricsOfOthers(): Promise<readonly ProcessMetrics[]>;
  /** Of the role `api`. @param stopping from then on each process stores its own */
  sharedGroups(stopping: AbortSignal): SharedGroups;
};

export type States = Readonly<Record<string, "ready" | "starting">>;
/** As `Registry.getMetricsAsJSON` returns them. */
export type ProcessMetrics = readonly object[];

/** What a process and its supervisor tell each other. A request and its response have the same number. */
export type Message =
  | { readonly is: "ready"; readonly processesMax: number | null }
  | { readonly is: "end of all" }
  | { readonly is: "states"; readonly states: States }
  | { readonly is: "metrics requested"; readonly number: number }
  | { readonly is: "metrics"; readonly number: number; readonly metrics: ProcessMetrics }
  | {
      readonly is: "metrics of others";
      readonly number: number;
      readonly metrics: readonly ProcessMetrics[];
    }
  | GroupMessage;

/** The process that stores the small groups of all `api` processes. */
export const STORING = "api-1";

/** The arguments of a process: they also name it in the list of processes of the machine. */
export const argumentsOf = (name: string, servesHealth: boolean): string[] => [
  `--process=${name}`,
  ...(servesHealth ? ["--health"] : []),
];

/** The processes that a command starts. The first one serves health. */
export function processNames({ roles, processes }: Pick<Config, "roles" | "processes">): string[] {
  const numbered = (role: Role, count: number): string[] =>
    Array.from({ length: roles.has(role) ? count : 0 }, (_, index) => `${role}-${index + 1}`);
  const workers = roles.has("api") ? Math.ceil(processes / API_FOR_EACH_WORKER) : processes;
  return [
    ...(roles.has("back-office") ? ["back-office"] : []),
    ...numbered("api", processes),
    ...numbered("worker", workers),
  ];
}

/** An order costs a worker as much as several of its requests, but a worker does the work of hundreds of orders at once. */
const API_FOR_EACH_WORKER = 4;

/** Null: the process is not supervised, it has all of its roles. */
export function supervisedBy(args: readonly string[]): Supervised | null {
  const name = args.find((arg) => arg.startsWith("--process="))?.slice("--process=".length);
  const role = ROLES.find((each) => name === each || name?.startsWith(`${each}-`));
  if (name === undefined || role === undefined || process.send === undefined) return null;
  const send = (message: Message): void => void process.send?.(message, undefined, {}, () => undefined);
  const requests = new Map<number, (metrics: readonly ProcessMetrics[]) => void>();
  let states: States = {};
  let registry: Registry | null = null;
  let requestCount = 0;

  async function sendMetrics(number: number): Promise<void> {
    send({ is: "metrics", number, metrics: (await registry?.getMetricsAsJSON()) ?? [] });
  }

  const groups = shareGroups(name === STORING, send);

  process.on("message", (message: Message) => {
    if (message.is === "group" || message.is === "outcomes" || message.is === "storing")
      groups.receive(message);
    if (message.is === "states") states = message.states;
    if (message.is === "metrics requested") void sendMetrics(message.number);
    if (message.is === "metrics of others") {
      requests.get(message.number)?.(message.metrics);
      requests.delete(message.number);
    }
  });
  return {
    name,
    role,
    servesHealth: args.includes("--health"),
    ready: (processesMax) => send({ is: "ready", processesMax }),
    endAll: () => send({ is: "end of all" }),
    shareMetrics(own) {
      own.setDefaultLabels({ process: name });
      registry = own;
    },
    states: () => states,
    sharedGroups(stopping) {
      stopping.addEventListener("abort", groups.leave);
      return groups;
    },
    metricsOfOthers: () =>
      new Promise((resolve) => {
        const number = ++requestCount;
        requests.set(number, resolve);
        send({ is: "metrics requested", number });
      }),
  };
}
