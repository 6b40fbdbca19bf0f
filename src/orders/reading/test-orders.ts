import type { Order, OrderStatus } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { merchantByMerchant } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { type PagePosition, toPage } from "../../platform/wire/cursor.ts";
import { readOrders } from "../orders-sql.ts";

/** A page of a connection's test orders that have not expired, newest first. A null does not filter. */
export async function listTestOrders(
  { db, clock }: Context,
  connection: ConnectionKey,
  filter: { readonly status: OrderStatus | null; readonly onHold: boolean | null },
  position: PagePosition,
): Promise<{ orders: Order[]; nextCursor: string | null }> {
  const ids = await listTestOrderIds(db, connection, filter, position, clock.now());
  const read = await readOrders(db, connection, ids.slice(0, position.limit));
  const orders = new Map(read.map((order) => [order.id, order]));
  // The cursor is made from the ids: one of the orders may have been erased since.
  const page = toPage(
    ids.map((id) => ({ id })),
    position,
    ({ id }) => orders.get(id),
  );
  return { orders: page.data.filter((order) => order !== undefined), nextCursor: page.nextCursor };
}

/** How many test orders each connection has stored, at most `countMax`. Expired ones count until they are erased. */
export async function countTestOrders(
  db: Queryable,
  connections: readonly ConnectionKey[],
  countMax: number,
): Promise<(connection: ConnectionKey) => number> {
  const rows = await merchantByMerchant(db, connections, (own, merchantId) =>
    db.query<{ connection_id: string; count: number }>({
      name: "count-test-orders",
      text: `
        select requested.connection_id,
               (select count(*)::integer
                from (
                  select
                  from orders o
                  where o.merchant_id = requested.merchant_id and o.connection_id = requested.connection_id and o.test_mode
                    and ($4::uuid is null or o.merchant_id = $4)
                  limit $3) as counted) as count
        from unnest($1::uuid[], $2::uuid[]) as requested (merchant_id, connection_id)`,
      values: [
        own.map((connection) => connection.merchantId),
        own.map(({ connectionId }) => connectionId),
        countMax,
        merchantId,
      ],
    }),
  );
  const counts = new Map(rows.map((row) => [row.connection_id, row.count]));
  return ({ connectionId }) => counts.get(connectionId) ?? 0;
}

/** Null does not filter. */
type TestOrderFilter = { readonly status: OrderStatus | null; readonly onHold: boolean | null };

/**
 * The ids of a connection's test orders that have not expired, newest first, one more than the page if there is one. It
 * reads all of them by orders_expires_idx, at most as many as the limit `testOrders` allows.
 */
async function listTestOrderIds(
  db: Queryable,
  connection: ConnectionKey,
  { status, onHold }: TestOrderFilter,
  { afterId, limit }: PagePosition,
  now: Date,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "list-test-order-ids",
    text: `
      select o.id
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.test_mode and o.expires_at > $3 and o.id < $4
        and ($6::text is null or o.status = $6) and ($7::boolean is null or (o.hold_reasons <> '{}') = $7)
      order by o.id desc
      limit $5 + 1`,
    values: [connection.merchantId, connection.connectionId, now, afterId, limit, status, onHold],
  });
  return rows.map(({ id }) => id);
}
