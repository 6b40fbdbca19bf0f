import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import type { KeyAccess } from "../../merchants/api-key.ts";
import { readLimitOverrides } from "../../merchants/connections-sql.ts";
import { limitReached, maximumOf } from "../../merchants/limits.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, uuidAt } from "../../platform/ids.ts";
import { before, CLOCK_SKEW_MAX_MS, DAY_MS } from "../../platform/time.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { type Endpoint, type EndpointKey, endpointFact, wireEndpointId } from "../endpoints/endpoint.ts";
import { shareEndpoint } from "../endpoints/endpoints-sql.ts";
import { backOfficeEventRow } from "../events/back-office-event.ts";
import { type EventRow, eventRow, PING } from "../events/event.ts";
import { oldestShownId } from "../events/event-feed.ts";
import { readEventBody } from "../events/feed-sql.ts";
import type { Delivery } from "../log/delivery.ts";
import { countDeliveryAttempts, readDelivery } from "../log/delivery-log-sql.ts";
import { factOfOwner, ownerKind } from "../owner.ts";
import { insertEvents } from "../publishing-sql.ts";

export const ENDPOINT_PAUSED: Problem = {
  code: "endpoint-paused",
  detail: "The webhook endpoint is paused. Resume it first.",
};

/** An event that shows the form of its type. */
export type Sample = {
  readonly type: string;
  readonly sequence: number | null;
  readonly data: Readonly<Record<string, unknown>>;
};

/**
 * Sends a test event to one endpoint, regardless of its event types. Returns the id of the delivery. With a sample, the event
 * has its content; it is stored as a ping, so the feed does not show it (docs/design/event-feed.md, "Samples").
 * @param by who requests it, for the audit log. Null for a partner, whose pings leave no entry
 *   (docs/design/isolation-and-limits.md, "Audit log")
 */
export async function pingEndpoint(
  context: Context,
  { merchantId, connectionId, id }: EndpointKey,
  sample: Sample | null = null,
  by: Initiator | null = null,
): Promise<{ deliveryId: string } | Problem> {
  const key = { merchantId, connectionId };
  const sent = await inTransaction(context, async (tx) => {
    const endpoint = await shareEndpoint(tx, key, id);
    if (endpoint === null) return notFound("webhook endpoint");
    if (endpoint.status === "paused") return ENDPOINT_PAUSED;
    const { type, deliveryId } = await insertPing(tx, context, endpoint, sample);
    if (by !== null) await recordAudit(tx, context, by, endpointFact(endpoint, { type }));
    return { deliveryId };
  });
  if (!isProblem(sent)) context.signals.send("deliveries_due", [key]);
  return sent;
}

/**
 * Writes a ping, or a sample, with its delivery to this endpoint alone, and ends the backoff. Signal it after the commit.
 * @param certification what a certification asks the receiver. Then nothing is sent from `notAfter` on.
 */
export async function insertPing(
  tx: Queryable,
  { clock, newId }: Context,
  endpoint: Endpoint,
  sample: Sample | null,
  certification: { readonly data: Readonly<Record<string, unknown>>; readonly notAfter: Date } | null = null,
): Promise<{ type: string; eventId: string; deliveryId: string }> {
  const { merchantId, connectionId, id } = endpoint;
  const key = { merchantId, connectionId };
  const now = clock.now();
  const { type, sequence, data } = sample ?? {
    type: PING,
    sequence: null,
    data: {
      endpoint: { id: wireEndpointId(id), url: endpoint.url },
      ...(certification !== null && { certification: certification.data }),
    },
  };
  const notAfter = certification?.notAfter ?? null;
  const content = { id: newId(), type, occurredAt: now, orderId: null, data };
  const event =
    ownerKind(key) === "connection"
      ? eventRow({ ...content, ...key, testMode: sample !== null, sequence, notAfter })
      : backOfficeEventRow({ ...content, owner: key, sequence: null });
  await insertEvents(tx, [{ ...event, type: PING, sequence: null }], now);
  await endBackoff(tx, key, id);
  return { type, eventId: event.id, deliveryId: await insertPingDelivery(tx, endpoint, event, now) };
}

