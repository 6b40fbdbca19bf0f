import type { Queryable } from "../platform/database/database.ts";
import type { EventType } from "./event-types.ts";
import { PING } from "./event-types.ts";

/** A place in the feed: events are in the order of their transactions, and within one in that of their ids. */
export type FeedPlace = { transactionId: string; eventId: string };

export type FeedRow = { transaction_id: string; id: string; body: string };

type FeedPage = {
  connectionId: string;
  after: FeedPlace;
  limit: number;
  /** Null: of any type. */
  type: EventType | null;
  /** No event before this id is looked at; it spares the reading of whole partitions. */
  oldestId: string;
  /** Events of test orders that are to be erased by then are not shown. */
  now: Date;
};

/**
 * The events after a place in the order of their transactions (decision 0027). An event is shown once every
 * transaction before its own has ended, since nothing can come before it any more from then on.
 *
 * Transactions from beyond the snapshot are those of another server, from which the data was restored. Their events
 * come first; whoever has read them, or was among them, goes on with the events of this server.
 */
export async function listFeed(db: Queryable, page: FeedPage): Promise<FeedRow[]> {
  return db.query<FeedRow>({
    name: "list-feed",
    text: `
      (select e.transaction_id, e.id, e.body, 1 as part
       from events e
       where e.connection_id = $1
         and ($2::xid8 = '0' or $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot()))
         and e.transaction_id >= pg_snapshot_xmax(pg_current_snapshot())
         and (e.transaction_id, e.id) > ($2::xid8, $3::uuid)
         and e.id >= $4 and (e.not_after is null or e.not_after > $8) and e.type <> $5 and ($6::text is null or e.type = $6)
       order by e.transaction_id, e.id
       limit $7)
      union all
      (select e.transaction_id, e.id, e.body, 2 as part
       from events e
       where e.connection_id = $1
         and e.transaction_id < pg_snapshot_xmin(pg_current_snapshot())
         and (e.transaction_id, e.id) >
             (case when $2::xid8 < pg_snapshot_xmax(pg_current_snapshot()) then $2::xid8 else '0' end, $3::uuid)
         and e.id >= $4 and (e.not_after is null or e.not_after > $8) and e.type <> $5 and ($6::text is null or e.type = $6)
       order by e.transaction_id, e.id
       limit $7)
      order by part, transaction_id, id
      limit $7`,
    values: toValues(page),
  });
}

/** The same of one order only. A statement of its own, because it starts from the order's index. */
export async function listFeedOfOrder(db: Queryable, page: FeedPage, orderId: string): Promise<FeedRow[]> {
  return db.query<FeedRow>({
    name: "list-feed-of-order",
    text: `
      select e.transaction_id, e.id, e.body
      from events e
      where e.connection_id = $1 and e.order_id = $9
        and case
              when e.transaction_id < pg_snapshot_xmin(pg_current_snapshot())
              then $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot())
                   or (e.transaction_id, e.id) > ($2::xid8, $3::uuid)
              when e.transaction_id >= pg_snapshot_xmax(pg_current_snapshot())
              then ($2::xid8 = '0' or $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot()))
                   and (e.transaction_id, e.id) > ($2::xid8, $3::uuid)
              else false
            end
        and e.id >= $4 and (e.not_after is null or e.not_after > $8) and e.type <> $5 and ($6::text is null or e.type = $6)
      order by e.transaction_id < pg_snapshot_xmax(pg_current_snapshot()), e.transaction_id, e.id
      limit $7`,
    values: [...toValues(page), orderId],
  });
}

const toValues = ({ connectionId, after, limit, type, oldestId, now }: FeedPage): unknown[] => [
  connectionId,
  after.transactionId,
  after.eventId,
  oldestId,
  PING,
  type,
  limit,
  now,
];

/** The body of one event, unless it is older than `oldestId`. */
export async function readEventBody(
  db: Queryable,
  connectionId: string,
  eventId: string,
  oldestId: string,
  now: Date,
): Promise<string | null> {
  const [row] = await db.query<{ body: string }>({
    name: "read-event-body",
    text: `
      select e.body
      from events e
      where e.connection_id = $1 and e.id = $2 and e.id >= $3 and (e.not_after is null or e.not_after > $4)`,
    values: [connectionId, eventId, oldestId, now],
  });
  return row?.body ?? null;
}
