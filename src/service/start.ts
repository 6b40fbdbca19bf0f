import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { createBackOffice, type Sites } from "../back-office/app.ts";
import { limitAttempts, TOKEN_LENGTH_ADVISED, tokenAuthentication } from "../back-office/authentication.ts";
import { createHealthListener, createStartListener } from "../back-office/health.ts";
import { sessionAuthentication } from "../back-office/people/session-authentication.ts";
import { KnownKeys } from "../merchants/keys.ts";
import { addBacklogMetrics } from "../operations/metrics.ts";
import { startHeartbeat } from "../operations/processes.ts";
import { JobNotes } from "../operations/processes-sql.ts";
import { createPartnerApi } from "../partner-api/app.ts";
import { ensureFirstOperator } from "../people/first-operator.ts";
import type { Config } from "../platform/config.ts";
import { readOrMakeSecret } from "../platform/data-dir.ts";
import { DatabaseUsage } from "../platform/database/database.ts";
import { readOpenFilesMax } from "../platform/environment.ts";
import { createMetrics, type Metrics } from "../platform/metrics.ts";
import { NO_TELEMETRY, type Telemetry } from "../platform/telemetry/telemetry.ts";
import { type Clock, SECOND_MS, systemClock } from "../platform/time.ts";
import { checkModel } from "../self-service/test-keys.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { Dispatcher, IN_FLIGHT_MAX } from "../webhooks/delivery/dispatcher.ts";
import { createSender } from "../webhooks/delivery/sender.ts";
import { GATHER_FIRST_STATISTICS, JOBS, type Job } from "./jobs.ts";
import {
  closeListener,
  connectionsMax,
  type Listener,
  limitConnections,
  listen,
  STOP_MS,
  type Stops,
  stopAll,
} from "./listen.ts";
import { addPoolMetrics, type OpenService, openService, type PostgresSettings } from "./open-service.ts";
import type { Supervised } from "./supervised.ts";
import { startWorker } from "./worker.ts";

export type RunningService = {
  readonly context: WebhookContext;
  readonly operatorToken: string;
  /** The addresses of the listeners. Null for a role that this process does not have. */
  readonly partnerApiUrl: string | null;
  readonly backOfficeUrl: string | null;
  /**
   * Does what is due now, with all that follows from it, and sends the deliveries that are due. For a program that moves the clock.
   * It takes as long as the receivers do.
   */
  finishDueWork(): Promise<void>;
  /** Resolves if the data of the embedded database has disappeared. Then nothing is left to do but to stop. */
  readonly databaseLost: Promise<Error>;
  /** Stops accepting requests, finishes those in flight, and closes the database. May be called once. */
  stop(): Promise<void>;
};

/**
 * The shortest time between the beginning of a stop and the end of the listeners. In it a client that uses its connections
 * all the time learns from a response that they are about to be closed. Less than `SHUTDOWN_DELAY_MAX_MS` of config.ts.
 */
const ANNOUNCEMENT_MS = 250;

type StartOptions = {
  readonly telemetry?: Telemetry;
  readonly clock?: Clock;
  /** Ends a start that has not come further than the database. */
  readonly stopRequested?: AbortSignal;
  /** Null: this process has all roles of the command. */
  readonly supervised?: Supervised | null;
  /** Override those of the embedded server. */
  readonly postgresSettings?: PostgresSettings;
};

/**
 * Starts the database, then the listeners and the worker of the configured roles. If anything fails, stops what was
 * started.
 * @throws the reason of `stopRequested`
 */
