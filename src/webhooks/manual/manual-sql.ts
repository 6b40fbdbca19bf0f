import type { EventRow } from "../../events/event.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import type { Delivery } from "../log/delivery.ts";

/** Writes a delivery of an event to this endpoint alone, due at once. Returns its id (decision 0028). */
export async function insertPingDelivery(
  tx: Queryable,
  endpoint: Endpoint,
  event: Pick<EventRow, "id" | "type">,
  now: Date,
): Promise<string> {
  const [row] = await tx.query<{ id: string }>({
    name: "insert-ping-delivery",
    text: `
      insert into deliveries (merchant_id, connection_id, id, endpoint_id, event_id, event_type, stream_id, status)
      select $1, $2, (left($4::text, 28) || lpad(to_hex($6::integer), 8, '0'))::uuid, $3, $4::uuid, $5, $4::uuid, 'pending'
      returning id`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, event.id, event.type, endpoint.number],
  });
  if (row === undefined) throw new Error("The inserted delivery returned no id.");
  await tx.query({
    name: "insert-ping-due",
    text: `
      insert into due_deliveries (
        merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at,
        is_followed)
      values ($1, $2, $3, $4, $5, $4, 'schedule', 0, $6, false)`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, event.id, row.id, now],
  });
  return row.id;
}

/**
 * Makes a delivery due in a stream of its own, so that it waits for no other. Has no effect while an earlier manual
 * redelivery of it is due or in progress; then returns false.
 */
export async function insertManualDue(
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
export async function endBackoff(
  tx: Queryable,
  connection: ConnectionKey,
  endpointId: string,
): Promise<void> {
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
export async function countRedeliveries(
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
