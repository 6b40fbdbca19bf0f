import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, uuidAt } from "../../platform/ids.ts";
import { before, CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";

/**
 * Erases the deliveries of test orders, in the transaction that erases the orders. The streams are deleted first, because
 * a transaction that stores an outcome has locked its stream: when it has committed, its attempt can be erased as well.
 */
export async function deleteDeliveriesOfOrders(
  tx: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
): Promise<void> {
  const deliveries = await listDeliveriesOfOrders(tx, connection, orderIds);
  const [oldest] = deliveries;
  if (oldest === undefined) return;
  await deleteStreams(tx, connection, deliveries);
  await deleteDeliveries(tx, connection, deliveries);
  await deleteAttempts(tx, connection, deliveries, before(momentOf(oldest.id), CLOCK_SKEW_MAX_MS));
}

type Delivery = { readonly id: string; readonly endpointId: string; readonly streamId: string };

/** Oldest first. Uses deliveries_stream_idx. */
const listDeliveriesOfOrders = (
  tx: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
): Promise<Delivery[]> =>
  tx.query<Delivery>({
    name: "list-deliveries-of-orders",
    text: `
      select id, endpoint_id as "endpointId", stream_id as "streamId"
      from deliveries
      where merchant_id = $1 and connection_id = $2 and stream_id = any($3::uuid[])
      order by id`,
    values: [connection.merchantId, connection.connectionId, orderIds],
  });

/** Deletes the streams of the orders, and those that deliveries have of their own after a manual request. */
async function deleteStreams(
  tx: Queryable,
  connection: ConnectionKey,
  deliveries: readonly Delivery[],
): Promise<void> {
  await tx.query({
    name: "delete-streams-of-deliveries",
    text: `
      with locked as materialized (
        select d.endpoint_id, d.stream_id
        from due_deliveries d
        where d.merchant_id = $1 and d.connection_id = $2
          and (d.endpoint_id, d.stream_id) in (
            select stream.endpoint_id, stream.stream_id
            from unnest($3::uuid[] || $3::uuid[], $4::uuid[] || $5::uuid[]) as stream (endpoint_id, stream_id))
        order by d.merchant_id, d.endpoint_id, d.stream_id -- All transactions lock streams in this order.
        for update
      )
      delete from due_deliveries d
      using locked l
      where d.merchant_id = $1 and d.connection_id = $2 and d.endpoint_id = l.endpoint_id and d.stream_id = l.stream_id`,
    values: [
      connection.merchantId,
      connection.connectionId,
      deliveries.map(({ endpointId }) => endpointId),
      deliveries.map(({ streamId }) => streamId),
      deliveries.map(({ id }) => id),
    ],
  });
}

async function deleteDeliveries(
  tx: Queryable,
  connection: ConnectionKey,
  deliveries: readonly Delivery[],
): Promise<void> {
  await tx.query({
    name: "delete-deliveries",
    text: "delete from deliveries where merchant_id = $1 and connection_id = $2 and id = any($3::uuid[])",
    values: [connection.merchantId, connection.connectionId, deliveries.map(({ id }) => id)],
  });
}

/** The condition on the id excludes the partitions before `since`. */
async function deleteAttempts(
  tx: Queryable,
  connection: ConnectionKey,
  deliveries: readonly Delivery[],
  since: Date,
): Promise<void> {
  await tx.query({
    name: "delete-attempts-of-deliveries",
    text: "delete from attempts where merchant_id = $1 and delivery_id = any($2::uuid[]) and id >= $3",
    values: [connection.merchantId, deliveries.map(({ id }) => id), uuidAt(since)],
  });
}
