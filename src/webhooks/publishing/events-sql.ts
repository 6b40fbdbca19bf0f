import { merchantByMerchant } from "../../distribution/merchant-by-merchant.ts";
import type { EventRow } from "../../events/event.ts";
import { type ConnectionKey, distinctConnections } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/**
 * Writes events with their deliveries and the heads of their streams, in the transaction of the change that they describe.
 * The function `publish_events` (functions/publish_events.sql) does it, so there is never one without the other (decision 0171).
 * `place_orders` calls it for the first events of new orders.
 *
 * All of the delivery rests on two properties:
 * - The id of a delivery is the id of its event with the number of the endpoint in the last 32 bits. So an event has at
 *   most one delivery for an endpoint (decision 0028).
 * - A transaction that adds a delivery to a stream with a head locks the head and marks it as followed. A transaction that
 *   removes a head that is followed looks for the next delivery after it has locked the head. So one of them sees the
 *   other, and no stream with pending deliveries is left without a head (decision 0033).
 *
 * @returns the connections that have something to send: after the commit the caller sends them the signal `deliveries_due`
 */
export async function insertEvents(
  tx: Queryable,
  events: readonly EventRow[],
  now: Date,
): Promise<ConnectionKey[]> {
  if (events.length === 0) return [];
  const rows = await merchantByMerchant(tx, events, (own, merchantId) =>
    tx.query<{ connection_id: string }>({
      name: "publish-events",
      text: `
        select connection_id
        from publish_events($1, $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[], $7::integer[], $8::text[],
                            $9::timestamptz[], $10)`,
      values: [
        merchantId,
        own.map((event) => event.merchantId),
        own.map((event) => event.connectionId),
        own.map((event) => event.id),
        own.map((event) => event.type),
        own.map((event) => event.orderId),
        own.map((event) => event.sequence),
        own.map((event) => event.body),
        own.map((event) => event.notAfter),
        now,
      ],
    }),
  );
  const sending = new Set(rows.map((row) => row.connection_id));
  return distinctConnections(events.filter(({ connectionId }) => sending.has(connectionId)));
}

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
