import type { FastifyInstance } from "fastify";
import { createListener } from "../http/listener.ts";
import { createRateLimiter } from "../http/rate-limiter.ts";
import { addDocumentation } from "../http/static-sites.ts";
import type { KnownKeys } from "../merchants/keys.ts";
import type { SharedGroups } from "../orders/creation/create-order.ts";
import { DatabaseUsage } from "../platform/database/database.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { actorOf, membersOf, type PartnerCaller, partnerAuthentication } from "./authentication.ts";
import { describePartnerApi } from "./description.ts";
import { mcpEndpoint, NO_MCP_STREAM } from "./mcp.ts";
import { type PartnerDatabases, partnerOperations } from "./operations.ts";
import { FOR_LIVE_KEYS } from "./partner-route.ts";
import { partnerRoutes } from "./routes.ts";
import { addTestKeys, isStranger, ownerOf } from "./test-keys.ts";

/** The needs of the listener. `stopping` is aborted when the process begins to stop. */
type PartnerContext = WebhookContext & {
  readonly stopping?: AbortSignal;
  readonly sharedGroups?: SharedGroups;
};

/**
 * The public listener, with the partner API and nothing else. Where the documentation for partners is built, it also has that and
 * the pages of the problems (docs/design/console.md, "Documentation site").
 * @param databases the database connections for each kind of work; default: those of the context
 * @param knownKeys keys that need no lookup. The caller makes it forget them when a key changes. Default: none.
 * @param docs folder of the documentation for partners; absent if it is not built
 */
export function createPartnerApi(
  context: PartnerContext,
  metrics: Metrics,
  databases: PartnerDatabases = { calls: context.db, creations: context.db, lists: context.db },
  usage: DatabaseUsage = new DatabaseUsage(),
  knownKeys: KnownKeys | null = null,
  docs?: string,
): FastifyInstance {
  const { config, clock, log } = context;
  let text: string | undefined;
  const description = () => {
    text ??= JSON.stringify(describePartnerApi(config));
    return text;
  };
  const operationsFor = partnerOperations(
    context,
    databases,
    metrics,
    usage,
    description,
    mcpEndpoint((request) => app.inject(request), config, description),
    context.sharedGroups,
    context.stopping,
  );
  const app: FastifyInstance = createListener({
    name: "partner-api",
    routes: [...partnerRoutes, NO_MCP_STREAM],
    operationsFor,
    authenticate: partnerAuthentication(
      { ...context, db: databases.calls },
      createRateLimiter(databases.calls, config, clock),
      knownKeys,
    ),
    actorOf,
    // A stranger has no key.
    callerMembers: (caller: PartnerCaller) => (isStranger(caller) ? "" : membersOf(caller)),
    bodyOwner: (caller) => (isStranger(caller) ? ownerOf(caller) : caller),
    notAdmitted: FOR_LIVE_KEYS,
    errorsBaseUrl: config.errorsBaseUrl,
    trustedProxies: config.trustedProxies,
    log: log.child({ listener: "partner-api" }),
    requestLogSample: config.requestLogSample,
    metrics: metrics.requests,
    stopping: context.stopping,
  });
  if (config.selfServiceTestKeys !== null)
    addTestKeys(app, context, {
      metrics: metrics.requests,
      operationsFor: (stranger, row) => operationsFor({ ...ownerOf(stranger), testOnly: true }, row),
    });
  if (docs !== undefined) addDocumentation(app, config, docs);
  return app;
}
