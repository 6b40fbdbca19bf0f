import type { Context } from "../platform/context.ts";
import { uuidAt } from "../platform/ids.ts";
import { before } from "../platform/time.ts";
import { deleteOldAuditEntries } from "./audit-sql.ts";

/** Entries deleted by one statement, so that it is short. */
const BATCH_SIZE = 2_000;

/** Deletes entries that are older than AUDIT_RETENTION_DAYS, batch by batch. Returns how many. Decision 0070. */
export async function purgeAuditEntries(
  { db, clock, config }: Pick<Context, "db" | "clock" | "config">,
  stopping?: AbortSignal,
): Promise<number> {
  const beforeId = uuidAt(before(clock.now(), config.auditRetentionMs));
  let count = 0;
  for (;;) {
    const deleted = await deleteOldAuditEntries(db, beforeId, BATCH_SIZE);
    count += deleted;
    if (deleted < BATCH_SIZE || stopping?.aborted) return count;
  }
}
