import type { KeyAccess } from "../../merchants/api-key.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { momentOf, uuidAt } from "../../platform/ids.ts";
import { before, CLOCK_SKEW_MAX_MS, EVENTS_KEPT_MS } from "../../platform/time.ts";
import { badCursor, ROWS_READ_MAX } from "../../platform/wire/cursor.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import { PAGE_SIZE_DEFAULT } from "../../platform/wire/schemas.ts";
import type { EventType } from "./event.ts";
import {
  decodeFeedCursor,
  decodeOrderCursor,
  encodeFeedCursor,
  encodeOrderCursor,
  FEED_END,
  FEED_START,
  type FeedPosition,
  type FeedRange,
  type FeedRow,
  listFeed,
  listFeedOfOrder,
  listRecentEvents,
  type OrderFeedStart,
  type OrderPosition,
  type RecentFilter,
  type RecentPage,
} from "./feed-sql.ts";
import { NUMBERED_TOGETHER_MAX, numberNextEvents } from "./number-events.ts";

/** The oldest id of an event that is shown at `now`. */
export const oldestShownId = (now: Date): string => uuidAt(before(now, EVENTS_KEPT_MS));

/**
 * The largest difference between the age of an event, by its id, and that of its neighbors in the feed. Transactions
 * are short, and the clocks of the processes differ little. Partitions of earlier days are not read.
 */
const DISORDER_MAX_MS = CLOCK_SKEW_MAX_MS;

/** Batches of events that one request numbers, at most: as many as it reads. */
const BATCHES_MAX = ROWS_READ_MAX / NUMBERED_TOGETHER_MAX;

type FeedQuery = { cursor?: string; limit?: number };
type FeedFilter = { orderId: string | null; type: EventType | null };

/** The requested page of the feed. */
export type FeedPage = { readonly after: FeedPosition | OrderPosition; readonly limit: number };

export function feedPage({ cursor, limit = PAGE_SIZE_DEFAULT }: FeedQuery): FeedPage | Problem {
  if (cursor === undefined) return { after: FEED_START, limit };
  const after = decodeFeedCursor(cursor) ?? decodeOrderCursor(cursor);
  return after === null ? badCursor : { after, limit };
}

/**
 * A page of the feed as JSON text. Each event is byte for byte the one that endpoints receive
 * (docs/design/event-feed.md, "Positions when read"). `nextCursor` is null only if the page is empty: the feed has no last
 * page, and a reader at the end keeps its cursor. An empty page has one if reading ended before anything fit the filter.
 */
export async function readFeed(
  context: Pick<Context, "db" | "clock">,
  access: KeyAccess,
  { after, limit }: FeedPage,
  { orderId, type }: FeedFilter,
): Promise<string> {
  const now = context.clock.now();
  const oldestId = oldestIdAfter(after, now);
  const range = { ...access, limit, type, oldestShownId: oldestShownId(now), oldestId, now };
  if (orderId === null) return pageOfFeed(await readNumbered(context, range, positionOf(after)));
  const rows = await listFeedOfOrder(context.db, range, orderId, startOf(after, orderId));
  const last = rows.at(-1);
  return toJson(
    rows,
    last === undefined ? null : encodeOrderCursor({ orderId, sequence: last.sequence, eventId: last.id }),
  );
}

/** The events after a position. If they do not fill the page, those that have no position yet get theirs. */
async function readNumbered(
  context: Pick<Context, "db" | "clock">,
  range: FeedRange,
  after: FeedPosition,
): Promise<readonly FeedRow[]> {
  let read = await listFeed(context.db, range, after);
  for (
    let batch = 0;
    batch < BATCHES_MAX && read.hasUnnumbered && !isComplete(read.rows, range.limit);
    batch += 1
  ) {
    await numberNextEvents(context, range, range.oldestShownId);
    read = await listFeed(context.db, range, after);
  }
  return read.rows;
}

const isComplete = (rows: readonly FeedRow[], limit: number): boolean =>
  rows.length === limit || (rows.at(-1)?.is_last ?? false);

function pageOfFeed(rows: readonly FeedRow[]): string {
  const last = rows.at(-1);
  const cursor = last && encodeFeedCursor({ position: last.position, eventId: last.id });
  return toJson(
    rows.filter(({ fits }) => fits),
    cursor ?? null,
  );
}

const toJson = (rows: readonly { readonly body: string }[], nextCursor: string | null): string =>
  `{"data":[${rows.map(({ body }) => body).join(",")}],"nextCursor":${nextCursor === null ? "null" : `"${nextCursor}"`}}`;

/** Where the whole feed continues. After a cursor of one order it repeats the events of the last hour before it. */
const positionOf = (after: FeedPosition | OrderPosition): FeedPosition =>
  "position" in after ? after : { ...FEED_START, eventId: after.eventId };

/** Where the feed of an order continues. After a cursor of another order it does the same. */
const startOf = (after: FeedPosition | OrderPosition, orderId: string): OrderFeedStart =>
  "orderId" in after && after.orderId === orderId
    ? { position: FEED_START.position, sequence: after.sequence, eventId: after.eventId }
    : { position: positionOf(after).position, sequence: 0, eventId: FEED_START.eventId };

function oldestIdAfter({ eventId }: { readonly eventId: string }, now: Date): string {
  const [oldestShown, oldestAfter] = [oldestShownId(now), uuidAt(before(momentOf(eventId), DISORDER_MAX_MS))];
  return oldestAfter > oldestShown ? oldestAfter : oldestShown; // UUIDs compare like their texts.
}

/** The orders that the events of a page are about. */
type ShownOrder = ConnectionKey & { readonly id: string; readonly testMode: boolean };

/** The requested page, or the error of its cursor. */
export function recentPage({
  cursor,
  limit = PAGE_SIZE_DEFAULT,
}: {
  cursor?: string;
  limit?: number;
}): RecentPage | Problem {
  if (cursor === undefined) return { before: FEED_END, limit };
  const before = decodeFeedCursor(cursor);
  return before === null ? badCursor : { before, limit };
}

/**
 * A page of a connection's events, newest first, as JSON text: the feed read backwards
 * (docs/design/people.md, "Partners' developers"). Each event is byte for byte the one that endpoints receive. An event that
 * commits while a caller pages backwards may be missing; a partner that must miss none follows the feed.
 */
export async function readRecentEvents(
  { db, clock }: Pick<Context, "db" | "clock">,
  connection: ConnectionKey,
  filter: RecentFilter,
  page: RecentPage,
): Promise<{ json: string; orders: ShownOrder[] }> {
  const now = clock.now();
  const rows = await listRecentEvents(db, connection, filter, page, { now, oldestId: oldestShownId(now) });
  const read = rows.slice(0, page.limit);
  const last = rows.length > page.limit ? read.at(-1) : rows.find((row) => row.is_last);
  const shown = read.filter(({ fits }) => fits);
  const nextCursor =
    last === undefined ? "null" : `"${encodeFeedCursor({ position: last.position, eventId: last.id })}"`;
  const orders = new Map(
    shown.flatMap(({ order_id: id, test_mode: testMode }): [string, ShownOrder][] =>
      id === null ? [] : [[id, { ...connection, id, testMode }]],
    ),
  );
  return {
    json: `{"data":[${shown.map(({ body }) => body).join(",")}],"nextCursor":${nextCursor}}`,
    orders: [...orders.values()],
  };
}
