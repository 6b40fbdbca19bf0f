import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import { ROWS_READ_MAX, UUID_MAX } from "../platform/wire/cursor.ts";
import { type EventType, PING } from "./event-types.ts";
import type { FeedPosition } from "./feed-cursor.ts";
import type { FeedRow } from "./feed-sql.ts";
import { NO_POSITION } from "./positions-sql.ts";

/** A null restricts nothing. */
export type RecentFilter = {
  readonly orderId: string | null;
  readonly type: EventType | null;
  /** True: only events of test orders. False: only others. */
  readonly testMode: boolean | null;
};

/** After all events. */
export const FEED_END: FeedPosition = { position: NO_POSITION, eventId: UUID_MAX };

export type RecentPage = { readonly before: FeedPosition; readonly limit: number };

/** An event with what it is about. */
export type RecentRow = FeedRow & { readonly order_id: string | null; readonly test_mode: boolean };

const FITS = `(e.not_after is null or e.not_after > $5) and e.type <> '${PING}'
                 and ($6::text is null or e.type = $6) and ($7::boolean is null or (e.not_after is not null) = $7)`;

/**
 * The events before a position of the feed, newest first, in a scope. At most ROWS_READ_MAX are read. Events without a
 * position come before all others, and are sorted by id; one that gets a position between two pages is not shown again.
 */
const newestIn = (scope: string): string => `
      select f.position, f.id, f.body, f.order_id, f.test_mode, f.fits, f.is_last
      from (
        select e.position, e.id, e.body, e.order_id, e.not_after is not null as test_mode, (${FITS}) as fits,
               row_number() over (order by e.position desc, e.id desc) = ${ROWS_READ_MAX} as is_last
        from events e
        where e.merchant_id = $1 and e.connection_id = $2 and e.id >= $8 and ${scope}
          and (e.position, e.id) < ($3::bigint, $4::uuid)
          and ($3::bigint < ${NO_POSITION} or e.id < $4::uuid)
        order by e.position desc, e.id desc
        limit ${ROWS_READ_MAX}) as f
      where f.fits or f.is_last
      order by f.position desc, f.id desc
      limit $9 + 1`;

/** Reads events_position_idx backwards, or the index of the order. @param oldestId no older event is shown */
export async function listRecentEvents(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  { orderId, type, testMode }: RecentFilter,
  { before, limit }: RecentPage,
  { now, oldestId }: { readonly now: Date; readonly oldestId: string },
): Promise<RecentRow[]> {
  const position = [before.position, before.eventId];
  const values = [merchantId, connectionId, ...position, now, type, testMode, oldestId, limit];
  return orderId === null
    ? db.query<RecentRow>({ name: "list-recent-events", text: newestIn("true"), values })
    : db.query<RecentRow>({
        name: "list-recent-events-of-order",
        text: newestIn("e.order_id = $10"),
        values: [...values, orderId],
      });
}
