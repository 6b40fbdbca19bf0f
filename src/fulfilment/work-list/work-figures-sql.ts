import { TO_SHIP, toShipAt, UNSHIPPED } from "../../orders/conditions-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";

// What waits at a facility (decision 0119). Each statement reads a bounded number of rows by indexes that exist.

/** Orders of a facility, or of a connection, that are counted. */
const COUNTED_MAX = 1_000;

/** Orders that can be shipped. */
export type WaitingWork = {
  readonly toPack: number;
  /** Those of them that are on no pick list. */
  readonly free: number;
  /** Null: none can be shipped. */
  readonly oldest: {
    readonly id: string;
    readonly externalOrderId: string | null;
    readonly createdAt: Date;
  } | null;
};

/** The oldest COUNTED_MAX orders of a facility that can be shipped (null: of none), by orders_to_ship_idx. */
export async function countWaitingWork(
  db: Queryable,
  facilityId: string | null,
  now: Date,
): Promise<WaitingWork> {
  const [row] = await db.query<{
    to_pack: number;
    free: number;
    id: string | null;
    external_order_id: string | null;
    created_at: Date | null;
  }>({
    name: "count-waiting-work",
    text: `
      select count(*)::integer as to_pack, (count(*) filter (where c.order_id is null))::integer as free,
             (array_agg(o.id order by o.id))[1] as id,
             (array_agg(o.external_order_id order by o.id))[1] as external_order_id,
             min(o.created_at) as created_at
      from (
        select o.merchant_id, o.id, o.external_order_id, o.created_at, ${UNSHIPPED} as is_unshipped
        from orders o
        where ${TO_SHIP} and ${toShipAt("$1::uuid")}
        order by o.id
        limit ${COUNTED_MAX}) as o
      left join pick_list_orders c on c.merchant_id = o.merchant_id and c.order_id = o.id and c.expires_at > $2
      where o.is_unshipped`,
    values: [facilityId, now],
  });
  const { to_pack: toPack = 0, free = 0, id = null, created_at: createdAt = null } = row ?? {};
  const externalOrderId = row?.external_order_id ?? null;
  return {
    toPack,
    free,
    oldest: id === null || createdAt === null ? null : { id, externalOrderId, createdAt },
  };
}

/** Real orders on hold by their facility, up to COUNTED_MAX of each connection. By orders_held_idx. */
export async function countHeldAt(
  db: Queryable,
  facilityIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ facility_id: string; count: number }>({
    name: "count-held-at-facilities",
    text: `
      select held.facility_id, count(*)::integer as count
      from connections c
      cross join lateral (
        select o.facility_id
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.hold_reasons <> '{}' and not o.test_mode
        limit ${COUNTED_MAX}) as held
      where held.facility_id = any($1::uuid[])
      group by held.facility_id`,
    values: [facilityIds],
  });
  return new Map(rows.map(({ facility_id, count }) => [facility_id, count]));
}
