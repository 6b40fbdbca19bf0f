import type { FastifyInstance } from "fastify";
import { createListener } from "../http/listener.ts";
import type { Metrics } from "../metrics.ts";
import type { Service } from "../service.ts";
import { partnerAuthentication } from "./authentication.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { partnerRoutes } from "./routes.ts";

/** The public listener: the routes of the specification, and nothing else. */
export function createPartnerApi(service: Service, metrics: Metrics): FastifyInstance {
  const { config, clock, log } = service;
  return createListener({
    name: "partner-api",
    routes: partnerRoutes(service),
    authenticate: partnerAuthentication(service, createRateLimiter(config.rateLimitPerMinute, clock)),
    errorsBaseUrl: config.errorsBaseUrl,
    log: log.child({ listener: "partner-api" }),
    metrics: metrics.requests,
  });
}
