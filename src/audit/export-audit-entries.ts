import type { Queryable } from "../platform/database/database.ts";
import { momentOf } from "../platform/ids.ts";
import { after } from "../platform/time.ts";
import type { AuditEntry } from "./audit-entry.ts";
import { type AuditFilter, type AuditRange, listAuditEntries } from "./audit-sql.ts";

/** Entries of one file. */
export const EXPORTED_ENTRIES_MAX = 100_000;
/** Statements for one file. Each reads at most ENTRIES_READ_MAX entries, whether they match or not. */
const STATEMENTS_MAX = 1_000;
/** Entries that one statement returns. Memory holds no more. */
const PAGE_SIZE = 500;

/** Some entries; or, at the end, the time before which the next file continues, because this one would be too large. */
type ExportPart =
  | { readonly entries: readonly AuditEntry[] }
  | { readonly entries: null; readonly continueBefore: Date };

/**
 * The entries of a range that fit a filter, newest first, as fast as they are taken. A file that was cut continues before
 * a time that may repeat the entries of its last millisecond, and leaves none out.
 */
export async function* exportAuditEntries(
  db: Queryable,
  filter: AuditFilter,
  { beforeId: startId, fromId }: Pick<AuditRange, "beforeId" | "fromId">,
  { entriesMax = EXPORTED_ENTRIES_MAX, statementsMax = STATEMENTS_MAX } = {},
): AsyncGenerator<ExportPart> {
  let beforeId: string | null = startId;
  let left = entriesMax;
  for (let statement = 0; beforeId !== null; statement += 1) {
    if (left === 0 || statement === statementsMax) {
      yield { entries: null, continueBefore: after(momentOf(beforeId), 1) };
      return;
    }
    const range: AuditRange = { beforeId, fromId, limit: Math.min(PAGE_SIZE, left) };
    const found = await listAuditEntries(db, filter, range);
    left -= found.entries.length;
    beforeId = found.continueBeforeId;
    if (found.entries.length > 0) yield { entries: found.entries };
  }
}