export async function startService(
  config: Config,
  log: Logger,
  {
    telemetry = NO_TELEMETRY,
    clock = systemClock,
    stopRequested,
    supervised = null,
    postgresSettings,
  }: StartOptions = {},
): Promise<RunningService> {
  const stops: Stops = { entryPoints: [], resources: [] };
  try {
    const metrics = createMetrics();
    supervised?.shareMetrics(metrics.registry);
    const servesHealth = supervised?.servesHealth ?? true;
    const start = servesHealth ? await listenWhileStarting(config, log, metrics, stops) : NO_START_LISTENER;
    const opened = await openService(config, log, clock, "migrate", postgresSettings);
    const service = { ...opened, context: { ...opened.context, attemptMade: metrics.attemptMade } };
    const { context, pools } = service;
    stops.resources.push({ name: "database", stop: service.close });
    stopRequested?.throwIfAborted();
    await checkModel(context);
    const operatorToken = await findOperatorToken(config);
    if (config.roles.has("back-office")) await ensureFirstOperator(context);
    if (config.roles.has("back-office") && operatorToken.length < TOKEN_LENGTH_ADVISED)
      log.warn({ characters: TOKEN_LENGTH_ADVISED }, "operator token is short, use a longer one");
    const usage = new DatabaseUsage();
    const stopping = new AbortController();
    if (servesHealth) addBacklogMetrics(metrics.registry, { ...context, db: pools.get("health") });
    addPoolMetrics(metrics.registry, pools, usage);
    telemetry.exportMetrics(metrics.registry);
    stops.resources.push({ name: "telemetry", stop: telemetry.stop });
    // Partners first: the next one replaces the listener of the start, and then `/readyz` speaks for both.
    const partnerApiUrl = config.roles.has("api")
      ? await open(
          partnerApi(service, metrics, usage, stops, stopping.signal, supervised),
          config,
          "PORT",
          stops,
          supervised,
        )
      : null;
    const backOfficeUrl = servesHealth
      ? await listenBackOffice(
          service,
          { operatorToken, sites: builtSites(), usage, start, supervised },
          metrics,
          stops,
          stopping.signal,
        )
      : null;
    // Last: to build the listeners keeps the process busy for a second or more, in which the first runs of jobs would time out.
    const notes = new JobNotes(clock);
    const finishDueWork = config.roles.has("worker")
      ? startWork(service, metrics, notes, stops)
      : async () => undefined;
    if (!config.roles.has("worker") && config.roles.has("api")) startStatistics(service, stops);
    const heartbeat = startHeartbeat({ ...context, db: pools.get("health") }, notes);
    stops.resources.push({ name: "heartbeat", stop: heartbeat.stop });
    const stop = async (): Promise<void> => {
      const endsAtMs = performance.now() + STOP_MS;
      // Balancers see that in `/readyz` (docs/design/database.md, "Starting and stopping"), and clients in each response
      // (docs/design/database.md, "Starting and stopping").
      stopping.abort();
      await setTimeout(Math.max(config.shutdownDelayMs, ANNOUNCEMENT_MS));
      await stopAll(stops, log, endsAtMs);
    };
    const { databaseLost } = service;
    return { context, operatorToken, partnerApiUrl, backOfficeUrl, finishDueWork, databaseLost, stop };
  } catch (error) {
    await stopAll(stops, log, performance.now() + STOP_MS);
    throw error;
  }
}

function partnerApi(
  { context, pools, signals }: OpenService,
  metrics: Metrics,
  usage: DatabaseUsage,
  stops: Stops,
  stopping: AbortSignal,
  supervised: Supervised | null,
): Listener {
  const databases = {
    calls: pools.get("partners"),
    creations: pools.get("creations"),
    lists: pools.get("lists"),
  };
  const knownKeys = new KnownKeys();
  const stopListening = signals.listen((signal) => {
    if (signal === "keys_changed") knownKeys.forget();
  });
  stops.entryPoints.push({ name: "signals of keys", stop: stopListening });
  const sharedGroups = supervised?.sharedGroups(stopping);
  const partners = { ...context, db: databases.calls, stopping, ...(sharedGroups && { sharedGroups }) };
  const api = createPartnerApi(partners, metrics, databases, usage, knownKeys, builtSites().docsForPartners);
  limitConnections(api.server, connectionsMax("partners"), context.log);
  return api;
}

/** Work that leads to more work: acceptance to a route, a route to a charge. What needs more runs is left to the pace of the jobs. */
const RUNS_MAX = 20;

/**
 * Starts the jobs and the dispatcher. The job `find-due-deliveries` finds deliveries for which no signal arrived.
 * @returns `finishDueWork`
 */
function startWork(
  { context, pools, signals }: OpenService,
  metrics: Metrics,
  notes: JobNotes,
  stops: Stops,
): RunningService["finishDueWork"] {
  const { webhookTimeoutMs, webhookAllowPrivateNetworks } = context.config;
  // A quarter of the sockets for requests in flight, and one for sockets that wait for a further request.
  const socketsMax = Math.floor(readOpenFilesMax() / 4);
  const sender = createSender({
    timeoutMs: webhookTimeoutMs,
    allowPrivateNetworks: webhookAllowPrivateNetworks,
    socketsKeptMax: socketsMax,
  });
  const dispatching = { ...context, db: pools.get("dispatcher") };
  const dispatcher = new Dispatcher(dispatching, sender, {
    random: Math.random,
    metrics,
    inFlightMax: Math.min(IN_FLIGHT_MAX, socketsMax),
  });
  const stopListening = signals.listen((signal, connections) => {
    if (signal === "deliveries_due") dispatcher.wake(connections);
    if (signal === "endpoints_changed") dispatcher.refresh(connections);
  });
  const jobs = [...JOBS, findDueDeliveries(dispatcher)];
  const worker = startWorker({ ...context, db: pools.get("jobs") }, metrics, jobs, notes);
  stops.entryPoints.push(
    { name: "jobs", stop: worker.stop },
    { name: "deliveries", stop: () => dispatcher.stop().then(sender.close) },
    { name: "signals", stop: stopListening },
  );
  return async () => {
    for (let run = 1, count = 1; count > 0 && run <= RUNS_MAX; run += 1) {
      count = await worker.runNow();
      await dispatcher.idle();
    }
  };
}

/**
 * An `api` process does not depend on a worker for the plans of its statements
 * (docs/design/database.md, "Plans and statistics").
 */
