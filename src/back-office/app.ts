import type { FastifyInstance } from "fastify";
import { readVersion } from "../config.ts";
import { createListener } from "../http/listener.ts";
import { describeApis } from "../http/openapi.ts";
import { PROBLEMS } from "../http/problems.ts";
import type { Metrics } from "../metrics.ts";
import { partnerRoutes } from "../partner-api/routes.ts";
import type { Service } from "../service.ts";
import type { BackOfficeAuthentication } from "./authentication.ts";
import { addHealthRoutes } from "./health.ts";
import { problemPage } from "./problem-page.ts";
import { backOfficeRoutes } from "./routes.ts";
import { addStripeWebhook } from "./stripe-webhook.ts";

/** An import may be large, and come from far away. */
const REQUEST_TIMEOUT_MS = 600_000;

/** The private listener: the back office API, and what operators and their machines watch the service by. */
export function createBackOffice(
  service: Service,
  authenticate: BackOfficeAuthentication,
  metrics: Metrics,
): FastifyInstance {
  const { config, log } = service;
  const app = createListener({
    name: "back-office",
    routes: backOfficeRoutes(service),
    authenticate,
    errorsBaseUrl: config.errorsBaseUrl,
    log: log.child({ listener: "back-office" }),
    metrics: metrics.requests,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  const description = JSON.stringify(describeService(service));
  app.get("/openapi.json", async (_request, reply) => reply.type("application/json").send(description));
  addHealthRoutes(app, service, metrics);
  addStripeWebhook(app, service);
  for (const [code, problem] of Object.entries(PROBLEMS)) {
    app.get(`/errors/${code}`, async (_request, reply) =>
      reply.type("text/html; charset=utf-8").send(problemPage(code, problem)),
    );
  }
  return app;
}

/** The OpenAPI description of both APIs. It comes from the tables of routes alone: nothing is asked of the database. */
export function describeService(service: Service): Record<string, unknown> {
  const { baseUrl, backOfficePort, errorsBaseUrl } = service.config;
  const apis = [
    {
      serverUrl: baseUrl,
      routes: partnerRoutes(service),
      security: ["connectionKey", "connectionKeyHeader"],
      problems: ["rate-limited" as const],
    },
    {
      serverUrl: `http://localhost:${backOfficePort}`,
      routes: backOfficeRoutes(service),
      security: ["operatorToken"],
      problems: ["forbidden" as const],
    },
  ];
  return describeApis(apis, readVersion(), errorsBaseUrl);
}
