import type { ConnectionScope } from "../../audit/grant.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { NO_UUID, uuidAt } from "../../platform/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../platform/time.ts";
import { dayIn, startOfDayIn } from "../../platform/time-zone.ts";
import {
  addCountedDays,
  claimCountedDay,
  countByDay,
  countByStatus,
  type DayCount,
  deleteCountedDay,
  deleteOrderDays,
  hasSingleConnections,
  listCountedDays,
  listMerchantsToCount,
  type StatusCount,
  storeCountedDay,
  storeOrderDays,
  sumOrderDays,
} from "./overview-sql.ts";

/** Orders of the last days that are counted with the request, and that one statement reads. */
const ORDERS_READ_MAX = 10_000;
/** Rows of order_days that are read: one for each merchant and day. */
const ROWS_MAX = 100_000;

export type OrdersByDay = {
  readonly counts: readonly DayCount[];
  /** The start of the first day that is counted in full. Earlier days were not read. */
  readonly completeSince: Date;
  /** When the days were counted that were not counted now. */
  readonly countedAt: ReadonlyMap<string, Date>;
};

/** Days from 1970: from `first`, and before `until`. */
type Days = { readonly first: number; readonly until: number };

/**
 * Orders by the day of their creation and their present status: the last days counted now, as far as that is quick, and the
 * days before as a job has counted them (docs/design/console.md, "Overview").
 * Days are those of the time zone; what a job has counted are days in UTC, which it shows as the days with the same date.
 * @param ordersReadMax orders that one statement counts now; counting ends when so many were counted
 */
export async function readOrdersByDay(
  db: Queryable,
  scope: ConnectionScope,
  { days, timeZone }: { readonly days: number; readonly timeZone: string },
  now: Date,
  ordersReadMax = ORDERS_READ_MAX,
): Promise<OrdersByDay> {
  const firstShown = dayIn(timeZone, now) - days + 1;
  const shownSince = startOfDayIn(timeZone, firstShown);
  const first = Math.floor(shownSince.getTime() / DAY_MS);
  const until = Math.floor(now.getTime() / DAY_MS) + 1;
  const recent = await countNow(db, scope, { first, until, ordersReadMax, timeZone }, now);
  const stored = await readStored(db, scope, { first, until: recent.from });
  const isComplete = stored.from === first;
  return {
    counts: sumUp([...stored.counts, ...recent.counts]).filter(({ day }) => day >= dayOf(firstShown)),
    completeSince: isComplete ? shownSince : new Date(stored.from * DAY_MS),
    countedAt: stored.countedAt,
  };
}

/** A day in a time zone can be partly one that was counted now, and one that a job has counted. */
const sumUp = (counts: readonly DayCount[]): DayCount[] =>
  [...Map.groupBy(counts, ({ day, status }) => `${day} ${status}`).values()].flatMap((same) =>
    same.slice(0, 1).map((one) => ({ ...one, count: same.reduce((sum, { count }) => sum + count, 0) })),
  );

type Part = { readonly counts: readonly DayCount[] /** The first day of the part. */; readonly from: number };

