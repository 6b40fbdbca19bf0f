import type { KeyAccess } from "../merchants/key-mode.ts";
import type { Queryable } from "../platform/database/database.ts";
import { ROWS_READ_MAX } from "../platform/wire/cursor.ts";
import type { EventType } from "./event-types.ts";
import { PING } from "./event-types.ts";
import type { FeedPosition } from "./feed-cursor.ts";
import { NO_POSITION } from "./positions-sql.ts";

export type FeedRow = {
  position: string;
  id: string;
  body: string;
  /** False for the last row that was read, if it is only returned to continue from it. */
  fits: boolean;
  /** True for the last row that was read, if reading ended before the page was full. */
  is_last: boolean;
};

/** What a page of the feed is read from, and how much of it. */
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

/** A test key sees no events of real orders (decision 0074): only those of test orders expire. */
const FITS = `(e.not_after is null or e.not_after > $3) and e.type <> '${PING}' and ($4::text is null or e.type = $4)
                and (not $5::boolean or e.order_id is null or e.not_after is not null)`;

/** A page of the feed, and whether events have no position yet, at the same moment. */
type FeedRead = { readonly rows: readonly FeedRow[]; readonly hasUnnumbered: boolean };

/**
 * The events after a position of the feed that fit the filter (decision 0027). No index has the type, so it reads the
 * events by their position, but at most ROWS_READ_MAX. The last of these is returned even if it does not fit.
 */
export async function listFeed(db: Queryable, range: FeedRange, after: FeedPosition): Promise<FeedRead> {
  const rows = await db.query<{ has_unnumbered: boolean } & (FeedRow | { id: null })>({
    name: "list-feed",
    text: `
      select unnumbered.found as has_unnumbered, page.position, page.id, page.body, page.fits, page.is_last
      from (
        select exists (
          select from events e
          where e.merchant_id = $1 and e.connection_id = $2 and e.id >= $9 and e.position = ${NO_POSITION}) as found
      ) as unnumbered
      left join lateral (
        select f.position, f.id, f.body, f.fits, f.is_last
        from (
          select e.position, e.id, e.body, (${FITS}) as fits,
                 row_number() over (order by e.position) = ${ROWS_READ_MAX} as is_last
          from events e
          where e.merchant_id = $1 and e.connection_id = $2 and e.id >= $6
            and e.position > $8 and e.position < ${NO_POSITION}
          order by e.position
          limit ${ROWS_READ_MAX}) as f
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
        and e.position > $9 and (e.sequence, e.id) > ($10, $11::uuid) and ${FITS}
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
