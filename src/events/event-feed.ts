import type { KeyAccess } from "../merchants/key-mode.ts";
import type { Queryable } from "../platform/database/database.ts";
import { momentOf, uuidAt } from "../platform/ids.ts";
import { EVENTS_KEPT_MS } from "../platform/retention.ts";
import { before, CLOCK_SKEW_MAX_MS } from "../platform/time.ts";
import { badCursor, PAGE_SIZE_DEFAULT } from "../platform/wire/cursor.ts";
import type { Problem } from "../platform/wire/problems.ts";
import type { EventType } from "./event-types.ts";
import { decodeFeedCursor, encodeFeedCursor, FEED_START } from "./feed-cursor.ts";
import { type FeedPosition, type FeedRow, listFeed, listFeedOfOrder } from "./feed-sql.ts";

/** The oldest id of an event that is shown at `now`. */
export const oldestShownId = (now: Date): string => uuidAt(before(now, EVENTS_KEPT_MS));

/**
 * The largest difference between the age of an event, by its id, and that of its neighbors in the feed. Transactions
 * are short, and the clocks of the processes differ little. Partitions of earlier days are not read.
 */
const DISORDER_MAX_MS = CLOCK_SKEW_MAX_MS;

type FeedQuery = { cursor?: string; limit?: number };
type FeedFilter = { orderId: string | null; type: EventType | null };

/** The requested page of the feed. */
export type FeedPage = { after: FeedPosition; limit: number };

export function feedPage({ cursor, limit = PAGE_SIZE_DEFAULT }: FeedQuery): FeedPage | Problem {
  if (cursor === undefined) return { after: FEED_START, limit };
  const after = decodeFeedCursor(cursor);
  return after === null ? badCursor : { after, limit };
}

/**
 * A page of the feed as JSON text. Each event is byte for byte the one that endpoints receive (decision 0027).
 * `nextCursor` is null only if the page is empty: the feed has no last page, and a reader at the end keeps its cursor. An
 * empty page has one if reading ended before anything fit the filter.
 */
export async function readFeed(
  db: Queryable,
  access: KeyAccess,
  { after, limit }: FeedPage,
  { orderId, type }: FeedFilter,
  now: Date,
): Promise<string> {
  const page = { ...access, after, limit, type, oldestId: oldestIdAfter(after, now), now };
  const rows = orderId === null ? await listFeed(db, page) : await listFeedOfOrder(db, page, orderId);
  // Rows after the one at which reading ended are of the later part of the feed: the next page begins before them.
  const end = rows.findIndex((row) => row.is_last);
  const read = end === -1 ? rows : rows.slice(0, end + 1);
  const last = read.at(-1);
  const nextCursor = last === undefined ? "null" : `"${encodeFeedCursor(positionOf(last))}"`;
  const bodies = read.filter(({ fits }) => fits).map(({ body }) => body);
  return `{"data":[${bodies.join(",")}],"nextCursor":${nextCursor}}`;
}

const positionOf = ({ feed_position, sequence, id }: FeedRow): FeedPosition => ({
  transactionId: feed_position,
  sequence,
  eventId: id,
});

function oldestIdAfter({ eventId }: FeedPosition, now: Date): string {
  const moment = momentOf(eventId).getTime() - DISORDER_MAX_MS;
  const [oldestShown, oldestAfter] = [oldestShownId(now), uuidAt(new Date(Math.max(0, moment)))];
  return oldestAfter > oldestShown ? oldestAfter : oldestShown; // UUIDs compare like their texts.
}