/** Counts day by day from today backwards until enough orders were read. Each statement reads more days than the one before. */
async function countNow(
  db: Queryable,
  scope: ConnectionScope,
  days: Days & { ordersReadMax: number; timeZone: string },
  now: Date,
): Promise<Part> {
  const { ordersReadMax, timeZone } = days;
  // A zone is up to 14 hours ahead of UTC, and 12 behind.
  const numbers = Array.from({ length: days.until - days.first + 3 }, (_, index) => days.first - 1 + index);
  const starts = numbers.map((number) => startOfDayIn(timeZone, number));
  const counts: DayCount[] = [];
  let rowsRead = 0;
  let from = days.until;
  for (let span = 1; from > days.first && rowsRead < ordersReadMax; span *= 2) {
    const begin = Math.max(days.first, from - span);
    const range = { fromId: idAt(begin), untilId: from === days.until ? idAt(from + 1) : idAt(from) };
    const part = await countByDay(db, scope, { ...range, rowsMax: ordersReadMax, starts }, now);
    if (part.isCut) break;
    counts.unshift(
      ...part.counts.map(({ place, ...counted }) => ({ day: dayOf(days.first - 2 + place), ...counted })),
    );
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

/** The overview shows no more days. */
const DAYS_KEPT = 90;
/** Merchants whose orders one statement counts. */
const MERCHANTS_OF_STATEMENT = 200;
/** Orders of each merchant that one statement counts. */
const ORDERS_OF_MERCHANT = 50_000;
/** A shorter span is not divided: the rate limits of a merchant's connections bound its orders. */
const SPAN_MIN_MS = MINUTE_MS;
/** If a worker ends while it counts a day, another one begins again after this time. */
const CLAIM_MS = HOUR_MS;
/** A day rests for so many times the time that counting it took: the job uses a small part of the database. */
const REST_FACTOR = 30;

/** How long figures are good, by the age of the day in days: the older it is, the fewer of its orders change. */
const PAUSES_MS: readonly (readonly [days: number, pauseMs: number])[] = [
  [1, 5 * MINUTE_MS],
  [7, HOUR_MS],
  [30, 6 * HOUR_MS],
];
const PAUSE_OF_OLD_DAYS_MS = DAY_MS;

/** Counts the orders of the days whose figures are due (docs/design/console.md, "Overview"). Returns how many days. */
export async function countOrderDays(
  { db, clock }: Pick<Context, "db" | "clock">,
  stopping?: AbortSignal,
): Promise<number> {
  const today = Math.floor(clock.now().getTime() / DAY_MS);
  await addCountedDays(db, dayOf(today - DAYS_KEPT + 1), dayOf(today), clock.now());
  for (let count = 0; ; count += 1) {
    const now = clock.now();
    const day = stopping?.aborted ? null : await claimCountedDay(db, now, new Date(now.getTime() + CLAIM_MS));
    if (day === null) return count;
    const age = today - numberOf(day);
    if (age < DAYS_KEPT) await countDay({ db, clock }, day, age, stopping);
    else await forgetDay(db, day);
  }
}

async function countDay(
  { db, clock }: Pick<Context, "db" | "clock">,
  day: string,
  age: number,
  stopping: AbortSignal | undefined,
): Promise<void> {
  const countedAt = clock.now();
  const startedMs = performance.now();
  for await (const merchantIds of merchantsOf(db)) {
    if (stopping?.aborted) return; // The day is claimed again when the claim has ended.
    const start = numberOf(day) * DAY_MS;
    const counts = await countBetween(db, merchantIds, { start, spanMs: DAY_MS }, countedAt);
    if (counts.length > 0) await storeOrderDays(db, day, counts, countedAt);
  }
  const pauseMs = PAUSES_MS.find(([days]) => age < days)?.[1] ?? PAUSE_OF_OLD_DAYS_MS;
  const restMs = Math.max(pauseMs, REST_FACTOR * (performance.now() - startedMs));
  await storeCountedDay(db, day, { countedAt, dueAt: new Date(countedAt.getTime() + restMs) });
}

async function forgetDay(db: Context["db"], day: string): Promise<void> {
  for await (const merchantIds of merchantsOf(db)) await deleteOrderDays(db, day, merchantIds);
  await deleteCountedDay(db, day);
}

async function* merchantsOf(db: Context["db"]): AsyncGenerator<string[]> {
  for (let after: string | undefined = NO_UUID; after !== undefined; ) {
    const ids = await listMerchantsToCount(db, after, MERCHANTS_OF_STATEMENT);
    if (ids.length > 0) yield ids;
    after = ids.length === MERCHANTS_OF_STATEMENT ? ids.at(-1) : undefined;
  }
}

/** Counts the orders of a time span. If a merchant has very many of them, the span is divided: each statement is short. */
async function countBetween(
  db: Context["db"],
  merchantIds: readonly string[],
  { start, spanMs }: { start: number; spanMs: number },
  now: Date,
): Promise<StatusCount[]> {
  const range = { fromId: uuidAt(new Date(start)), untilId: uuidAt(new Date(start + spanMs)) };
  const counts = await countByStatus(db, merchantIds, { ...range, rowsMax: ORDERS_OF_MERCHANT }, now);
  const isWhole = [...Map.groupBy(counts, ({ merchantId }) => merchantId).values()].every(
    (ofMerchant) => ofMerchant.reduce((sum, { count }) => sum + count, 0) < ORDERS_OF_MERCHANT,
  );
  if (isWhole || spanMs <= SPAN_MIN_MS) return counts;
  const half = spanMs / 2;
  return [
    ...(await countBetween(db, merchantIds, { start, spanMs: half }, now)),
    ...(await countBetween(db, merchantIds, { start: start + half, spanMs: half }, now)),
  ];
}

/** Days are counted from 1970. */
const dayOf = (number: number): string => new Date(number * DAY_MS).toISOString().slice(0, 10);

const numberOf = (day: string): number => Math.floor(Date.parse(`${day}T00:00:00Z`) / DAY_MS);
