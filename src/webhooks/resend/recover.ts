import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import { type Taker, takeOverEnded } from "../endpoints/ended-access.ts";
import { type Endpoint, type EndpointKey, endpointFact } from "../endpoints/endpoint.ts";
import { activateEndpoint, lockEndpoint } from "../endpoints/endpoints-sql.ts";
import { countLogged } from "../endpoints/shown-health-sql.ts";
import {
  countHeads,
  lockOpenRecoveries,
  markRetriesDue,
  type OpenRecovery,
  putRecovery,
} from "./recovery-sql.ts";
import { type OrderedResend, skippedCount } from "./resend.ts";

/** How many deliveries a request makes due that no earlier one has counted. Null: too many to count. */
type DeliveryCount = number | null;

type Resumed = {
  readonly endpoint: Endpoint;
  readonly deliveryCount: DeliveryCount;
  /** What became pending later is not counted. */
  readonly requestedAt: Date;
};

/**
 * Makes a paused endpoint active again: its pending deliveries will be sent. Of an active one the backoff ends, and the
 * deliveries that wait for a retry become due. Null when there is no such endpoint.
 */
export async function resumeEndpoint(
  context: Context,
  key: EndpointKey,
  taker: Taker,
  by: Initiator,
): Promise<Resumed | Problem | null> {
  const resumed = await inTransaction(context, async (tx) => {
    await lockOpenRecoveries(tx, key);
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    const rejected = await rejection(tx, context, endpoint, taker, by);
    if (rejected !== null) return rejected;
    await recordAudit(tx, context, by, endpointFact(endpoint));
    return sendPending(tx, endpoint, context);
  });
  if (resumed !== null && !isProblem(resumed)) context.signals.send("deliveries_due", [key]);
  return resumed;
}

type Recovery = Pick<OrderedResend, "since" | "until"> & { readonly deliveryCount: DeliveryCount };

/**
 * Does what a resume does, and requests that every delivery that failed since a time is sent again, so that one call is enough
 * after any outage. Null when there is no such endpoint.
 */
export async function recoverEndpoint(
  context: Context,
  key: EndpointKey,
  since: Date,
  taker: Taker,
  by: Initiator,
): Promise<Recovery | Problem | null> {
  const recovery = await inTransaction(context, async (tx) => {
    const open = await lockOpenRecoveries(tx, key);
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    const rejected = await rejection(tx, context, endpoint, taker, by);
    if (rejected !== null) return rejected;
    await recordAudit(tx, context, by, endpointFact(endpoint, { since }));
    const pending = await sendPending(tx, endpoint, context);
    const failed = await sendFailed(tx, endpoint, since, open, context);
    return { ...failed, deliveryCount: sum(pending.deliveryCount, failed.deliveryCount) };
  });
  if (recovery !== null && !isProblem(recovery)) context.signals.send("deliveries_due", [key]);
  return recovery;
}

/** A paused endpoint is activated only by a caller who may take over what ended tokens have set of it. */
const rejection = async (
  tx: Queryable,
  context: Context,
  endpoint: Endpoint,
  taker: Taker,
  by: Initiator,
): Promise<Problem | null> =>
  endpoint.status === "active" ? null : takeOverEnded(tx, context, endpoint, taker, by);

/** A worker makes the deliveries due. */
async function sendPending(tx: Queryable, endpoint: Endpoint, { clock, newId }: Context): Promise<Resumed> {
  const now = clock.now();
  if (endpoint.status === "active")
    return { endpoint, deliveryCount: await sendRetries(tx, endpoint, now), requestedAt: now };
  await activateEndpoint(tx, endpoint, now);
  const total = await countLogged(tx, endpoint, uuidAt(new Date(0)), "pending");
  const period = { since: endpoint.createdAt, until: now, createdAt: now };
  await putRecovery(tx, endpoint, { ...period, id: newId(), status: "pending", total });
  const active = { status: "active", pauseReason: null, pausedAt: null, updatedAt: now } as const;
  return { endpoint: { ...endpoint, ...active }, deliveryCount: total, requestedAt: now };
}

/** A backoff also holds back what is due. */
async function sendRetries(tx: Queryable, endpoint: EndpointKey, now: Date): Promise<DeliveryCount> {
  const { retriesDue, backoffUntil } = await markRetriesDue(tx, endpoint, now);
  if (retriesDue) return 0; // An earlier request has counted them.
  const isBackingOff = backoffUntil !== null && backoffUntil > now;
  return countHeads(tx, endpoint, isBackingOff ? new Date(0) : now);
}

/** A worker returns the deliveries to their streams. */
async function sendFailed(
  tx: Queryable,
  endpoint: EndpointKey,
  since: Date,
  allOpen: readonly OpenRecovery[],
  { clock, newId }: Context,
): Promise<Recovery> {
  const now = clock.now();
  const open = allOpen.find(({ status }) => status === "failed");
  const continues = open !== undefined && open.since <= since;
  const failed = await countLogged(tx, endpoint, continues ? open.position : uuidAt(since), "failed");
  const added = open === undefined ? failed : newOnes(failed, open);
  const total = open === undefined ? failed : sum(open.total, added);
  const range = { since, until: now, createdAt: now };
  const period = await putRecovery(tx, endpoint, { ...range, id: newId(), status: "failed", total });
  return { ...period, deliveryCount: added };
}

/** Those of the failed deliveries that the open recovery has not counted: it has counted all that it has not reached yet. */
function newOnes(failed: number | null, { total, returnedCount, skipped }: OpenRecovery): DeliveryCount {
  if (failed === null || total === null) return null;
  return Math.max(0, failed - (total - returnedCount - skippedCount(skipped)));
}

const sum = (one: DeliveryCount, other: DeliveryCount): DeliveryCount =>
  one === null || other === null ? null : one + other;
