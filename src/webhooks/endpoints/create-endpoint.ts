import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { lockConnection, takeEndpointNumber } from "../../merchants/connections-sql.ts";
import { type LimitOverrides, limitReached, maximumOf } from "../../merchants/limits.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { before, HOUR_MS } from "../../platform/time.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import type { WebhookContext } from "../context.ts";
import { issueSecret } from "../secrets/issue-secret.ts";
import type { Endpoint, NewEndpoint } from "./endpoint.ts";
import { auditedSettings, endpointFact } from "./endpoint-fact.ts";
import { countEndpoints, countEndpointsSince, insertEndpoint } from "./endpoints-sql.ts";

/**
 * Registers an endpoint. Returns its signing secret, this once; it is stored encrypted. The row of the connection is
 * locked, so that concurrent creations get different numbers and cannot exceed the limits.
 */
export async function createEndpoint(
  context: WebhookContext,
  connection: ConnectionKey,
  settings: NewEndpoint,
  by: Initiator,
): Promise<{ endpoint: Endpoint; secret: string } | Problem> {
  const { clock, newId } = context;
  return inTransaction(context, async (tx) => {
    const locked = await lockConnection(tx, connection);
    const now = clock.now();
    const reached = await reachedLimit(tx, { ...connection, mode: settings.mode }, locked?.limits ?? {}, now);
    if (reached !== null) return reached;
    const endpoint: Endpoint = {
      ...settings,
      ...connection,
      id: newId(),
      number: await takeEndpointNumber(tx, connection),
      status: "active",
      pauseReason: null,
      pausedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    await insertEndpoint(tx, endpoint);
    const secret = await issueSecret(tx, context, endpoint, now);
    await recordAudit(tx, context, by, endpointFact(endpoint, auditedSettings(settings)));
    return { endpoint, secret };
  });
}

/**
 * Both limits are exact, because the connection is locked. Each mode has its own, so that a test key cannot use up those of
 * the endpoints in production.
 */
async function reachedLimit(
  tx: Queryable,
  { mode, ...connection }: ConnectionKey & Pick<Endpoint, "mode">,
  overrides: LimitOverrides,
  now: Date,
): Promise<Problem | null> {
  const limit = mode === "test" ? "testEndpoints" : "endpoints";
  const endpointsMax = maximumOf(overrides, limit);
  if ((await countEndpoints(tx, connection, mode, endpointsMax)) >= endpointsMax)
    return limitReached(limit, endpointsMax);
  const creationsMax = maximumOf(overrides, "endpointCreationsPerHour");
  const lastHour = { mode, since: before(now, HOUR_MS) };
  const created = await countEndpointsSince(tx, connection, lastHour, creationsMax);
  return created >= creationsMax ? limitReached("endpointCreationsPerHour", creationsMax) : null;
}
