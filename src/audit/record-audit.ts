import { type Actor, SERVICE } from "../lifecycle/applied-transition.ts";
import type { Context } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { momentOf, uuidAt } from "../platform/ids.ts";
import { after, before } from "../platform/time.ts";
import type { Unproved } from "../platform/wire/problems.ts";
import {
  type AuditEntry,
  type AuditFact,
  type AuditFilter,
  type AuditRange,
  boundedDetails,
  cutText,
  deleteOldAuditEntries,
  insertAuditEntries,
  listAuditEntries,
} from "./audit-sql.ts";

/** Texts that a caller chooses may be longer. */
const NAME_MAX = 255;

/**
 * Records what an operation did. Call it in the transaction of the change, so that no change lacks its entry and no entry lacks
 * its change. A read is recorded before its response is sent. See docs/design/isolation-and-limits.md, "Audit log".
 */
export async function recordAudit(
  tx: Queryable,
  at: Pick<Context, "clock" | "newId">,
  by: Initiator,
  ...facts: readonly AuditFact[]
): Promise<void> {
  await recordAudits(
    tx,
    at,
    facts.map((fact) => ({ by, fact })),
  );
}

/** The same for operations of several requests that one transaction stores. */
export async function recordAudits(
  tx: Queryable,
  { clock, newId }: Pick<Context, "clock" | "newId">,
  records: readonly { readonly by: Initiator; readonly fact: AuditFact }[],
): Promise<void> {
  const createdAt = clock.now();
  await insertAuditEntries(
    tx,
    records.map(({ by: { actor, requestId, action }, fact }) => ({
      action,
      actor: { ...actor, name: actor.name === null ? null : cutText(actor.name, NAME_MAX) },
      requestId: requestId === null ? null : cutText(requestId, NAME_MAX),
      createdAt,
      id: newId(),
      merchantId: fact.merchantId,
      connectionId: fact.connectionId ?? null,
      subjectType: fact.subject,
      subjectIds: fact.ids,
      details: boundedDetails(fact.details ?? {}),
    })),
  );
}

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

/** The initiator of an operation, and the request. */
export type Initiator = {
  readonly actor: Actor;
  /** As in `x-request-id`; null if no request caused the operation. */
  readonly requestId: string | null;
  /** The requested operation of the API, such as `createKey`. */
  readonly action: string;
} & Unproved;

/** The service itself, without a request. */
export const byService = (action: string): Initiator => ({ actor: SERVICE, requestId: null, action });

/** Entries deleted by one statement, so that it is short. */
const BATCH_SIZE = 2_000;

/**
 * Deletes entries that are older than AUDIT_RETENTION_DAYS, batch by batch. Returns how many. See
 * docs/design/isolation-and-limits.md, "Audit log".
 */
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
