import { createHash } from "node:crypto";
import { parseUuid } from "../ids.ts";
import { type Problem, validationFailed } from "./problems.ts";

// Every list is in the order of time-ordered ids, so a position is the last id seen. The checksum is there to tell
// a mangled cursor, or one of another list, from a real one; it guards nothing, since a cursor opens nothing that the
// key does not.
const CHECKSUM_BYTES = 4;
const checksum = (list: string, id: Buffer): Buffer =>
  createHash("sha256").update(`cursor of ${list}:`).update(id).digest().subarray(0, CHECKSUM_BYTES);

/** An opaque cursor for the page of a list after the thing with this id. */
function encodeCursor(list: string, lastId: string): string {
  const id = Buffer.from(lastId.replaceAll("-", ""), "hex");
  return Buffer.concat([id, checksum(list, id)]).toString("base64url");
}

/** The id that a cursor stands for; null when the text is no cursor of this list. */
function decodeCursor(list: string, cursor: string): string | null {
  const bytes = Buffer.from(cursor, "base64url");
  const id = bytes.subarray(0, -CHECKSUM_BYTES);
  if (id.length !== 16 || bytes.toString("base64url") !== cursor) return null;
  if (!bytes.subarray(-CHECKSUM_BYTES).equals(checksum(list, id))) return null;
  return parseUuid(id.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"));
}

/** Before every id: where a list begins. */
const START = "00000000-0000-0000-0000-000000000000";

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 100;

type PageQuery = { limit?: number; cursor?: string };

/** Where a page of a list begins and how long it is. */
export type PagePosition = { list: string; afterId: string; limit: number };

export function pagePosition(
  list: string,
  { limit = PAGE_SIZE_DEFAULT, cursor }: PageQuery,
): PagePosition | Problem {
  const afterId = cursor === undefined ? START : decodeCursor(list, cursor);
  if (afterId === null)
    return validationFailed([{ parameter: "cursor", detail: "is not a cursor of this list" }]);
  return { list, afterId, limit };
}

/** A page of rows that were read with one more than `limit`: the extra one only tells that there is a next page. */
export function toPage<Row extends { id: string }, Wire>(
  rows: readonly Row[],
  { list, limit }: PagePosition,
  toWire: (row: Row) => Wire,
): { data: Wire[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { data: shown.map(toWire), nextCursor: last === undefined ? null : encodeCursor(list, last.id) };
}
