import { merchantByMerchant } from "../../distribution/merchant-by-merchant.ts";
import type { EventRow } from "../../events/event.ts";
import { type ConnectionKey, distinctConnections } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fanOut, lockStreams } from "./fan-out-sql.ts";

/**
 * Writes events with their deliveries, in the transaction of the change that they describe. Returns the connections that
 * have something to send: after the commit the caller sends them the signal `deliveries_due`.
 */
export async function insertEvents(
  tx: Queryable,
  events: readonly EventRow[],
  now: Date,
): Promise<ConnectionKey[]> {
  if (events.length === 0) return [];
  await lockStreams(
    tx,
    events.map(({ merchantId, connectionId, orderId, id }) => ({
      merchantId,
      connectionId,
      streamId: orderId ?? id,
    })),
  );
  const heads = await merchantByMerchant(tx, events, (own, merchantId) =>
    insertEventsOf(tx, own, now, merchantId),
  );
  const sending = new Set(heads.map((row) => row.connection_id));
  return distinctConnections(events.filter(({ connectionId }) => sending.has(connectionId)));
}

const insertEventsOf = (tx: Queryable, events: readonly EventRow[], now: Date, merchantId: string | null) =>
  tx.query<{ connection_id: string }>({
    name: "insert-events",
    text: `
      with published as (
        insert into events (merchant_id, connection_id, id, type, order_id, sequence, body, not_after)
        select merchant_id, connection_id, id, type, order_id, sequence, body, not_after
        from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::integer[], $7::text[], $8::timestamptz[])
          as event (merchant_id, connection_id, id, type, order_id, sequence, body, not_after)
        returning merchant_id, connection_id, id as event_id, type as event_type, order_id, sequence, not_after
      ), ${fanOut("published", "$9", "$10")}
      select distinct connection_id
      from heads`,
    values: [
      events.map((event) => event.merchantId),
      events.map((event) => event.connectionId),
      events.map((event) => event.id),
      events.map((event) => event.type),
      events.map((event) => event.orderId),
      events.map((event) => event.sequence),
      events.map((event) => event.body),
      events.map((event) => event.notAfter),
      now,
      merchantId,
    ],
  });

/** Deletes at most `limit` events of test orders that are erased. Returns how many. */
export async function eraseEvents(
  tx: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
  limit: number,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "erase-events",
    text: `
      with picked as materialized (
        select e.id
        from events e
        where e.merchant_id = $1 and e.order_id = any($2::uuid[])
        limit $3
      ), deleted as (
        delete from events e
        where e.merchant_id = $1 and e.id = any(array(select p.id from picked p))
        returning e.id
      )
      select count(*)::integer as count
      from deleted`,
    values: [connection.merchantId, orderIds, limit],
  });
  return row?.count ?? 0;
}
