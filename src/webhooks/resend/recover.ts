import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { after, MINUTE_MS } from "../../platform/time.ts";
import { type Endpoint, type EndpointKey, endpointFact } from "../endpoints/endpoint.ts";
import { activateEndpoint, lockEndpoint } from "../endpoints/endpoints-sql.ts";
import { lockOpenRecoveries, putRecovery } from "./recovery-sql.ts";
import type { OrderedResend } from "./resend.ts";

/** The period ends this long after the request, to cover the deliveries of transactions that have not committed yet. */
const COMMIT_ALLOWANCE_MS = MINUTE_MS;

/**
 * Makes a paused endpoint active again. Its pending deliveries will be sent. An active endpoint is returned unchanged.
 * Null when there is no such endpoint.
 */
export async function resumeEndpoint(
  context: Context,
  key: EndpointKey,
  by: Initiator,
): Promise<Endpoint | null> {
  const resumed = await inTransaction(context, async (tx) => {
    await lockOpenRecoveries(tx, key);
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint?.status !== "paused") return endpoint;
    await recordAudit(tx, context, by, endpointFact(endpoint));
    return resumePaused(tx, endpoint, context);
  });
  if (resumed !== null) context.signals.send("deliveries_due", [key]);
  return resumed;
}

/**
 * Requests that every delivery to an endpoint that failed since a time is sent again, and resumes the endpoint if it is
 * paused, so that one call is enough after any outage. Null when there is no such endpoint.
 */
export async function recoverEndpoint(
  context: Context,
  key: EndpointKey,
  since: Date,
  by: Initiator,
): Promise<Pick<OrderedResend, "since" | "until"> | null> {
  const recovery = await inTransaction(context, async (tx) => {
    await lockOpenRecoveries(tx, key);
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    if (endpoint.status === "paused") await resumePaused(tx, endpoint, context);
    await recordAudit(tx, context, by, endpointFact(endpoint, { since }));
    return requestRecovery(tx, endpoint, { since, status: "failed" }, context);
  });
  if (recovery !== null) context.signals.send("deliveries_due", [key]);
  return recovery;
}

async function resumePaused(tx: Queryable, endpoint: Endpoint, context: Context): Promise<Endpoint> {
  const now = context.clock.now();
  await activateEndpoint(tx, endpoint, now);
  await requestRecovery(tx, endpoint, { since: endpoint.createdAt, status: "pending" }, context);
  return { ...endpoint, status: "active", pauseReason: null, pausedAt: null, updatedAt: now };
}

/** A worker processes the request. */
function requestRecovery(
  tx: Queryable,
  endpoint: EndpointKey,
  range: Pick<OrderedResend, "since" | "status">,
  { clock, newId }: Context,
): Promise<Pick<OrderedResend, "since" | "until">> {
  const now = clock.now();
  return putRecovery(tx, endpoint, {
    ...range,
    id: newId(),
    until: after(now, COMMIT_ALLOWANCE_MS),
    createdAt: now,
  });
}
