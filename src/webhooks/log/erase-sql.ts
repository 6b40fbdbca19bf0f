import type { ConnectionKey } from "../../platform/connection-key.ts";
import { merchantsOf } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { before, CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";
import { alsoAtFacilities } from "../owner.ts";

/** Test orders whose deliveries are erased. The caller has locked them, so no delivery is added. */
type ErasedOrders = ConnectionKey & {
  readonly orderIds: readonly string[];
  /** When the first of them was created. Older attempts are not looked for. */
  readonly createdFrom: Date;
};

/**
 * Erases a batch of the deliveries of test orders, with their streams and attempts: at most about `limit` rows of each.
 * Returns how many attempts and deliveries it deleted, and whether no delivery is left.
 *
 * The streams are deleted first, because a transaction that stores an outcome has locked its stream: when it has
 * committed, its attempt can be erased as well. Each statement chooses the same deliveries, so their ids stay in the
 * database.
 */
export async function eraseDeliveries(
  tx: Queryable,
  orders: ErasedOrders,
  limit: number,
): Promise<{ rows: number; isDone: boolean }> {
  await deleteStreams(tx, orders, limit);
  const attempts = await deleteAttempts(tx, orders, limit);
  if (attempts >= limit) return { rows: attempts, isDone: false }; // Their deliveries follow when no attempt is left.
  const deliveries = await deleteDeliveries(tx, orders, limit);
  return { rows: attempts + deliveries, isDone: deliveries < limit };
}

/**
 * The parameters of a batch: the merchant, the connection, the orders and the limit. Each order's deliveries are read in the
 * order of deliveries_stream_idx, and no more of them than the limit.
 */
const batchValues = ({ merchantId, connectionId, orderIds }: ErasedOrders, limit: number): unknown[] => [
  merchantId,
  connectionId,
  orderIds,
  limit,
];

/**
 * Two statements: the second one sees the streams as their last owner left them. The streams are those of the batch, and
 * those that deliveries have of their own after a manual request. Each is looked up by its key.
 */
async function deleteStreams(tx: Queryable, orders: ErasedOrders, limit: number): Promise<void> {
  await tx.query({
    name: "lock-erased-streams",
    text: `
      with batch as materialized (
        select d.id, d.endpoint_id, d.stream_id
        from (select o.id from unnest($3::uuid[]) as o (id) order by o.id) as o
        cross join lateral (
          select d.id, d.endpoint_id, d.stream_id, d.sequence
          from deliveries d
          where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = o.id
          order by d.endpoint_id, d.sequence, d.id
          limit $4) as d
        order by o.id, d.endpoint_id, d.sequence, d.id
        limit $4
      ), streams as materialized (
        select s.endpoint_id, s.stream_id
        from (
          select b.endpoint_id, b.stream_id
          from batch b
          union
          select b.endpoint_id, b.id
          from batch b) as s
        order by s.endpoint_id, s.stream_id -- All transactions lock streams in this order.
      )
      select count(*)
      from streams s
      cross join lateral (
        select q.stream_id
        from due_deliveries q
        where q.merchant_id = $1 and q.endpoint_id = s.endpoint_id and q.stream_id = s.stream_id
        limit 1
        for update) as locked`,
    values: batchValues(orders, limit),
  });
  await tx.query({
    name: "erase-streams",
    text: `
      with batch as materialized (
        select d.id, d.endpoint_id, d.stream_id
        from (select o.id from unnest($3::uuid[]) as o (id) order by o.id) as o
        cross join lateral (
          select d.id, d.endpoint_id, d.stream_id, d.sequence
          from deliveries d
          where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = o.id
          order by d.endpoint_id, d.sequence, d.id
          limit $4) as d
        order by o.id, d.endpoint_id, d.sequence, d.id
        limit $4
      ), streams as materialized (
        select s.endpoint_id, s.stream_id
        from (
          select b.endpoint_id, b.stream_id
          from batch b
          union
          select b.endpoint_id, b.id
          from batch b) as s
        order by s.endpoint_id, s.stream_id -- All transactions lock streams in this order.
      )
      delete from due_deliveries d
      where d.merchant_id = $1 and d.ctid = any(array( -- Locked by this transaction, so it has not moved.
        select locked.row_position
        from streams s
        cross join lateral (
          select q.ctid as row_position
          from due_deliveries q
          where q.merchant_id = $1 and q.endpoint_id = s.endpoint_id and q.stream_id = s.stream_id
          limit 1) as locked))`,
    values: batchValues(orders, limit),
  });
}

/**
 * Deletes the attempts of the first deliveries of the batch: all attempts of each, so slightly more than the limit. The
 * condition on the id excludes the partitions of earlier days.
 */
async function deleteAttempts(tx: Queryable, orders: ErasedOrders, limit: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "erase-attempts",
    text: `
      with batch as materialized (
        select d.id, d.endpoint_id, d.stream_id
        from (select o.id from unnest($3::uuid[]) as o (id) order by o.id) as o
        cross join lateral (
          select d.id, d.endpoint_id, d.stream_id, d.sequence
          from deliveries d
          where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = o.id
          order by d.endpoint_id, d.sequence, d.id
          limit $4) as d
        order by o.id, d.endpoint_id, d.sequence, d.id
        limit $4
      ), picked as materialized (
        select a.delivery_id
        from batch b
        cross join lateral (
          select a.delivery_id
          from attempts a
          where a.merchant_id = $1 and a.delivery_id = b.id and a.id >= $5
          limit $4) as a
        limit $4
      ), deleted as (
        delete from attempts a
        where a.merchant_id = $1 and a.id >= $5
          and a.delivery_id = any(array(select distinct p.delivery_id from picked p))
        returning a.id
      )
      select count(*)::integer as count
      from deleted`,
    values: [...batchValues(orders, limit), uuidAt(before(orders.createdFrom, CLOCK_SKEW_MAX_MS))],
  });
  return row?.count ?? 0;
}

