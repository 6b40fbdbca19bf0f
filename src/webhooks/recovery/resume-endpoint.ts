import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { EVENTS_KEPT_MS } from "../../platform/retention.ts";
import { after, MINUTE_MS } from "../../platform/time.ts";
import type { Endpoint, EndpointKey } from "../endpoints/endpoint.ts";
import { endpointFact } from "../endpoints/endpoint-fact.ts";
import { activateEndpoint, lockEndpoint } from "../endpoints/endpoints-sql.ts";
import { lockOpenRecoveries, putRecovery, type Recovery } from "./recovery-sql.ts";

/** A recovery reaches this far beyond its request, to cover the deliveries of transactions that have not committed yet. */
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

/** How far back a recovery may reach: as far as events are kept. */
export const RECOVERY_MAX_MS = EVENTS_KEPT_MS;

/**
 * Requests that every delivery to an endpoint that failed since a time is sent again, and resumes the endpoint if it is
 * paused, so that one call is enough after any outage. A worker processes the request. Null when there is no such
 * endpoint.
 */
export async function recoverEndpoint(
  context: Context,
  key: EndpointKey,
  since: Date,
  by: Initiator,
): Promise<Pick<Recovery, "since" | "until"> | null> {
  const recovery = await inTransaction(context, async (tx) => {
    await lockOpenRecoveries(tx, key);
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    if (endpoint.status === "paused") await resumePaused(tx, endpoint, context);
    await recordAudit(tx, context, by, endpointFact(endpoint, { since }));
    return requestRecovery(tx, endpoint, { since, includesFailed: true }, context);
  });
  if (recovery !== null) context.signals.send("deliveries_due", [key]);
  return recovery;
}

async function resumePaused(tx: Queryable, endpoint: Endpoint, context: Context): Promise<Endpoint> {
  const now = context.clock.now();
  await activateEndpoint(tx, endpoint, now);
  await requestRecovery(tx, endpoint, { since: endpoint.createdAt, includesFailed: false }, context);
  return { ...endpoint, status: "active", pauseReason: null, pausedAt: null, updatedAt: now };
}

/**
 * Stores the request. It becomes part of the endpoint's open recovery, if there is one: the earliest `since` wins. So any
 * number of requests makes the worker read the log about once.
 */
async function requestRecovery(
  tx: Queryable,
  { merchantId, connectionId, id: endpointId }: EndpointKey,
  range: Pick<Recovery, "since" | "includesFailed">,
  { clock, newId }: Context,
): Promise<Pick<Recovery, "since" | "until">> {
  const key = { merchantId, connectionId };
  const now = clock.now();
  // Again, under the endpoint's lock: another request may have been stored since.
  const open = (await lockOpenRecoveries(tx, { ...key, id: endpointId })).find(
    ({ includesFailed }) => includesFailed === range.includesFailed,
  );
  const since = open !== undefined && open.since < range.since ? open.since : range.since;
  const recovery: Recovery = {
    ...key,
    ...range,
    endpointId,
    since,
    id: open?.id ?? newId(),
    until: after(now, COMMIT_ALLOWANCE_MS),
    // A pause has removed heads anywhere, so a resume starts again. A recovery continues if it covers the request.
    position: open !== undefined && open.since <= since && isRepeatable(open) ? open.position : uuidAt(since),
    pass: 1,
  };
  await putRecovery(tx, recovery, now);
  return recovery;
}

const isRepeatable = ({ includesFailed, pass }: Recovery): boolean => includesFailed && pass === 1;
