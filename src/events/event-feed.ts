import type { Queryable } from "../platform/database/database.ts";
import { bytesOf, momentOf, uuidAt, uuidOf } from "../platform/ids.ts";
import { EVENTS_KEPT_MS } from "../platform/retention.ts";
import { before, CLOCK_SKEW_MAX_MS } from "../platform/time.ts";
import { badCursor, decodeCursor, encodeCursor, PAGE_SIZE_DEFAULT } from "../platform/wire/cursor.ts";
import type { Problem } from "../platform/wire/problems.ts";
import type { EventType } from "./event-types.ts";
import { type FeedPlace, type FeedRow, listFeed, listFeedOfOrder } from "./feed-sql.ts";

/** The oldest id of an event that is shown at `now`. */
export const oldestShownId = (now: Date): string => uuidAt(before(now, EVENTS_KEPT_MS));

/**
 * How much older than its neighbours in the feed an event may be by its id: steps are short, and the clocks of the
 * processes not far apart. It only spares the reading of days that can hold nothing.
 */
const DISORDER_MAX_MS = CLOCK_SKEW_MAX_MS;

/** Before every event. */
const START: FeedPlace = { transactionId: "0", eventId: "00000000-0000-0000-0000-000000000000" };

type FeedQuery = { cursor?: string; limit?: number };
type FeedFilter = { orderId: string | null; type: EventType | null };

/** Where a reader of the feed has come to, and how much it wants. */
export type FeedPosition = { after: FeedPlace; limit: number };

export function feedPosition({ cursor, limit = PAGE_SIZE_DEFAULT }: FeedQuery): FeedPosition | Problem {
  if (cursor === undefined) return { after: START, limit };
  const after = decodePlace(cursor);
  return after === null ? badCursor : { after, limit };
}

/**
 * A page of the feed as JSON text, in which the events are byte for byte what endpoints are sent (decision 0027).
 * `nextCursor` is null on an empty page only: there is no last page of a feed, and a reader that has come to the end
 * keeps its cursor.
 */
export async function readFeed(
  db: Queryable,
  connectionId: string,
  { after, limit }: FeedPosition,
  { orderId, type }: FeedFilter,
  now: Date,
): Promise<string> {
  const page = { connectionId, after, limit, type, oldestId: oldestIdAfter(after, now), now };
  const rows = orderId === null ? await listFeed(db, page) : await listFeedOfOrder(db, page, orderId);
  const last = rows.at(-1);
  const nextCursor = last === undefined ? "null" : `"${encodePlace(last)}"`;
  return `{"data":[${rows.map(({ body }) => body).join(",")}],"nextCursor":${nextCursor}}`;
}

function oldestIdAfter({ eventId }: FeedPlace, now: Date): string {
  const moment = momentOf(eventId).getTime() - DISORDER_MAX_MS;
  const [oldestShown, oldestAfter] = [oldestShownId(now), uuidAt(new Date(Math.max(0, moment)))];
  return oldestAfter > oldestShown ? oldestAfter : oldestShown; // Ids compare as their text does.
}

const LIST = "events";
const TRANSACTION_BYTES = 8;

function encodePlace({ transaction_id, id }: FeedRow): string {
  const transaction = Buffer.alloc(TRANSACTION_BYTES);
  transaction.writeBigUInt64BE(BigInt(transaction_id));
  return encodeCursor(LIST, Buffer.concat([transaction, bytesOf(id)]));
}

function decodePlace(cursor: string): FeedPlace | null {
  const place = decodeCursor(LIST, cursor);
  if (place?.length !== TRANSACTION_BYTES + 16) return null;
  return {
    transactionId: place.readBigUInt64BE().toString(),
    eventId: uuidOf(place.subarray(TRANSACTION_BYTES)),
  };
}
