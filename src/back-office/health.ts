import type { FastifyInstance } from "fastify";
import { createListener } from "../http/listener.ts";
import { problemWriter, unauthorized } from "../http/replies.ts";
import { sharedWhileRunning } from "../operations/metrics.ts";
import type { Context } from "../platform/context.ts";
import { atMostEvery } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { within } from "../platform/run-in-turn.ts";
import { SECOND_MS } from "../platform/time.ts";
import { unavailable } from "../platform/wire/problems.ts";
import { DOCUMENT } from "./static-sites.ts";

/** A balancer waits a few seconds for a response. A database that needs longer for nothing is not available. */
const READY_MS = 2_000;
const MONITORING = { ...DOCUMENT, config: { isMonitoring: true } };

/** The needs of health. `stopping` is aborted when the process begins to stop. */
export type HealthContext = Context & { readonly stopping?: AbortSignal };

/**
 * `/livez`: the process runs. `/readyz`: it can also reach its database and is not stopping, so it can accept work. `/metrics`: metrics for
 * Prometheus. None of them needs a key, and none reveals anything about orders.
 */
export function addHealthRoutes(
  app: FastifyInstance,
  { db, config, log, stopping }: HealthContext,
  { registry }: Metrics,
): void {
  const problems = problemWriter(config.errorsBaseUrl);
  const logNotReady = atMostEvery(SECOND_MS, (err: unknown, count) =>
    log.warn({ err, count }, "not ready: the database does not respond"),
  );
  // These need no key, so concurrent requests share one response.
  const readReady = sharedWhileRunning(() => db.query({ name: "ready", text: "select 1", values: [] }));
  const readMetrics = sharedWhileRunning(() => registry.metrics());
  app.get("/livez", MONITORING, async () => ({ status: "ok" }));
  app.get("/readyz", MONITORING, async (_request, reply) => {
    if (stopping?.aborted) return problems.send(reply, unavailable);
    try {
      await within(READY_MS, readReady());
      return { status: "ok" };
    } catch (error) {
      logNotReady(error);
      return problems.send(reply, unavailable);
    }
  });
  app.get("/metrics", MONITORING, async (_request, reply) =>
    reply.type(registry.contentType).send(await readMetrics()),
  );
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
  addHealthRoutes(app, context, metrics);
  return app;
}
