import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import { badCursor, PAGE_SIZE_DEFAULT } from "../platform/wire/cursor.ts";
import type { Problem } from "../platform/wire/problems.ts";
import { oldestShownId } from "./event-feed.ts";
import { decodeFeedCursor, encodeFeedCursor } from "./feed-cursor.ts";
import { FEED_END, listRecentEvents, type RecentFilter, type RecentPage } from "./recent-events-sql.ts";

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
 * A page of a connection's events, newest first, as JSON text: the feed read backwards (decision 0141). Each event is byte
 * for byte the one that endpoints receive. An event that commits while a caller pages backwards may be missing; a partner
 * that must miss none follows the feed.
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
