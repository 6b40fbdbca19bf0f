import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { EventType } from "./event-types.ts";
import { PING } from "./event-types.ts";

/**
 * A position in the feed. Events are sorted by `feed_position`, which is a transaction id. Events with the same one are
 * sorted by sequence, then by id.
 */
export type FeedPosition = { transactionId: string; sequence: number; eventId: string };

export type FeedRow = { feed_position: string; sequence: number; id: string; body: string };

type FeedPage = ConnectionKey & {
  after: FeedPosition;
  limit: number;
  /** Null means any type. */
  type: EventType | null;
  /** Older events are left out, so that their partitions need not be read. */
  oldestId: string;
  /** Events of test orders that expire by this time are left out. */
  now: Date;
};

/**
 * The events after a position of the feed (decision 0027). An event is shown once all transactions before its position
 * have ended: from then on no event can be stored before it.
 *
 * Positions at or beyond the end of the snapshot come from another server from which the data was restored. Their
 * events come first. A reader whose cursor is among them reads the rest of them, then the events of this server.
 */
export async function listFeed(db: Queryable, page: FeedPage): Promise<FeedRow[]> {
  return db.query<FeedRow>({
    name: "list-feed",
    text: `
      (select e.feed_position, coalesce(e.sequence, 0) as sequence, e.id, e.body, 1 as part
       from events e
       where e.merchant_id = $10 and e.connection_id = $1
         and ($2::xid8 = '0' or $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot()))
         and e.feed_position >= pg_snapshot_xmax(pg_current_snapshot())
         and (e.feed_position, coalesce(e.sequence, 0), e.id) > ($2::xid8, $3::integer, $4::uuid)
         and e.id >= $5 and (e.not_after is null or e.not_after > $9) and e.type <> $6 and ($7::text is null or e.type = $7)
       order by e.feed_position, coalesce(e.sequence, 0), e.id
       limit $8)
      union all
      (select e.feed_position, coalesce(e.sequence, 0) as sequence, e.id, e.body, 2 as part
       from events e
       where e.merchant_id = $10 and e.connection_id = $1
         and e.feed_position < pg_snapshot_xmin(pg_current_snapshot())
         and (e.feed_position, coalesce(e.sequence, 0), e.id) >
             (case when $2::xid8 < pg_snapshot_xmax(pg_current_snapshot()) then $2::xid8 else '0' end, $3::integer, $4::uuid)
         and e.id >= $5 and (e.not_after is null or e.not_after > $9) and e.type <> $6 and ($7::text is null or e.type = $7)
       order by e.feed_position, coalesce(e.sequence, 0), e.id
       limit $8)
      order by part, feed_position, sequence, id
      limit $8`,
    values: toValues(page),
  });
}

/** The same for one order. It is a statement of its own because it uses the order's index. */
export async function listFeedOfOrder(db: Queryable, page: FeedPage, orderId: string): Promise<FeedRow[]> {
  return db.query<FeedRow>({
    name: "list-feed-of-order",
    text: `
      select e.feed_position, coalesce(e.sequence, 0) as sequence, e.id, e.body
      from events e
      where e.merchant_id = $10 and e.connection_id = $1 and e.order_id = $11
        and case
              when e.feed_position < pg_snapshot_xmin(pg_current_snapshot())
              then $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot())
                   or (e.feed_position, coalesce(e.sequence, 0), e.id) > ($2::xid8, $3::integer, $4::uuid)
              when e.feed_position >= pg_snapshot_xmax(pg_current_snapshot())
              then ($2::xid8 = '0' or $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot()))
                   and (e.feed_position, coalesce(e.sequence, 0), e.id) > ($2::xid8, $3::integer, $4::uuid)
              else false
            end
        and e.id >= $5 and (e.not_after is null or e.not_after > $9) and e.type <> $6 and ($7::text is null or e.type = $7)
      order by e.feed_position < pg_snapshot_xmax(pg_current_snapshot()),
               e.feed_position, coalesce(e.sequence, 0), e.id
      limit $8`,
    values: [...toValues(page), orderId],
  });
}

const toValues = ({ merchantId, connectionId, after, limit, type, oldestId, now }: FeedPage): unknown[] => [
  connectionId,
  after.transactionId,
  after.sequence,
  after.eventId,
  oldestId,
  PING,
  type,
  limit,
  now,
  merchantId,
];

/** The body of an event. Null if there is none, or if it has expired or is older than `oldestId`. */
export async function readEventBody(
  db: Queryable,
  connection: ConnectionKey,
  eventId: string,
  oldestId: string,
  now: Date,
): Promise<string | null> {
  const [row] = await db.query<{ body: string }>({
    name: "read-event-body",
    text: `
      select e.body
      from events e
      where e.merchant_id = $1 and e.connection_id = $2 and e.id = $3 and e.id >= $4 and (e.not_after is null or e.not_after > $5)`,
    values: [connection.merchantId, connection.connectionId, eventId, oldestId, now],
  });
  return row?.body ?? null;
}
