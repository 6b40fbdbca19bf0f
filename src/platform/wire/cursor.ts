import { createHash } from "node:crypto";
import { bytesOf, uuidOf } from "../ids.ts";
import { type Problem, validationFailed } from "./problems.ts";
import { PAGE_SIZE_DEFAULT } from "./schemas.ts";

// A cursor contains the position in a list after which its next page begins. For most lists, which are sorted by
// time-ordered ids, this is the last id. The checksum distinguishes a damaged cursor, or one of another list, from a
// valid one. It protects nothing, because a cursor gives no access that the key does not give.
const CHECKSUM_BYTES = 4;
const checksum = (list: string, position: Buffer): Buffer =>
  createHash("sha256").update(`cursor of ${list}:`).update(position).digest().subarray(0, CHECKSUM_BYTES);

/** An opaque cursor for the page of a list after this position. */
export const encodeCursor = (list: string, position: Buffer): string =>
  Buffer.concat([position, checksum(list, position)]).toString("base64url");

/** The position that a cursor contains. Null if the text is not a cursor of this list. */
export function decodeCursor(list: string, cursor: string): Buffer | null {
  const bytes = Buffer.from(cursor, "base64url");
  const position = bytes.subarray(0, -CHECKSUM_BYTES);
  if (bytes.toString("base64url") !== cursor) return null; // Decoding ignores what is not base64url.
  return bytes.subarray(-CHECKSUM_BYTES).equals(checksum(list, position)) ? position : null;
}

export const badCursor: Problem = validationFailed([{ parameter: "cursor", rule: "cursor" }]);

/** Sorts before every id: where a list begins that shows the oldest first. */
export const UUID_MIN = "00000000-0000-0000-0000-000000000000";
/** Sorts after every id: where a list begins that shows the newest first. */
export const UUID_MAX = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * Rows that a filtered list reads for one page, at most. If the page is not full by then, it is shorter, and its cursor
 * continues after the last row that was read (docs/design/isolation-and-limits.md, "Bounded lists").
 */
export const ROWS_READ_MAX = 5_000;

const TIME_BYTES = 8;

/** A place in a list that is sorted by change. Times have milliseconds. */
export type ChangedPlace = { readonly changedAt: Date; readonly id: string };

/** The cursor of the page after this place. */
export function encodeChanged(list: string, { changedAt, id }: ChangedPlace): string {
  const time = Buffer.alloc(TIME_BYTES);
  time.writeBigInt64BE(BigInt(changedAt.getTime()));
  return encodeCursor(list, Buffer.concat([time, bytesOf(id)]));
}

/** The place that a cursor contains. Null if the text is not a cursor of this list. */
export function decodeChanged(list: string, cursor: string): ChangedPlace | null {
  const bytes = decodeCursor(list, cursor);
  if (bytes?.length !== TIME_BYTES + 16) return null;
  return { changedAt: new Date(Number(bytes.readBigInt64BE())), id: uuidOf(bytes.subarray(TIME_BYTES)) };
}

type PageQuery = { limit?: number; cursor?: string };

/** Where a page of a list begins and how long it is. */
export type PagePosition = { list: string; afterId: string; limit: number };

export function pagePosition(
  list: string,
  { limit = PAGE_SIZE_DEFAULT, cursor }: PageQuery,
  start = UUID_MIN,
): PagePosition | Problem {
  if (cursor === undefined) return { list, afterId: start, limit };
  const position = decodeCursor(list, cursor);
  return position?.length === 16 ? { list, afterId: uuidOf(position), limit } : badCursor;
}

/**
 * A page of rows that were read with one more than `limit`. The extra row only shows that there is a next page.
 * @param readTo the id of the last row that was read, if reading ended before the page was full
 */
export function toPage<Row extends { id: string }, Wire>(
  rows: readonly Row[],
  { list, limit }: PagePosition,
  toWire: (row: Row) => Wire,
  readTo: string | null = null,
): { data: Wire[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const lastId = rows.length > limit ? (shown.at(-1)?.id ?? null) : readTo;
  return {
    data: shown.map(toWire),
    nextCursor: lastId === null ? null : encodeCursor(list, bytesOf(lastId)),
  };
}
