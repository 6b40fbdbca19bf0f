import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { DAY_MS } from "../../platform/time.ts";
import { countByDay, type DayCount } from "./overview-sql.ts";

/** Reading ends after the day with which so many orders have been read. */
const ORDERS_READ_MAX = 20_000;
/** Orders that one statement reads. If its days have more of them, these days are not shown. */
const ORDERS_OF_STATEMENT = 30_000;

export type OrdersByDay = {
  readonly counts: readonly DayCount[];
  /** The first day that is counted in full, in UTC. Earlier days were not read. */
  readonly completeSince: Date;
};

/**
 * Orders by the day of their creation and their present status, from today backwards: as many days as were requested, or
 * fewer if there are very many orders (decision 0139). Each statement reads more days than the one before.
 */
export async function readOrdersByDay(
  db: Queryable,
  merchantIds: readonly string[] | null,
  days: number,
  now: Date,
): Promise<OrdersByDay> {
  const today = Math.floor(now.getTime() / DAY_MS);
  const first = today - days + 1;
  const counts: DayCount[] = [];
  let rowsRead = 0;
  for (let until = today + 1, span = 1; until > first; span *= 2) {
    const from = Math.max(first, until - span);
    const range = { fromId: idAt(from), untilId: until > today ? idAt(today + 2) : idAt(until) };
    const part = await countByDay(db, merchantIds, { ...range, rowsMax: ORDERS_OF_STATEMENT }, now);
    if (part.isCut) return { counts, completeSince: new Date(until * DAY_MS) };
    counts.unshift(...part.counts);
    rowsRead += part.rowsRead;
    until = from;
    if (rowsRead >= ORDERS_READ_MAX || until === first)
      return { counts, completeSince: new Date(from * DAY_MS) };
  }
  return { counts, completeSince: new Date(first * DAY_MS) };
}

const idAt = (day: number): string => uuidAt(new Date(Math.max(0, day * DAY_MS)));
