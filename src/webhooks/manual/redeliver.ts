import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { oldestShownId } from "../../events/event-feed.ts";
import { readEventBody } from "../../events/feed-sql.ts";
import { readLimitOverrides } from "../../merchants/connections-sql.ts";
import type { KeyAccess } from "../../merchants/key-mode.ts";
import { limitReached, maximumOf } from "../../merchants/limits.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, uuidAt } from "../../platform/ids.ts";
import { before, CLOCK_SKEW_MAX_MS, DAY_MS } from "../../platform/time.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { shareEndpoint } from "../endpoints/endpoints-sql.ts";
import { countDeliveryAttempts } from "../log/attempts-sql.ts";
import type { Delivery } from "../log/delivery.ts";
import { readDelivery } from "../log/delivery-log-sql.ts";
import { countRedeliveries, endBackoff, insertManualDue } from "./manual-sql.ts";
import { ENDPOINT_PAUSED } from "./ping-endpoint.ts";

/**
 * Sends a delivery of any status once more, at once: it does not wait for other deliveries of its order. A request has no
 * effect while an earlier one for the same delivery is due or in progress.
 */
export async function redeliver(
  context: Context,
  access: KeyAccess,
  deliveryId: string,
  by: Initiator,
): Promise<Delivery | Problem> {
  const requested = await inTransaction(context, async (tx) => {
    const now = context.clock.now();
    const delivery = await readDelivery(tx, access, deliveryId, now);
    if (delivery === null) return notFound("delivery");
    const endpoint = await shareEndpoint(tx, access, delivery.endpointId);
    if (endpoint === null) return notFound("webhook endpoint");
    const body = await readEventBody(tx, access, delivery.eventId, oldestShownId(now), now);
    if (body === null) return notFound("event");
    if (endpoint.status === "paused") return ENDPOINT_PAUSED;
    const reached = await reachedLimit(tx, access, delivery, now);
    if (reached !== null) return reached;
    const isNew = await insertManualDue(tx, access, delivery, now);
    const { merchantId, connectionId } = access;
    if (isNew)
      await recordAudit(tx, context, by, { merchantId, connectionId, subject: "dlv", ids: [delivery.id] });
    await endBackoff(tx, access, endpoint.id);
    return delivery;
  });
  if (!isProblem(requested)) context.signals.send("deliveries_due", [access]);
  return requested;
}

/** Exact but for one attempt: a delivery has at most one manual attempt due or in progress, which is not counted yet. */
async function reachedLimit(
  tx: Queryable,
  connection: ConnectionKey,
  { id }: Delivery,
  now: Date,
): Promise<Problem | null> {
  const overrides = (await readLimitOverrides(tx, [connection]))(connection);
  const redeliveriesMax = maximumOf(overrides, "redeliveriesPerDay");
  const redelivered = await countRedeliveries(tx, connection, id, {
    sinceId: uuidAt(before(now, DAY_MS)),
    countMax: redeliveriesMax,
  });
  if (redelivered >= redeliveriesMax) return limitReached("redeliveriesPerDay", redeliveriesMax);
  const attemptsMax = maximumOf(overrides, "deliveryAttempts");
  const oldestId = uuidAt(before(momentOf(id), CLOCK_SKEW_MAX_MS));
  const made = await countDeliveryAttempts(tx, [{ merchantId: connection.merchantId, id }], {
    oldestId,
    countMax: attemptsMax,
  });
  return (made.get(id) ?? 0) >= attemptsMax ? limitReached("deliveryAttempts", attemptsMax) : null;
}