/**
 * Writes a delivery of an event to this endpoint alone, due at once. Returns its id
 * (docs/design/deliveries.md, "Delivery ids").
 */
async function insertPingDelivery(
  tx: Queryable,
  endpoint: Endpoint,
  event: Pick<EventRow, "id" | "type" | "notAfter">,
  now: Date,
): Promise<string> {
  const [row] = await tx.query<{ id: string }>({
    name: "insert-ping-delivery",
    text: `
      insert into deliveries (
        merchant_id, connection_id, id, endpoint_id, event_id, event_type, stream_id, not_after, status)
      select $1, $2, (left($4::text, 28) || lpad(to_hex($6::integer), 8, '0'))::uuid, $3, $4::uuid, $5, $4::uuid,
             $7::timestamptz, 'pending'
      returning id`,
    values: [
      endpoint.merchantId,
      endpoint.connectionId,
      endpoint.id,
      event.id,
      event.type,
      endpoint.number,
      event.notAfter,
    ],
  });
  if (row === undefined) throw new Error("The inserted delivery returned no id.");
  await tx.query({
    name: "insert-ping-due",
    text: `
      insert into due_deliveries (
        merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at,
        not_after, is_followed)
      values ($1, $2, $3, $4, $5, $4, 'schedule', 0, $6, $7, false)`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, event.id, row.id, now, event.notAfter],
  });
  return row.id;
}

/**
 * Makes a delivery due in a stream of its own, so that it waits for no other. Has no effect while an earlier manual
 * redelivery of it is due or in progress; then returns false.
 */
async function insertManualDue(
  tx: Queryable,
  connection: ConnectionKey,
  delivery: Delivery,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    name: "insert-manual-due",
    text: `
      insert into due_deliveries (
        merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at,
        not_after)
      values ($1, $2, $3, $4, $4, $5, 'manual', 0, $6, $7)
      on conflict (merchant_id, endpoint_id, stream_id) do nothing
      returning delivery_id`,
    values: [
      connection.merchantId,
      connection.connectionId,
      delivery.endpointId,
      delivery.id,
      delivery.eventId,
      now,
      delivery.notAfter,
    ],
  });
  return rows.length > 0;
}

/** Ends the backoff of an endpoint, because a manual attempt was requested. */
async function endBackoff(tx: Queryable, connection: ConnectionKey, endpointId: string): Promise<void> {
  await tx.query({
    name: "end-backoff",
    text: `
      update webhook_endpoint_states
      set backoff_until = null
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and backoff_until is not null`,
    values: [connection.merchantId, connection.connectionId, endpointId],
  });
}

/** How many attempts by request a delivery has had since a time, at most `countMax`. */
async function countRedeliveries(
  tx: Queryable,
  connection: ConnectionKey,
  deliveryId: string,
  { sinceId, countMax }: { sinceId: string; countMax: number },
): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "count-redeliveries",
    text: `
      select count(*)::integer as count
      from (
        select
        from attempts a
        where a.merchant_id = $1 and a.delivery_id = $2 and a.id >= $3 and a.trigger = 'manual'
        limit $4) as counted`,
    values: [connection.merchantId, deliveryId, sinceId, countMax],
  });
  return row?.count ?? 0;
}

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
    if (isNew)
      await recordAudit(tx, context, by, factOfOwner(access, { subject: "dlv", ids: [delivery.id] }));
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
  const made = await countDeliveryAttempts(tx, [{ ...connection, id }], {
    oldestId,
    countMax: attemptsMax,
  });
  return (made.get(id) ?? 0) >= attemptsMax ? limitReached("deliveryAttempts", attemptsMax) : null;
}
