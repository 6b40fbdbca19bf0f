import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import { ROWS_READ_MAX, UUID_MAX } from "../platform/wire/cursor.ts";
import { type EventType, PING } from "./event-types.ts";
import type { FeedPosition, FeedRow } from "./feed-sql.ts";

/** A null restricts nothing. */
export type RecentFilter = {
  readonly orderId: string | null;
  readonly type: EventType | null;
  /** True: only events of test orders. False: only others. */
  readonly testMode: boolean | null;
};

/** After all events. */
export const FEED_END: FeedPosition = {
  transactionId: "18446744073709551615",
  sequence: 2_147_483_647,
  eventId: UUID_MAX,
};

export type RecentPage = { readonly before: FeedPosition; readonly limit: number };

/** An event with what it is about. */
export type RecentRow = FeedRow & { readonly order_id: string | null; readonly test_mode: boolean };

const FITS = `(e.not_after is null or e.not_after > $6) and e.type <> '${PING}'
                 and ($7::text is null or e.type = $7) and ($8::boolean is null or (e.not_after is not null) = $8)`;

/** The events before a position of the feed, newest first, in a scope. At most ROWS_READ_MAX are read. */
const newestIn = (scope: string): string => `
      select f.feed_position, f.sequence, f.id, f.body, f.order_id, f.test_mode, f.fits, f.is_last
      from (
        select e.feed_position, coalesce(e.sequence, 0) as sequence, e.id, e.body, e.order_id,
               e.not_after is not null as test_mode, (${FITS}) as fits,
               row_number() over (order by e.feed_position desc, coalesce(e.sequence, 0) desc, e.id desc)
                 = ${ROWS_READ_MAX} as is_last
        from events e
        where e.merchant_id = $1 and e.connection_id = $2 and e.id >= $9 and ${scope}
          and (e.feed_position, coalesce(e.sequence, 0), e.id) < ($3::xid8, $4::integer, $5::uuid)
        order by e.feed_position desc, coalesce(e.sequence, 0) desc, e.id desc
        limit ${ROWS_READ_MAX}) as f
      where f.fits or f.is_last
      order by f.feed_position desc, f.sequence desc, f.id desc
      limit $10 + 1`;

/** Reads events_feed_idx backwards, or the index of the order. @param oldestId no older event is shown */
export async function listRecentEvents(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  { orderId, type, testMode }: RecentFilter,
  { before, limit }: RecentPage,
  { now, oldestId }: { readonly now: Date; readonly oldestId: string },
): Promise<RecentRow[]> {
  const position = [before.transactionId, before.sequence, before.eventId];
  const values = [merchantId, connectionId, ...position, now, type, testMode, oldestId, limit];
  return orderId === null
    ? db.query<RecentRow>({ name: "list-recent-events", text: newestIn("true"), values })
    : db.query<RecentRow>({
        name: "list-recent-events-of-order",
        text: newestIn("e.order_id = $11"),
        values: [...values, orderId],
      });
}
