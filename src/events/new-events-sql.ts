import type { Queryable } from "../platform/database/database.ts";

/** An event without its content: what it is about, and who may see that. */
export type NewEvent = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  /** Null if the event is not about an order. */
  readonly orderId: string | null;
  readonly testMode: boolean;
};

/** Events of one merchant that are read, at most. */
export const NEW_EVENTS_OF_MERCHANT_MAX = 50;
/** Events that are read, at most. */
export const NEW_EVENTS_MAX = 500;

/**
 * The newest events after an id, of all merchants or of some: a look-up by the primary key for each of them. The id excludes
 * the partitions of earlier days.
 */
export async function listNewEvents(
  db: Queryable,
  afterId: string,
  merchantIds: readonly string[] | null,
): Promise<NewEvent[]> {
  return db.query<NewEvent>({
    name: "list-new-events",
    text: `
      select m.id as "merchantId", found.connection_id as "connectionId", found.id, found.order_id as "orderId",
             found.test_mode as "testMode"
      from merchants m
      cross join lateral (
        select e.connection_id, e.id, e.order_id, e.not_after is not null as test_mode
        from events e
        where e.merchant_id = m.id and e.id > $1
        order by e.id desc
        limit $3) as found
      where $2::uuid[] is null or m.id = any($2)
      limit $4`,
    values: [afterId, merchantIds, NEW_EVENTS_OF_MERCHANT_MAX, NEW_EVENTS_MAX],
  });
}
