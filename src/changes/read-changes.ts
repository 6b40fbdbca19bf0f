import { type Context, inTransaction } from "../platform/context.ts";
import type { Database, Queryable } from "../platform/database/database.ts";
import type { Partition } from "../platform/database/day-partitions.ts";
import { momentOf, uuidAt } from "../platform/ids.ts";
import { after, before, CLOCK_SKEW_MAX_MS, DAY_MS } from "../platform/time.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";
import type { ChangeKind } from "./change.ts";
import {
  type ChangeRow,
  type ChangeScope,
  type FeedState,
  listChanges,
  listUnnumbered,
  lockFeed,
  numberChanges,
  positionAt,
  readFeedState,
  readLastPosition,
  saveDroppedPosition,
  saveUnnumberedFrom,
  takePositions,
} from "./changes-sql.ts";

/** Changes that get their positions in one transaction, which holds the lock of the feed. */
const NUMBERED_TOGETHER_MAX = 1_000;
/** Such transactions of one reader. A feed that was not read for long is numbered by several requests. */
const BATCHES_MAX = 10;
/** A reader that finds nothing gets a later cursor if its own is older, so that a cursor in use never expires. */
const CURSOR_RENEWED_MS = DAY_MS;

export type { ChangeRow, ChangeScope } from "./changes-sql.ts";

type ReadContext = Pick<Context, "db" | "clock">;

/** A place in the feed: the next one is the object with this index of the change with this position, or of a later one. */
export type ChangePosition = { readonly position: bigint; readonly index: number };

export const FEED_START: ChangePosition = { position: 0n, index: 0 };

/** An object that has changed. */
export type Change = Omit<ChangeRow, "kinds" | "objectIds"> & {
  readonly kind: ChangeKind;
  readonly objectId: string;
  /** Counts the objects of a change from 0. */
  readonly index: number;
};

type ChangePage = {
  readonly outcome: "read";
  readonly changes: readonly Change[];
  /** Where the next page begins. Null at the end of the feed. */
  readonly next: ChangePosition | null;
};

/** `expired`: changes after the position may have been dropped, so the reader could miss some. */
export type ReadFeed = ChangePage | { readonly outcome: "expired" };

export type ChangeRequest = {
  readonly scope: ChangeScope;
  /** Null: all that the scope shows. */
  readonly merchantIds: readonly string[] | null;
  /** Null: the end of the feed, to follow it from there. */
  readonly from: ChangePosition | null;
  readonly limit: number;
};

/**
 * A page of the feed of changes, after those that have no position yet got theirs (docs/design/event-feed.md, "The change feed of
 * the back office"). Positions are only ever added at the end, by any reader, so one that continues from `next` misses
 * nothing.
 */
export async function readChanges(
  context: ReadContext,
  { scope, merchantIds, from, limit }: ChangeRequest,
): Promise<ReadFeed> {
  const { db } = context;
  if (from === null) {
    await numberAll(context, merchantIds); // What has changed so far comes before the end.
    return { outcome: "read", changes: [], next: await endOfFeed(context) };
  }
  const { droppedPosition } = await readFeedState(db);
  // A reader at the start asks for all that there is.
  if (from.position > 0n && from.position < droppedPosition) return { outcome: "expired" };
  const isOld = from.position < positionAt(before(context.clock.now(), CURSOR_RENEWED_MS));
  if (isOld) await endOfFeed(context); // Before the numbering, so that what it numbers is not beyond the later cursor.
  const upTo = await numberAll(context, merchantIds);
  const range = { from: from.position, upTo: upTo ?? from.position - 1n, limit: limit + 1 };
  const { rows, readTo } = await listChanges(db, scope, merchantIds, range);
  const found = rows
    .flatMap((row) => shownOf(row, scope))
    .filter(({ position, index }) => position > from.position || index >= from.index);
  const changes = found.slice(0, limit);
  const next = found[limit] ?? afterLast(readTo ?? rows.at(-1)?.position);
  return { outcome: "read", changes, next: next ?? (isOld && upTo !== null ? afterLast(upTo) : null) };
}

/**
 * Gives positions to the changes of these merchants that have none. Returns the position up to which `listWholeChanges` may read. Null:
 * there are too many, and the next call continues.
 */
export const numberChangesOf = (
  context: ReadContext,
  merchantIds: readonly string[] | null,
): Promise<bigint | null> => numberAll(context, merchantIds);

/** Changes with all of their objects, and where the feed continues after them. */
type WholeChanges = { readonly changes: readonly ChangeRow[]; readonly next: bigint };

/** The changes of a scope in a range of positions, of at most `limit` objects or one change, for a reader that has numbered them. */
export async function listWholeChanges(
  { db }: ReadContext,
  scope: ChangeScope,
  merchantIds: readonly string[] | null,
  range: { readonly from: bigint; readonly upTo: bigint; readonly limit: number },
): Promise<WholeChanges> {
  const { rows, readTo } = await listChanges(db, scope, merchantIds, range);
  let objects = 0;
  const end = rows.findIndex(({ kinds }, index) => {
    objects += kinds.length;
    return index > 0 && objects > range.limit;
  });
  const changes = end < 0 ? rows : rows.slice(0, end);
  const isCut = end >= 0 || rows.length === range.limit;
  const last = isCut ? changes.at(-1)?.position : readTo;
  return { changes, next: (last ?? range.upTo) + 1n };
}

