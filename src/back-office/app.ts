import type { FastifyInstance } from "fastify";
import { addCompression } from "../http/compression.ts";
import { createListener, REQUEST_TIMEOUT_MS } from "../http/listener.ts";
import { createRateLimiter } from "../http/rate-limiter.ts";
import { addConsole, addDocumentation, DOCUMENT } from "../http/static-sites.ts";
import { describePartnerApi } from "../partner-api/description.ts";
import type { PeopleContext } from "../people/person.ts";
import type { Config } from "../platform/config.ts";
import { type Database, DatabaseUsage } from "../platform/database/database.ts";
import { UNOWNED } from "../platform/database/fair-share.ts";
import type { Metrics } from "../platform/metrics.ts";
import { MINUTE_MS } from "../platform/time.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import {
  actorOf,
  admitted,
  type BackOfficeCaller,
  backOfficeOperations,
  membersOf,
  outOfScope,
  ownerOf,
} from "./access.ts";
import { type BackOfficeAuthentication, limitRates } from "./authentication.ts";
import { describeBackOffice } from "./description.ts";
import { addHealthRoutes, type HealthContext } from "./health.ts";
import { addStripeWebhook } from "./money/stripe-webhook.ts";
import { notRecent } from "./people/session-authentication.ts";
import { addSignIn } from "./people/sign-in.ts";
import { backOfficeRoutes } from "./routes.ts";

/** An import may be large, and its sender may be slow. */
const UPLOAD_TIMEOUT_MS = 10 * MINUTE_MS;

/** Sites of files that the listener serves: the folder of each. Absent: it is not built. */
export type Sites = {
  readonly docs?: string;
  readonly console?: string;
};

/** Work whose connections to the database the requests of the API cannot take. */
export type OwnConnections = {
  /** Readiness and metrics. */
  readonly health?: HealthContext;
  /** Sign-in, the look-up of sessions and tokens, and rate limits. */
  readonly people?: PeopleContext;
  /** Imports, exports and other work on many rows at once. */
  readonly bulk?: Database;
  /** How much of the database callers use. */
  readonly usage?: DatabaseUsage;
};

/**
 * The private listener: the back office API, health, metrics, the OpenAPI documents, the documentation and the web console.
 */
export function createBackOffice(
  context: WebhookContext,
  authenticate: BackOfficeAuthentication,
  metrics: Metrics,
  { health = context, people = context, bulk = context.db, usage = new DatabaseUsage() }: OwnConnections = {},
  sites: Sites = {},
): FastifyInstance {
  const { config, log } = context;
  const operations = backOfficeOperations(context, health, bulk, usage);
  const app = createListener({
    name: "back-office",
    routes: backOfficeRoutes,
    operationsFor: operations.of,
    authenticate: limitRates(authenticate, createRateLimiter(people.db, config, people.clock)),
    admit: admitted,
    outOfScope,
    notRecent: (caller: BackOfficeCaller) => notRecent(caller, context.clock),
    actorOf,
    // Who signs in is no caller yet.
    callerMembers: (caller) => ("grants" in caller ? membersOf(caller) : ""),
    bodyOwner: (caller) => ("grants" in caller ? ownerOf(caller) : UNOWNED),
    errorsBaseUrl: config.errorsBaseUrl,
    trustedProxies: config.trustedProxies,
    log: log.child({ listener: "back-office" }),
    requestLogSample: config.requestLogSample,
    metrics: metrics.requests,
    requestTimeoutMs: UPLOAD_TIMEOUT_MS,
    bodyTimeoutMs: REQUEST_TIMEOUT_MS,
    stopping: health.stopping,
  });
  // Streams end first, because they would keep the listener open. Requests do not wait for what is still read for them.
  app.addHook("preClose", async () => void operations.updates.close());
  app.addHook("onClose", () => operations.updates.close());
  addCompression(app);
  addDescriptions(app, config);
  addHealthRoutes(app, health, metrics);
  addStripeWebhook(app, context);
  addSignIn(app, people, metrics);
  addDocumentation(app, config, sites.docs);
  addConsole(app, sites.console);
  return app;
}

/** The OpenAPI documents of the partner API and of the back office. Made at the first request. */
function addDescriptions(app: FastifyInstance, config: Config): void {
  const documents = { "/openapi.json": describePartnerApi, "/openapi-back-office.json": describeBackOffice };
  for (const [path, describe] of Object.entries(documents)) {
    let text: string | undefined;
    app.get(path, DOCUMENT, async (_request, reply) => {
      text ??= JSON.stringify(describe(config));
      return reply.type("application/json").send(text);
    });
  }
}