async function deleteDeliveries(tx: Queryable, orders: ErasedOrders, limit: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "erase-deliveries",
    text: `
      with batch as materialized (
        select d.id, d.endpoint_id, d.stream_id
        from (select o.id from unnest($3::uuid[]) as o (id) order by o.id) as o
        cross join lateral (
          select d.id, d.endpoint_id, d.stream_id, d.sequence
          from deliveries d
          where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = o.id
          order by d.endpoint_id, d.sequence, d.id
          limit $4) as d
        order by o.id, d.endpoint_id, d.sequence, d.id
        limit $4
      ), deleted as (
        delete from deliveries d
        where d.merchant_id = $1 and d.connection_id = $2 and d.id = any(array(select b.id from batch b))
        returning d.id
      )
      select count(*)::integer as count
      from deleted`,
    values: batchValues(orders, limit),
  });
  return row?.count ?? 0;
}

/**
 * Erases what receivers returned to the deliveries of orders: a receiver may repeat the address that it was sent. Status,
 * time and error of each attempt stay.
 * @param since before the first delivery of the orders: it excludes older partitions
 */
export async function eraseResponses(
  tx: Queryable,
  erased: readonly { readonly merchantId: string; readonly id: string }[],
  since: Date,
): Promise<void> {
  const orders = alsoAtFacilities(erased);
  await tx.query({
    name: "erase-responses",
    text: `
      update attempts a
      set response_body = null
      from unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, order_id)
      join deliveries d on d.merchant_id = erased.merchant_id and d.stream_id = erased.order_id
      where a.merchant_id = d.merchant_id and a.delivery_id = d.id and a.id >= $3 and a.response_body is not null
        and ($4::uuid[] is null or a.merchant_id = any($4)) and ($4::uuid[] is null or d.merchant_id = any($4))`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      uuidAt(since),
      await merchantsOf(tx, orders),
    ],
  });
  await tx.query({
    name: "erase-responses-in-deliveries",
    text: `
      update deliveries d
      set response_body = null
      from unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, order_id)
      where d.merchant_id = erased.merchant_id and d.stream_id = erased.order_id and d.response_body is not null
        and ($3::uuid[] is null or d.merchant_id = any($3))`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      await merchantsOf(tx, orders),
    ],
  });
}

/**
 * Erases the next deliveries and events of a connection that has ended, with the attempts: at most about `limit` rows of each.
 * Returns how many. All its endpoints were deleted so long ago that nothing is sent any more.
 * @param since before the first of them: it excludes older partitions
 */
export async function eraseLogOfConnection(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  since: Date,
  limit: number,
): Promise<number> {
  const sinceId = uuidAt(before(since, CLOCK_SKEW_MAX_MS));
  const ids = await tx.query<{ id: string }>({
    name: "lock-next-deliveries-of-connection",
    text: `
      select d.id
      from deliveries d
      where d.merchant_id = $1 and d.connection_id = $2 and d.status <> 'pending'
      order by d.id
      limit $3
      for update`,
    values: [merchantId, connectionId, limit],
  });
  const deliveryIds = ids.map(({ id }) => id);
  await tx.query({
    name: "erase-attempts-of-deliveries",
    text: "delete from attempts where merchant_id = $1 and delivery_id = any($2::uuid[]) and id >= $3",
    values: [merchantId, deliveryIds, sinceId],
  });
  await tx.query({
    name: "erase-deliveries-of-connection",
    text: "delete from deliveries where merchant_id = $1 and connection_id = $2 and id = any($3::uuid[])",
    values: [merchantId, connectionId, deliveryIds],
  });
  const [events] = await tx.query<{ count: number }>({
    name: "erase-events-of-connection",
    text: `
      with picked as materialized (
        select e.id
        from events e
        where e.merchant_id = $1 and e.connection_id = $2 and e.id >= $3
        limit $4
      ), deleted as (
        delete from events e
        where e.merchant_id = $1 and e.id >= $3 and e.id = any(array(select p.id from picked p))
        returning e.id
      )
      select count(*)::integer as count
      from deleted`,
    values: [merchantId, connectionId, sinceId, limit],
  });
  return deliveryIds.length + (events?.count ?? 0);
}

/** Deletes what is left of a connection as an owner of webhooks and of a feed. False: an endpoint is left, and nothing is deleted. */
export async function deleteOwner(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
): Promise<boolean> {
  const values = [merchantId, connectionId];
  const endpoints = await tx.query({
    name: "find-endpoint-of-owner",
    text: "select id from webhook_endpoints where merchant_id = $1 and connection_id = $2 limit 1",
    values,
  });
  if (endpoints.length > 0) return false;
  await tx.query({
    name: "delete-resends-of-owner",
    text: "delete from webhook_resends where merchant_id = $1 and connection_id = $2",
    values,
  });
  await tx.query({
    name: "delete-owner",
    text: "delete from webhook_owners where merchant_id = $1 and connection_id = $2",
    values,
  });
  await tx.query({
    name: "delete-feed",
    text: "delete from event_feeds where merchant_id = $1 and connection_id = $2",
    values,
  });
  return true;
}
