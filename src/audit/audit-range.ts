import { uuidAt } from "../platform/ids.ts";
import { parseTime } from "../platform/time.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";
import type { AuditRange } from "./audit-sql.ts";

/** The part of the log that was requested: from a position on, backwards, and between two times. */
export function auditRange(
  { afterId, limit }: { readonly afterId: string; readonly limit: number },
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): AuditRange {
  const toId = to === undefined ? afterId : idAt(to);
  return {
    beforeId: toId < afterId ? toId : afterId,
    fromId: from === undefined ? UUID_MIN : idAt(from),
    limit,
  };
}

const idAt = (time: string): string => uuidAt(parseTime(time));
