import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { AggregatorRegistry, type Registry } from "prom-client";
import { addCompression } from "../http/compression.ts";
import { unauthorized } from "../http/credentials.ts";
import { createListener } from "../http/listener.ts";
import { problemWriter } from "../http/replies.ts";
import { DOCUMENT } from "../http/static-sites.ts";
import { sharedWhileRunning } from "../operations/metrics.ts";
import type { Config } from "../platform/config.ts";
import type { Context } from "../platform/context.ts";
import type { Database } from "../platform/database/database.ts";
import { atMostEvery } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { within } from "../platform/run-in-turn.ts";
import { SECOND_MS } from "../platform/time.ts";
import { unavailable } from "../platform/wire/problems.ts";

/** How long a write that has succeeded is taken as a sign that writes succeed. */
const WRITE_BELIEVED_MS = 10 * SECOND_MS;
/** How long a check that has failed is not repeated: `/readyz` needs no key. */
const FAILURE_BELIEVED_MS = SECOND_MS;

/**
 * Needs a file of its own, so it fails while the disk is full or sessions are read-only. The table is gone with its transaction
 * (docs/design/database.md, "Starting and stopping").
 */
const CHECK_WRITE = {
  name: "check-write",
  text: "create temporary table write_check on commit drop as select 1 as one",
  values: [],
};

/** A balancer waits a few seconds for a response. A database that needs longer for nothing is not available. */
const READY_MS = 2_000;
const MONITORING = { ...DOCUMENT, config: { isMonitoring: true } };

/** The other processes of the command, which has one address for the health of all (src/service/supervised.ts). */
type OtherProcesses = {
  states(): Readonly<Record<string, "ready" | "starting">>;
  metricsOfOthers(): Promise<readonly (readonly object[])[]>;
};

/** The needs of health. `stopping` is aborted when the process begins to stop. */
export type HealthContext = Context & {
  readonly stopping?: AbortSignal;
  readonly others?: OtherProcesses | null;
};

/**
 * `/livez`: the process runs. `/readyz`: it can also write to its database and is not stopping, so it can accept work. `/metrics`:
 * metrics for Prometheus. None of them needs a key, and none reveals anything about orders.
 */
export function addHealthRoutes(
  app: FastifyInstance,
  { db, config, log, stopping, others = null }: HealthContext,
  { registry }: Metrics,
): void {
  const problems = problemWriter(config.errorsBaseUrl);
  const logNotReady = atMostEvery(SECOND_MS, (err: unknown, count) =>
    log.warn({ err, count }, "not ready: the database does not respond, or accepts no writes"),
  );
  // These need no key, so concurrent requests share one response.
  const readReady = sharedWhileRunning(readinessOf(db));
  const readMetrics = sharedWhileRunning(() =>
    others === null ? registry.metrics() : metricsOfAll(registry, others),
  );
  app.get("/livez", MONITORING, async () => ({ status: "ok" }));
  app.get("/readyz", MONITORING, async (_request, reply) => {
    const processes = others?.states();
    if (stopping?.aborted || (processes && !areReady(processes))) return problems.send(reply, unavailable);
    try {
      await within(READY_MS, readReady());
      return { status: "ok", ...(processes && { processes }) };
    } catch (error) {
      logNotReady(error);
      return problems.send(reply, unavailable);
    }
  });
  app.get("/metrics", MONITORING, async (_request, reply) =>
    reply.type(registry.contentType).send(await readMetrics()),
  );
}

/** True if each role has a process that is ready: the others take the requests of one that is restarted. */
function areReady(states: Readonly<Record<string, "ready" | "starting">>): boolean {
  const byRole = Map.groupBy(Object.entries(states), ([name]) => name.replace(/-\d+$/, ""));
  return byRole.size > 0 && [...byRole.values()].every((all) => all.some(([, state]) => state === "ready"));
}

/** The series of each process have its name as a label, so that none is summed up and a restart resets its own alone. */
async function metricsOfAll(own: Registry, others: OtherProcesses): Promise<string> {
  const all = await Promise.all([own.getMetricsAsJSON(), others.metricsOfOthers()]);
  const alike = [all[0], ...all[1]].map((metrics) =>
    metrics.map((metric) => ({ ...metric, aggregator: "first" })),
  );
  return AggregatorRegistry.aggregate(alike).metrics();
}

/** Resolves if the database responds and accepts writes. The latter is checked now and then. */
function readinessOf(db: Database): () => Promise<void> {
  let writtenAtMs = Number.NEGATIVE_INFINITY;
  let failure: { readonly error: unknown; readonly atMs: number } | null = null;
  return async () => {
    if (failure !== null && performance.now() - failure.atMs < FAILURE_BELIEVED_MS) throw failure.error;
    try {
      if (performance.now() - writtenAtMs < WRITE_BELIEVED_MS)
        await db.query({ name: "ready", text: "select 1", values: [] });
      else {
        await db.transaction((tx) => tx.query(CHECK_WRITE));
        writtenAtMs = performance.now();
      }
      failure = null;
    } catch (error) {
      failure = { error, atMs: performance.now() };
      writtenAtMs = Number.NEGATIVE_INFINITY;
      throw error;
    }
  };
}

/**
 * The listener of a process that starts, as long as it migrates or waits for another one that does
 * (docs/design/database.md, "Starting and stopping").
 */
export function createStartListener(config: Config, log: Logger, metrics: Metrics): FastifyInstance {
  const problems = problemWriter(config.errorsBaseUrl);
  const app = createListener({
    name: "back-office",
    routes: [],
    operationsFor: () => null,
    authenticate: async ({ headers }) => unauthorized(headers),
    errorsBaseUrl: config.errorsBaseUrl,
    // Where it listens is logged for the listener that takes its place.
    log: log.child({ listener: "health" }, { level: log.isLevelEnabled("info") ? "warn" : log.level }),
    requestLogSample: config.requestLogSample,
    metrics: metrics.requests,
  });
  // Each client connects again to the listener that takes its place.
  app.addHook("onRequest", (_request, reply, done) => {
    reply.header("connection", "close");
    done();
  });
  app.get("/livez", MONITORING, async () => ({ status: "ok" }));
  app.all("/*", MONITORING, async (_request, reply) => problems.send(reply, unavailable));
  return app;
}

/** The listener of a process without the back office role. */
export function createHealthListener(context: HealthContext, metrics: Metrics): FastifyInstance {
  const app = createListener({
    name: "back-office",
    routes: [],
    operationsFor: () => null,
    authenticate: async ({ headers }) => unauthorized(headers),
    errorsBaseUrl: context.config.errorsBaseUrl,
    log: context.log.child({ listener: "health" }),
    requestLogSample: context.config.requestLogSample,
    metrics: metrics.requests,
    stopping: context.stopping,
  });
  addCompression(app);
  addHealthRoutes(app, context, metrics);
  return app;
}