/** Where the feed continues with what changes from now on. */
export async function endOfChanges(context: ReadContext): Promise<bigint> {
  await numberAll(context, null);
  return (await endOfFeed(context)).position;
}

const afterLast = (position: bigint | undefined): ChangePosition | null =>
  position === undefined ? null : { position: position + 1n, index: 0 };

/** The end of the feed: what is numbered later comes after it. */
async function endOfFeed(context: ReadContext): Promise<ChangePosition> {
  const position = await inTransaction(context, async (tx) => {
    await lockFeed(tx);
    return takePositions(tx, 0, context.clock.now());
  });
  return { position: position + 1n, index: 0 };
}

/**
 * Gives positions to the changes of these merchants that have none. Returns the position up to which all changes are stored with
 * their positions. Null if there are too many, and a node of Citus may not show all that others have numbered yet.
 *
 * The state is read before the changes: those with positions up to its last one are shown by all nodes, or are still found
 * without one. Then the update waits for the node that has not finished their transaction.
 */
async function numberAll(
  context: ReadContext,
  merchantIds: readonly string[] | null,
): Promise<bigint | null> {
  const { db, clock } = context;
  const now = clock.now();
  let upTo = 0n;
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const state = await readFeedState(db);
    const range = { fromId: state.unnumberedFrom, untilId: uuidAt(after(now, CLOCK_SKEW_MAX_MS)) };
    const unnumbered = await listUnnumbered(db, merchantIds, range, NUMBERED_TOGETHER_MAX);
    upTo = unnumbered.length === 0 ? state.lastPosition : await numberNext(context, merchantIds, range);
    if (unnumbered.length === NUMBERED_TOGETHER_MAX) continue;
    if (merchantIds === null) await forgetNumbered(db, state, now);
    return upTo;
  }
  return (await db.isDistributed()) ? null : upTo;
}

/** Numbers the next changes, under the lock of the feed. Returns the last position. */
const numberNext = (
  context: ReadContext,
  merchantIds: readonly string[] | null,
  range: { readonly fromId: string; readonly untilId: string },
): Promise<bigint> =>
  inTransaction(context, async (tx) => {
    await lockFeed(tx);
    // A statement that begins after the lock was taken sees what the reader before has numbered.
    const keys = await listUnnumbered(tx, merchantIds, range, NUMBERED_TOGETHER_MAX);
    const last = await takePositions(tx, keys.length, context.clock.now());
    if (keys.length > 0) await numberChanges(tx, keys, last - BigInt(keys.length));
    return last;
  });

/** All merchants are numbered. No transaction lasts so long that a change with an older id is still to come. */
async function forgetNumbered(db: Queryable, { unnumberedFrom }: FeedState, now: Date): Promise<void> {
  const numberedTo = before(now, 2 * CLOCK_SKEW_MAX_MS);
  const known = unnumberedFrom === UUID_MIN ? new Date(0) : momentOf(unnumberedFrom);
  if (numberedTo.getTime() - known.getTime() > CLOCK_SKEW_MAX_MS)
    await saveUnnumberedFrom(db, uuidAt(numberedTo));
}

/** The objects of a change that the scope shows. */
function shownOf(row: ChangeRow, { kinds, ofMerchants, ofFacilities }: ChangeScope): Change[] {
  const { kinds: changed, objectIds, ...of } = row;
  const here = row.facilityId !== null && ofFacilities.ids.includes(row.facilityId);
  const left = row.leftFacilityId !== null && ofFacilities.ids.includes(row.leftFacilityId);
  const own = ofMerchants.ids.includes(row.merchantId);
  const staying: readonly ChangeKind[] = [
    ...kinds,
    ...(own ? ofMerchants.kinds : []),
    ...(here ? ofFacilities.kinds : []),
  ];
  return changed.flatMap((kind, index) => {
    const objectId = objectIds[index] ?? ""; // The database has checked that there is one for each kind.
    if (staying.includes(kind)) return [{ ...of, kind, objectId, index }];
    // Who has it now is not for those whom it has left.
    return left && ofFacilities.kinds.includes(kind)
      ? [{ ...of, facilityId: null, kind, objectId, index, isGone: true }]
      : [];
  });
}

/**
 * Notes that the changes of a day are dropped, before they are. A change without a position was made after each cursor that shows
 * its merchant was given, so such a cursor is of an earlier time than the end of the day.
 */
export async function noteDropped(db: Database, { from, to }: Partition): Promise<void> {
  const last = await readLastPosition(db, uuidAt(from), uuidAt(to));
  await saveDroppedPosition(db, last > positionAt(to) ? last : positionAt(to));
}
