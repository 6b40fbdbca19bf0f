import type { KeyAccess } from "../merchants/key-mode.ts";
import type { Queryable } from "../platform/database/database.ts";
import { ROWS_READ_MAX } from "../platform/wire/cursor.ts";
import type { EventType } from "./event-types.ts";
import { PING } from "./event-types.ts";

/**
 * A position in the feed. Events are sorted by `feed_position`, which is a transaction id. Events with the same one are
 * sorted by sequence, then by id.
 */
export type FeedPosition = { transactionId: string; sequence: number; eventId: string };

export type FeedRow = {
  feed_position: string;
  sequence: number;
  id: string;
  body: string;
  /** False for the last row that was read, if it is only returned to continue from it. */
  fits: boolean;
  /** True for the last row that was read, if reading ended before the page was full. */
  is_last: boolean;
};

/** The part of the feed that a page is read from, and how much of it. */
type FeedRange = KeyAccess & {
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
export async function listFeed(db: Queryable, range: FeedRange): Promise<FeedRow[]> {
  return db.query<FeedRow>({
    name: "list-feed",
    text: `
      ${firstEvents(1, RESTORED)}
      union all
      ${firstEvents(2, OWN)}
      order by part, feed_position, sequence, id
      limit $8`,
    values: toValues(range),
  });
}

/** A test key sees no events of real orders (decision 0074): only those of test orders expire. */
const FITS = `(e.not_after is null or e.not_after > $9) and e.type <> $6 and ($7::text is null or e.type = $7)
                and (not $11::boolean or e.order_id is null or e.not_after is not null)`;

const RESTORED = `
               ($2::xid8 = '0' or $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot()))
           and e.feed_position >= pg_snapshot_xmax(pg_current_snapshot())
           and (e.feed_position, coalesce(e.sequence, 0), e.id) > ($2::xid8, $3::integer, $4::uuid)`;

const OWN = `
               e.feed_position < pg_snapshot_xmin(pg_current_snapshot())
           and (e.feed_position, coalesce(e.sequence, 0), e.id) >
               (case when $2::xid8 < pg_snapshot_xmax(pg_current_snapshot()) then $2::xid8 else '0' end, $3::integer, $4::uuid)`;

/**
 * The first events of a part of the feed that fit the filter. No index has the type, so it reads the events by their
 * position, but at most ROWS_READ_MAX. The last of these is returned even if it does not fit.
 */
const firstEvents = (part: number, positions: string): string => `
      (select f.feed_position, f.sequence, f.id, f.body, f.fits, f.is_last, ${part} as part
       from (
         select e.feed_position, coalesce(e.sequence, 0) as sequence, e.id, e.body, (${FITS}) as fits,
                row_number() over (order by e.feed_position, coalesce(e.sequence, 0), e.id) = ${ROWS_READ_MAX} as is_last
         from events e
         where e.merchant_id = $10 and e.connection_id = $1 and e.id >= $5 and ${positions}
         order by e.feed_position, coalesce(e.sequence, 0), e.id
         limit ${ROWS_READ_MAX}) as f
       where f.fits or f.is_last
       order by f.feed_position, f.sequence, f.id
       limit $8)`;

/** The same for one order. It is a statement of its own because it uses the order's index. */
export async function listFeedOfOrder(db: Queryable, range: FeedRange, orderId: string): Promise<FeedRow[]> {
  return db.query<FeedRow>({
    name: "list-feed-of-order",
    text: `
      select e.feed_position, coalesce(e.sequence, 0) as sequence, e.id, e.body, true as fits, false as is_last
      from events e
      where e.merchant_id = $10 and e.connection_id = $1 and e.order_id = $12
        and case
              when e.feed_position < pg_snapshot_xmin(pg_current_snapshot())
              then $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot())
                   or (e.feed_position, coalesce(e.sequence, 0), e.id) > ($2::xid8, $3::integer, $4::uuid)
              when e.feed_position >= pg_snapshot_xmax(pg_current_snapshot())
              then ($2::xid8 = '0' or $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot()))
                   and (e.feed_position, coalesce(e.sequence, 0), e.id) > ($2::xid8, $3::integer, $4::uuid)
              else false
            end
        and e.id >= $5 and ${FITS}
      order by e.feed_position < pg_snapshot_xmax(pg_current_snapshot()),
               e.feed_position, coalesce(e.sequence, 0), e.id
      limit $8`,
    values: [...toValues(range), orderId],
  });
}

const toValues = ({ merchantId, connectionId, testOnly, after, limit, type, oldestId, now }: FeedRange) => [
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
  testOnly,
];

/** The body of an event. Null if there is none, or if it has expired or is older than `oldestId`. */
export async function readEventBody(
  db: Queryable,
  access: KeyAccess,
  eventId: string,
  oldestId: string,
  now: Date,
): Promise<string | null> {
  const [row] = await db.query<{ body: string }>({
    name: "read-event-body",
    text: `
      select e.body
      from events e
      where e.merchant_id = $1 and e.connection_id = $2 and e.id = $3 and e.id >= $4 and (e.not_after is null or e.not_after > $5)
        and (not $6::boolean or e.order_id is null or e.not_after is not null)`,
    values: [access.merchantId, access.connectionId, eventId, oldestId, now, access.testOnly],
  });
  return row?.body ?? null;
}
