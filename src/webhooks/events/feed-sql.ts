import type { KeyAccess } from "../../merchants/api-key.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { bytesOf, uuidOf } from "../../platform/ids.ts";
import { decodeCursor, encodeCursor, UUID_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import type { EventType } from "./event.ts";
import { NO_POSITION } from "./number-events.ts";

export type FeedRow = {
  position: string;
  id: string;
  body: string;
  /** False for the last row that was read, if it is only returned to continue from it. */
  fits: boolean;
  /** True for the last row that was read, if reading ended before the page was full. */
  is_last: boolean;
};

/** The source and the size of a page of the feed. */
export type FeedRange = KeyAccess & {
  readonly limit: number;
  /** Null means any type. */
  readonly type: EventType | null;
  /** The oldest event that is shown. */
  readonly oldestShownId: string;
  /** Older events are left out as well, so that their partitions need not be read. */
  readonly oldestId: string;
  /** Events of test orders that expire by this time are left out. */
  readonly now: Date;
};

/** A page of the feed, and whether events have no position yet, at the same moment. */
type FeedRead = { readonly rows: readonly FeedRow[]; readonly hasUnnumbered: boolean };

/**
 * The events after a position of the feed that fit the filter (docs/design/event-feed.md, "Positions when read"). No index has
 * the type, so it reads the events by their position, but at most ROWS_READ_MAX. The last of these is returned even if it does
 * not fit. A test key sees no events of real orders (docs/design/isolation-and-limits.md, "Live and test keys"): only those of
 * test orders expire.
 */
export async function listFeed(db: Queryable, range: FeedRange, after: FeedPosition): Promise<FeedRead> {
  const rows = await db.query<{ has_unnumbered: boolean } & (FeedRow | { id: null })>({
    name: "list-feed",
    text: `
      select unnumbered.found as has_unnumbered, page.position, page.id, page.body, page.fits, page.is_last
      from (
        select exists (
          select from events e
          where e.merchant_id = $1 and e.connection_id = $2 and e.id >= $9 and e.position = 9223372036854775807) as found
      ) as unnumbered
      left join lateral (
        select f.position, f.id, f.body, f.fits, f.is_last
        from (
          select e.position, e.id, e.body,
                 ((e.not_after is null or e.not_after > $3) and e.type <> 'webhook.ping' and ($4::text is null or e.type = $4)
                   and (not $5::boolean or e.order_id is null or e.not_after is not null)) as fits,
                 row_number() over (order by e.position) = 5000 as is_last
          from events e
          where e.merchant_id = $1 and e.connection_id = $2 and e.id >= $6
            and e.position > $8 and e.position < 9223372036854775807
          order by e.position
          limit 5000) as f
        where f.fits or f.is_last
        order by f.position
        limit $7) as page on true
      order by page.position`,
    values: [...toValues(range), after.position, range.oldestShownId],
  });
  return {
    rows: rows.filter((row) => row.id !== null),
    hasUnnumbered: rows[0]?.has_unnumbered ?? false,
  };
}

export type OrderFeedRow = { sequence: number; id: string; body: string };

/** Where the feed of an order continues: after its events up to a position of the whole feed, and after one of its own. */
export type OrderFeedStart = {
  readonly position: string;
  readonly sequence: number;
  readonly eventId: string;
};

/** The events of one order that fit the filter, in sequence. They need no position in the feed of the connection. */
export async function listFeedOfOrder(
  db: Queryable,
  range: FeedRange,
  orderId: string,
  after: OrderFeedStart,
): Promise<OrderFeedRow[]> {
  return db.query<OrderFeedRow>({
    name: "list-feed-of-order",
    text: `
      select e.sequence, e.id, e.body
      from events e
      where e.merchant_id = $1 and e.connection_id = $2 and e.order_id = $8 and e.id >= $6
        and e.position > $9 and (e.sequence, e.id) > ($10, $11::uuid)
        and (e.not_after is null or e.not_after > $3) and e.type <> 'webhook.ping' and ($4::text is null or e.type = $4)
        and (not $5::boolean or e.order_id is null or e.not_after is not null)
      order by e.sequence, e.id
      limit $7`,
    values: [...toValues(range), orderId, after.position, after.sequence, after.eventId],
  });
}

const toValues = ({ merchantId, connectionId, testOnly, limit, type, oldestId, now }: FeedRange) => [
  merchantId,
  connectionId,
  now,
  type,
  testOnly,
  oldestId,
  limit,
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

/** A position in the feed of a connection: after the event with this position. */
export type FeedPosition = { readonly position: string; readonly eventId: string };

/** A position in the feed of one order: after the event with this sequence and id. */
export type OrderPosition = { readonly orderId: string; readonly sequence: number; readonly eventId: string };

/** Before all events. */
export const FEED_START: FeedPosition = { position: "0", eventId: UUID_MIN };

const LIST = "events";
const LIST_OF_ORDER = "events of an order";
const POSITION_BYTES = 8;
const SEQUENCE_BYTES = 4;
const UUID_BYTES = 16;

/** The cursor of the page after this position of the feed. */
export function encodeFeedCursor({ position, eventId }: FeedPosition): string {
  const bytes = Buffer.alloc(POSITION_BYTES);
  bytes.writeBigInt64BE(BigInt(position));
  return encodeCursor(LIST, Buffer.concat([bytes, bytesOf(eventId)]));
}

/** The position that a cursor contains. Null if the text is not a cursor of the feed. */
export function decodeFeedCursor(cursor: string): FeedPosition | null {
  const bytes = decodeCursor(LIST, cursor);
  if (bytes === null) return null;
  // Until positions were counted for each connection, a transaction id and a sequence preceded the event.
  if (bytes.length === POSITION_BYTES + SEQUENCE_BYTES + UUID_BYTES)
    return { ...FEED_START, eventId: uuidOf(bytes.subarray(POSITION_BYTES + SEQUENCE_BYTES)) };
  if (bytes.length !== POSITION_BYTES + UUID_BYTES) return null;
  const position = bytes.readBigInt64BE();
  return position < 0n
    ? null
    : { position: position.toString(), eventId: uuidOf(bytes.subarray(POSITION_BYTES)) };
}

/** The cursor of the page after this position of an order's feed. */
export function encodeOrderCursor({ orderId, sequence, eventId }: OrderPosition): string {
  const bytes = Buffer.alloc(SEQUENCE_BYTES);
  bytes.writeInt32BE(sequence);
  return encodeCursor(LIST_OF_ORDER, Buffer.concat([bytes, bytesOf(orderId), bytesOf(eventId)]));
}

/** The position that a cursor contains. Null if the text is not a cursor of the feed of an order. */
export function decodeOrderCursor(cursor: string): OrderPosition | null {
  const bytes = decodeCursor(LIST_OF_ORDER, cursor);
  if (bytes?.length !== SEQUENCE_BYTES + UUID_BYTES + UUID_BYTES) return null;
  return {
    sequence: bytes.readInt32BE(),
    orderId: uuidOf(bytes.subarray(SEQUENCE_BYTES, SEQUENCE_BYTES + UUID_BYTES)),
    eventId: uuidOf(bytes.subarray(SEQUENCE_BYTES + UUID_BYTES)),
  };
}

/** A null restricts nothing. */
export type RecentFilter = {
  readonly orderId: string | null;
  readonly type: string | null;
  /** True: only events of test orders. False: only others. */
  readonly testMode: boolean | null;
};

/** After all events. */
export const FEED_END: FeedPosition = { position: NO_POSITION, eventId: UUID_MAX };

export type RecentPage = { readonly before: FeedPosition; readonly limit: number };

/** An event with what it is about. */
export type RecentRow = FeedRow & { readonly order_id: string | null; readonly test_mode: boolean };

/**
 * The events before a position of the feed, newest first. At most ROWS_READ_MAX are read, by events_position_idx or the index
 * of the order. Events without a position come before all others, and are sorted by id; one that gets a position between two
 * pages is not shown again.
 * @param oldestId no older event is shown
 */
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
    ? db.query<RecentRow>({
        name: "list-recent-events",
        text: `
          select f.position, f.id, f.body, f.order_id, f.test_mode, f.fits, f.is_last
          from (
            select e.position, e.id, e.body, e.order_id, e.not_after is not null as test_mode,
                   ((e.not_after is null or e.not_after > $5) and e.type <> 'webhook.ping'
                     and ($6::text is null or e.type = $6) and ($7::boolean is null or (e.not_after is not null) = $7)) as fits,
                   row_number() over (order by e.position desc, e.id desc) = 5000 as is_last
            from events e
            where e.merchant_id = $1 and e.connection_id = $2 and e.id >= $8
              and (e.position, e.id) < ($3::bigint, $4::uuid)
              and ($3::bigint < 9223372036854775807 or e.id < $4::uuid)
            order by e.position desc, e.id desc
            limit 5000) as f
          where f.fits or f.is_last
          order by f.position desc, f.id desc
          limit $9 + 1`,
        values,
      })
    : db.query<RecentRow>({
        name: "list-recent-events-of-order",
        text: `
          select f.position, f.id, f.body, f.order_id, f.test_mode, f.fits, f.is_last
          from (
            select e.position, e.id, e.body, e.order_id, e.not_after is not null as test_mode,
                   ((e.not_after is null or e.not_after > $5) and e.type <> 'webhook.ping'
                     and ($6::text is null or e.type = $6)
                     and ($7::boolean is null or (e.not_after is not null) = $7)) as fits,
                   row_number() over (order by e.position desc, e.id desc) = 5000 as is_last
            from events e
            where e.merchant_id = $1 and e.connection_id = $2 and e.id >= $8 and e.order_id = $10
              and (e.position, e.id) < ($3::bigint, $4::uuid)
              and ($3::bigint < 9223372036854775807 or e.id < $4::uuid)
            order by e.position desc, e.id desc
            limit 5000) as f
          where f.fits or f.is_last
          order by f.position desc, f.id desc
          limit $9 + 1`,
        values: [...values, orderId],
      });
}
