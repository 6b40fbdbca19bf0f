import { createHash } from "node:crypto";
import { bytesOf, uuidOf } from "../ids.ts";
import { type Problem, validationFailed } from "./problems.ts";

// A cursor holds the place in a list after which its next page begins: for most lists, which are in the order of
// time-ordered ids, the last id seen. The checksum is there to tell a mangled cursor, or one of another list, from a
// real one; it guards nothing, since a cursor opens nothing that the key does not.
const CHECKSUM_BYTES = 4;
const checksum = (list: string, place: Buffer): Buffer =>
  createHash("sha256").update(`cursor of ${list}:`).update(place).digest().subarray(0, CHECKSUM_BYTES);

/** An opaque cursor for the page of a list after this place. */
export const encodeCursor = (list: string, place: Buffer): string =>
  Buffer.concat([place, checksum(list, place)]).toString("base64url");

/** The place that a cursor stands for; null when the text is no cursor of this list. */
export function decodeCursor(list: string, cursor: string): Buffer | null {
  const bytes = Buffer.from(cursor, "base64url");
  const place = bytes.subarray(0, -CHECKSUM_BYTES);
  if (bytes.length < CHECKSUM_BYTES || bytes.toString("base64url") !== cursor) return null;
  return bytes.subarray(-CHECKSUM_BYTES).equals(checksum(list, place)) ? place : null;
}

export const badCursor: Problem = validationFailed([
  { parameter: "cursor", detail: "is not a valid cursor of this list" },
]);

/** Before every id: where a list that has the oldest first begins. */
export const START = "00000000-0000-0000-0000-000000000000";
/** After every id: where a list that has the newest first begins. */
export const NEWEST_FIRST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 100;

type PageQuery = { limit?: number; cursor?: string };

/** Where a page of a list begins and how long it is. */
export type PagePosition = { list: string; afterId: string; limit: number };

export function pagePosition(
  list: string,
  { limit = PAGE_SIZE_DEFAULT, cursor }: PageQuery,
  start = START,
): PagePosition | Problem {
  if (cursor === undefined) return { list, afterId: start, limit };
  const place = decodeCursor(list, cursor);
  return place?.length === 16 ? { list, afterId: uuidOf(place), limit } : badCursor;
}

/** A page of rows that were read with one more than `limit`: the extra one only tells that there is a next page. */
export function toPage<Row extends { id: string }, Wire>(
  rows: readonly Row[],
  { list, limit }: PagePosition,
  toWire: (row: Row) => Wire,
): { data: Wire[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    data: shown.map(toWire),
    nextCursor: last === undefined ? null : encodeCursor(list, bytesOf(last.id)),
  };
}
