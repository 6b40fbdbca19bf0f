import type { FastifyInstance } from "fastify";
import type { Metrics } from "../../platform/metrics.ts";
import type { WebhookContext } from "../../webhooks/context.ts";
import { createListener } from "../http/listener.ts";
import { partnerAuthentication } from "./authentication.ts";
import { partnerOperations } from "./operations.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { partnerRoutes } from "./routes.ts";

/** The public listener: the routes of the specification, and nothing else. */
export function createPartnerApi(context: WebhookContext, metrics: Metrics): FastifyInstance {
  const { config, clock, log } = context;
  return createListener({
    name: "partner-api",
    routes: partnerRoutes,
    operations: partnerOperations(context),
    authenticate: partnerAuthentication(context, createRateLimiter(config.rateLimitPerMinute, clock)),
    errorsBaseUrl: config.errorsBaseUrl,
    log: log.child({ listener: "partner-api" }),
    metrics: metrics.requests,
  });
}
