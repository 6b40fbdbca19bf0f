import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { OrderSelection } from "../changes/process-orders.ts";
import { UNROUTED, WAITS_FOR_SUPPLY } from "../conditions-sql.ts";

/** An accepted real order that has not been routed yet, as routing sees it. */
export type UnroutedOrder = {
  readonly id: string;
  readonly holdReasons: readonly string[];
  /** Where it is to be sent. */
  readonly countryCode: string;
  readonly currency: string;
  /** `weightGrams` is that of one piece, as the product says now. */
  readonly lines: readonly {
    readonly id: string;
    readonly productId: string;
    readonly quantity: number;
    readonly weightGrams: number | null;
  }[];
};

export type LockedOrder = { readonly id: string };

/** Connections that have orders to be routed, the one that waits longest first. A scan over all shards. */
export async function listConnectionsWithUnroutedOrders(db: Queryable): Promise<ConnectionKey[]> {
  const rows = await db.query<ConnectionKeyRow>({
    name: "list-connections-with-unrouted-orders",
    text: `
      select c.merchant_id, c.id as connection_id
      from connections c
      cross join lateral (
        select o.id
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and ${UNROUTED}
        order by o.id
        limit 1) as due
      order by due.id`,
    values: [],
  });
  return rows.map(toConnectionKey);
}

/**
 * From here to its end, a transaction waits no longer than this for a lock: the statement that would fails.
 */
export async function limitLockWaits(tx: Queryable, waitMs: number): Promise<void> {
  await tx.query({
    name: "limit-lock-waits",
    text: "select set_config('lock_timeout', $1, true)",
    values: [`${waitMs}ms`],
  });
}

/**
 * Locks orders of one connection that are to be routed, oldest first; skips those that are locked. Uses
 * orders_routing_due_idx.
 */
export async function lockUnroutedOrders(
  tx: Queryable,
  connection: ConnectionKey,
  { only, except }: OrderSelection,
  limit: number,
): Promise<LockedOrder[]> {
  return tx.query<LockedOrder>({
    name: "lock-unrouted-orders",
    text: `
      select o.id
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and ${UNROUTED}
        and ($3::uuid[] is null or o.id = any($3)) and o.id <> all($4::uuid[])
      order by o.id
      limit $5
      for no key update skip locked`,
    values: [connection.merchantId, connection.connectionId, only, except, limit],
  });
}

/**
 * Locks those of one connection's orders that still wait for stock or for a rate. It waits for locked orders, or fails:
 * a skipped order would not be evaluated again.
 */
export async function lockWaitingOrders(
  tx: Queryable,
  connection: ConnectionKey,
  ids: readonly string[],
): Promise<LockedOrder[]> {
  return tx.query<LockedOrder>({
    name: "lock-waiting-orders",
    text: `
      select o.id
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = any($3::uuid[]) and ${WAITS_FOR_SUPPLY}
      order by o.id
      for no key update`,
    values: [connection.merchantId, connection.connectionId, ids],
  });
}

/** Reads what routing has to know of orders that the caller has locked, oldest first. */
export async function readUnroutedOrders(
  tx: Queryable,
  connection: ConnectionKey,
  ids: readonly string[],
): Promise<UnroutedOrder[]> {
  const rows = await tx.query<{
    id: string;
    hold_reasons: string[];
    country_code: string;
    currency: string;
    lines: UnroutedOrder["lines"];
  }>({
    name: "read-unrouted-orders",
    text: `
      select o.id, o.hold_reasons, o.country_code, o.currency,
             (select json_agg(json_build_object(
                       'id', l.id, 'productId', l.product_id, 'quantity', l.quantity, 'weightGrams', p.weight_grams)
                     order by l.id)
              from order_lines l
              join products p on p.merchant_id = $1 and p.id = l.product_id
              where l.merchant_id = $1 and l.order_id = o.id) as lines
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = any($3::uuid[])
      order by o.id`,
    values: [connection.merchantId, connection.connectionId, ids],
  });
  return rows.map((row) => ({
    id: row.id,
    holdReasons: row.hold_reasons,
    countryCode: row.country_code,
    currency: row.currency,
    lines: row.lines,
  }));
}

/** Stores where orders of one connection are sent from; null: there is no facility. The caller holds their locks. */
export async function saveRoutes(
  tx: Queryable,
  connection: ConnectionKey,
  routes: readonly { readonly orderId: string; readonly facilityId: string | null }[],
  now: Date,
): Promise<void> {
  if (routes.length === 0) return;
  await tx.query({
    name: "save-routes",
    text: `
      update orders o
      set facility_id = route.facility_id, routed_at = $5
      from unnest($3::uuid[], $4::uuid[]) as route (order_id, facility_id)
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = route.order_id`,
    values: [
      connection.merchantId,
      connection.connectionId,
      routes.map(({ orderId }) => orderId),
      routes.map(({ facilityId }) => facilityId),
      now,
    ],
  });
}