function startStatistics({ context }: OpenService, stops: Stops): void {
  const unreported = { jobDone: () => undefined, jobFailed: () => undefined };
  const worker = startWorker(context, unreported, [GATHER_FIRST_STATISTICS]);
  stops.entryPoints.push({ name: "statistics", stop: worker.stop });
}

const findDueDeliveries = (dispatcher: Dispatcher): Job => ({
  name: "find-due-deliveries",
  everyMs: SECOND_MS,
  run: async () => {
    await dispatcher.poll();
    return 0;
  },
});

/** Only the back office uses the token. A process without that role must not need `DATA_DIR` for it. */
const findOperatorToken = async ({ operatorToken, roles, dataDir }: Config): Promise<string> =>
  operatorToken ?? (roles.has("back-office") ? readOrMakeSecret(dataDir, "operator-token") : "");

type StartListener = { close(): Promise<void> };
const NO_START_LISTENER: StartListener = { close: async () => undefined };

/**
 * Serves health from the first moment, on the port of the back office. A process that is not ready says so, also while it waits
 * for the migrations of another one (docs/design/database.md, "Starting and stopping").
 */
async function listenWhileStarting(
  config: Config,
  log: Logger,
  metrics: Metrics,
  stops: Stops,
): Promise<StartListener> {
  if (config.backOfficePort === 0) return NO_START_LISTENER; // No probe knows the port before the log names it.
  const app = createStartListener(config, log, metrics);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= app.close();
    app.server.closeAllConnections();
    return closed;
  };
  stops.entryPoints.push({ name: "listener of the start", stop: close });
  try {
    await listen(app, { host: config.host, port: config.backOfficePort, variable: "BACK_OFFICE_PORT" });
  } catch (error) {
    if (config.roles.has("back-office")) throw error;
    return NO_START_LISTENER; // The health listener of the process says so.
  }
  return { close };
}

type BackOfficeStart = {
  readonly operatorToken: string;
  readonly sites: Sites;
  readonly usage: DatabaseUsage;
  readonly start: StartListener;
  readonly supervised: Supervised | null;
};

/** Every process serves health and metrics. Only a process with the role serves the API. */
async function listenBackOffice(
  { context, pools }: OpenService,
  { operatorToken, sites, usage, start, supervised }: BackOfficeStart,
  metrics: Metrics,
  stops: Stops,
  stopping: AbortSignal,
): Promise<string | null> {
  const { config, log } = context;
  const health = { ...context, db: pools.get("health"), stopping, others: supervised };
  if (config.roles.has("back-office")) {
    const backOffice = { ...context, db: pools.get("back-office") };
    const people = { ...context, db: pools.get("people") };
    const programs = limitAttempts(tokenAuthentication(operatorToken, people), backOffice, operatorToken);
    const authenticate = sessionAuthentication(people, programs);
    const ownConnections = { health, people, bulk: pools.get("bulk"), usage };
    const app = createBackOffice(backOffice, authenticate, metrics, ownConnections, sites);
    limitConnections(app.server, connectionsMax("back-office"), log);
    await app.ready();
    await start.close();
    return open(app, config, "BACK_OFFICE_PORT", stops);
  }
  try {
    const app = createHealthListener(health, metrics);
    limitConnections(app.server, connectionsMax("back-office"), log);
    await app.ready();
    await start.close();
    await open(app, config, "BACK_OFFICE_PORT", stops);
  } catch (err) {
    log.warn({ err }, "health listener not started, the process runs without it");
  }
  return null;
}

async function open(
  app: Listener,
  { host, port, backOfficePort }: Config,
  variable: "PORT" | "BACK_OFFICE_PORT",
  stops: Stops,
  supervised: Supervised | null = null,
): Promise<string> {
  stops.entryPoints.push({ name: `listener of ${variable}`, stop: () => closeListener(app) });
  const reusePort = supervised !== null;
  return listen(app, { host, port: variable === "PORT" ? port : backOfficePort, variable, reusePort });
}

/** `npm run docs` writes it. An image and a package contain it; a checkout has it after its first build. */
const DOCS = fileURLToPath(new URL("../../dist/docs", import.meta.url));
/** The part of it for partners, and nothing of the operator's: `npm run docs -- --public` writes it. An image contains it. */
const DOCS_FOR_PARTNERS = fileURLToPath(new URL("../../dist/docs-public", import.meta.url));
/** `npm ci` writes it. */
const CONSOLE = fileURLToPath(new URL("../../web/dist", import.meta.url));

const isBuilt = (folder: string): boolean => existsSync(`${folder}/index.html`);

/** The sites that are built. */
const builtSites = (): Sites & { readonly docsForPartners?: string } => ({
  ...(isBuilt(DOCS) && { docs: DOCS }),
  ...(isBuilt(DOCS_FOR_PARTNERS) && { docsForPartners: DOCS_FOR_PARTNERS }),
  ...(isBuilt(CONSOLE) && { console: CONSOLE }),
});
