import type { ConnectionScope } from "../../access/scope.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { DAY_MS } from "../../platform/time.ts";
import { dayOf } from "./days/count-order-days.ts";
import { listCountedDays, sumOrderDays } from "./days/order-days-sql.ts";
import { countByDay, type DayCount, hasSingleConnections } from "./overview-sql.ts";

/** Orders of the last days that are counted with the request, and that one statement reads. */
const ORDERS_READ_MAX = 10_000;
/** Rows of order_days that are read: one for each merchant and day. */
const ROWS_MAX = 100_000;

export type OrdersByDay = {
  readonly counts: readonly DayCount[];
  /** The first day that is counted in full, in UTC. Earlier days were not read. */
  readonly completeSince: Date;
  /** When the days were counted that were not counted now. */
  readonly countedAt: ReadonlyMap<string, Date>;
};

/** Days from 1970: from `first`, and before `until`. */
type Days = { readonly first: number; readonly until: number };

/**
 * Orders by the day of their creation and their present status: the last days counted now, as far as that is quick, and
 * the days before as a job has counted them (decision 0149).
 * @param ordersReadMax orders that one statement counts now; counting ends when so many were counted
 */
export async function readOrdersByDay(
  db: Queryable,
  scope: ConnectionScope,
  days: number,
  now: Date,
  ordersReadMax = ORDERS_READ_MAX,
): Promise<OrdersByDay> {
  const today = Math.floor(now.getTime() / DAY_MS);
  const first = today - days + 1;
  const recent = await countNow(db, scope, { first, until: today + 1, ordersReadMax }, now);
  const stored = await readStored(db, scope, { first, until: recent.from });
  return {
    counts: [...stored.counts, ...recent.counts],
    completeSince: new Date(stored.from * DAY_MS),
    countedAt: stored.countedAt,
  };
}

type Part = { readonly counts: readonly DayCount[] /** The first day of the part. */; readonly from: number };

/** Counts day by day from today backwards until enough orders were read. Each statement reads more days than the one before. */
async function countNow(
  db: Queryable,
  scope: ConnectionScope,
  days: Days & { ordersReadMax: number },
  now: Date,
): Promise<Part> {
  const { ordersReadMax } = days;
  const counts: DayCount[] = [];
  let rowsRead = 0;
  let from = days.until;
  for (let span = 1; from > days.first && rowsRead < ordersReadMax; span *= 2) {
    const begin = Math.max(days.first, from - span);
    const range = { fromId: idAt(begin), untilId: from === days.until ? idAt(from + 1) : idAt(from) };
    const part = await countByDay(db, scope, { ...range, rowsMax: ordersReadMax }, now);
    if (part.isCut) break;
    counts.unshift(...part.counts);
    rowsRead += part.rowsRead;
    from = begin;
  }
  return { counts, from };
}

/** The stored figures of the days before, without a gap. They are of whole merchants, so single connections have none. */
async function readStored(
  db: Queryable,
  scope: ConnectionScope,
  { first, until }: Days,
): Promise<Part & { readonly countedAt: ReadonlyMap<string, Date> }> {
  if (until === first || hasSingleConnections(scope))
    return { counts: [], from: until, countedAt: new Map() };
  const counted = new Map(
    (await listCountedDays(db, dayOf(first), dayOf(until - 1))).map(({ day, countedAt }) => [day, countedAt]),
  );
  let from = until;
  while (from > first && counted.has(dayOf(from - 1))) from -= 1;
  if (from === until) return { counts: [], from, countedAt: new Map() };
  const range = { first: dayOf(from), last: dayOf(until - 1) };
  const { counts, rowsRead } = await sumOrderDays(db, scope?.merchantIds ?? null, {
    ...range,
    rowsMax: ROWS_MAX,
  });
  // The oldest day that was read may be incomplete.
  const oldest = rowsRead === ROWS_MAX ? (counts[0]?.day ?? range.last) : null;
  if (oldest !== null) from = Math.floor(Date.parse(`${oldest}T00:00:00Z`) / DAY_MS) + 1;
  const shown = counts.filter(({ day }) => day >= dayOf(from));
  return { counts: shown, from, countedAt: counted };
}

const idAt = (day: number): string => uuidAt(new Date(day * DAY_MS));
