import type { Actor } from "../lifecycle/applied-transition.ts";
import type { Queryable } from "../platform/database/database.ts";
import { type FittingRow, toFitting } from "../platform/database/day-partitions.ts";
import { type IdPrefix, uuidAt } from "../platform/ids.ts";
import { parseTime } from "../platform/time.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";

/** The merchant of an entry that belongs to none. */
const NO_MERCHANT = UUID_MIN;

export async function insertAuditEntries(tx: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.query({
    name: "insert-audit-entries",
    text: `
      insert into audit_entries (merchant_id, id, connection_id, action, actor_kind, actor_name, actor_id, request_id,
                                 subject_type, subject_ids, details, created_at)
      select e.merchant_id, e.id, e.connection_id, e.action, e.actor_kind, e.actor_name, e.actor_id, e.request_id,
             e.subject_type, e.subject_ids, e.details, e.created_at
      from json_to_recordset($1::json) as e (
        merchant_id uuid, id uuid, connection_id uuid, action text, actor_kind text, actor_name text, actor_id text,
        request_id text, subject_type text, subject_ids uuid[], details json, created_at timestamptz)`,
    values: [JSON.stringify(entries.map(toRow))],
  });
}

const toRow = (entry: AuditEntry): AuditRow => ({
  merchant_id: entry.merchantId ?? NO_MERCHANT,
  id: entry.id,
  connection_id: entry.connectionId,
  action: entry.action,
  actor_kind: entry.actor.kind,
  actor_name: entry.actor.name,
  actor_id: entry.actor.id ?? null,
  request_id: entry.requestId,
  subject_type: entry.subjectType,
  subject_ids: entry.subjectIds,
  details: entry.details,
  created_at: entry.createdAt,
});

type AuditRow = {
  merchant_id: string;
  id: string;
  connection_id: string | null;
  action: string;
  actor_kind: Actor["kind"];
  actor_name: string | null;
  actor_id: string | null;
  request_id: string | null;
  subject_type: SubjectType;
  subject_ids: readonly string[];
  details: Readonly<Record<string, string>>;
  created_at: Date;
};

/** What a list of entries is narrowed to; null in a field: not by that. */
export type AuditFilter = {
  readonly merchantId: string | null;
  readonly connectionId: string | null;
  /** The name, the kind or the id of the actor. */
  readonly actor: string | null;
  readonly actions: readonly string[] | null;
  readonly kind: AuditKind | null;
  readonly subjectId: string | null;
};

export const AUDIT_KINDS = ["change", "read", "sign-in"] as const;
type AuditKind = (typeof AUDIT_KINDS)[number];

/** A part of the log, newest first. Ids sort by time, so they bound the time as well. */
export type AuditRange = {
  /** Exclusive. */
  readonly beforeId: string;
  /** Inclusive. */
  readonly fromId: string;
  readonly limit: number;
};

/** Entries that one statement reads at most, so that a filter that matches little costs no more than another one. */
export const ENTRIES_READ_MAX = 2_000;

export type AuditMatches = {
  readonly entries: readonly AuditEntry[];
  /** Where the next part begins; null if there are no further entries in the range. */
  readonly continueBeforeId: string | null;
};

type Scope = { readonly name: string; readonly from: string };

/** The rows that a statement reads, before the other filters. Each scope has its index. */
function scopeOf({ subjectId, merchantId }: AuditFilter): Scope {
  if (subjectId !== null)
    // `offset 0`: PostgreSQL would otherwise read the log by time until it has found enough of a rare subject.
    return {
      name: "of-subject",
      from: "(select s.* from audit_entries s where s.subject_ids @> array[$5::uuid] offset 0) a where true",
    };
  return merchantId === null
    ? { name: "of-all", from: "audit_entries a where true" }
    : { name: "of-merchant", from: "audit_entries a where a.merchant_id = $6" };
}

/**
 * The newest entries in a range that fit the filter: at most `limit`, of at most ENTRIES_READ_MAX that are read. Over all
 * merchants, unless the filter names one.
 */
export async function listAuditEntries(
  db: Queryable,
  filter: AuditFilter,
  { beforeId, fromId, limit }: AuditRange,
): Promise<AuditMatches> {
  const scope = scopeOf(filter);
  const rows = await db.query<FittingRow<AuditRow>>({
    name: `list-audit-entries-${scope.name}`,
    text: `
      with part as materialized (
        select a.merchant_id, a.id, a.connection_id, a.action, a.actor_kind, a.actor_name, a.actor_id, a.request_id,
               a.subject_type, a.subject_ids, a.details, a.created_at
        from ${scope.from} and a.id < $1 and a.id >= $2
        order by a.id desc
        limit $4
      )
      select p.last_id, p.read_count, f.*
      from (
        select (array_agg(part.id order by part.id))[1] as last_id,
               count(*)::integer as read_count
        from part
      ) as p
      left join lateral (
        select part.*
        from part
        where ($5::uuid is null or part.subject_ids @> array[$5]) and ($6::uuid is null or part.merchant_id = $6)
          and ($7::uuid is null or part.connection_id = $7) and ($8::text[] is null or part.action = any($8))
          and ($10::text is null or $10 = case
            when part.action ~ '^(signIn|signOut|confirm|finishSingleSignOn|requestPasswordReset)' then 'sign-in'
            when part.action ~ '^(get|list|export|search|scan)' then 'read'
            else 'change'
          end)
          and ($9::text is null or $9 in (part.actor_name, part.actor_kind, part.actor_id))
        order by part.id desc
        limit $3 + 1
      ) as f on true
      order by f.id desc`,
    values: [
      beforeId,
      fromId,
      limit,
      ENTRIES_READ_MAX,
      filter.subjectId,
      filter.merchantId,
      filter.connectionId,
      filter.actions,
      filter.actor,
      filter.kind,
    ],
  });
  const { found, readTo } = toFitting(rows, ENTRIES_READ_MAX);
  const entries = found.slice(0, limit).map(toEntry);
  return { entries, continueBeforeId: found.length > limit ? (entries.at(-1)?.id ?? null) : readTo };
}

/** Deletes the oldest entries before an id, of all merchants; returns how many. Uses audit_entries_id_idx. */
export async function deleteOldAuditEntries(db: Queryable, beforeId: string, limit: number): Promise<number> {
  const rows = await db.query({
    name: "delete-old-audit-entries",
    text: `
      delete from audit_entries a
      using (
        select e.merchant_id, e.id
        from audit_entries e
        where e.id < $1
        order by e.id
        limit $2
      ) as old
      where a.merchant_id = old.merchant_id and a.id = old.id
      returning a.id`,
    values: [beforeId, limit],
  });
  return rows.length;
}

/** An entry of any merchant, or of none. Null if there is none. By audit_entries_id_idx. */
export async function readAuditEntry(db: Queryable, id: string): Promise<AuditEntry | null> {
  const [row] = await db.query<AuditRow>({
    name: "read-audit-entry",
    text: `
      select a.merchant_id, a.id, a.connection_id, a.action, a.actor_kind, a.actor_name, a.actor_id, a.request_id,
             a.subject_type, a.subject_ids, a.details, a.created_at
      from audit_entries a
      where a.id = $1`,
    values: [id],
  });
  return row === undefined ? null : toEntry(row);
}

const toEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  merchantId: row.merchant_id === NO_MERCHANT ? null : row.merchant_id,
  connectionId: row.connection_id,
  action: row.action,
  actor: { kind: row.actor_kind, name: row.actor_name, id: row.actor_id },
  requestId: row.request_id,
  subjectType: row.subject_type,
  subjectIds: row.subject_ids,
  details: row.details,
  createdAt: row.created_at,
});

/** The types of what is changed or read, by the prefix of their ids. */
export const SUBJECT_PREFIXES = [
  "mer",
  "con",
  "key",
  "fac",
  "pay",
  "bank",
  "pick",
  "ord",
  "test",
  "whe",
  "dlv",
  "rsd",
  "tok",
  "view",
  "per",
] as const satisfies readonly IdPrefix[];

/** `product`: the ids of products have no prefix (docs/design/api-conventions.md, "Ids"). */
export type SubjectType = (typeof SUBJECT_PREFIXES)[number] | "product";

/** A record of one operation. See docs/design/isolation-and-limits.md, "Audit log". */
export type AuditEntry = {
  readonly id: string;
  /** Null: it belongs to no merchant. */
  readonly merchantId: string | null;
  readonly connectionId: string | null;
  readonly action: string;
  readonly actor: Actor;
  readonly requestId: string | null;
  readonly subjectType: SubjectType;
  readonly subjectIds: readonly string[];
  readonly details: Readonly<Record<string, string>>;
  readonly createdAt: Date;
};

/** The record of an operation, as it reports it. `details` may hold no key, no secret and no personal data of a buyer. */
export type AuditFact = {
  /** Null: it belongs to no merchant. */
  readonly merchantId: string | null;
  readonly connectionId?: string | null;
  readonly subject: SubjectType;
  readonly ids: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
};

const DETAILS_MAX = 20;
const TEXT_MAX = 200;

/** A text that a caller wrote, cut to what an entry may hold. */
export const cutText = (text: string, lengthMax = TEXT_MAX): string =>
  (text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`).toWellFormed();

/** Details as an entry holds them: few, as texts, and each of them short. Absent ones are left out. */
export function boundedDetails(details: Readonly<Record<string, unknown>>): Record<string, string> {
  const present = Object.entries(details).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    present.slice(0, DETAILS_MAX).map(([name, value]) => [cutText(name), cutText(textOf(value))]),
  );
}

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.slice(0, TEXT_MAX).map(textOf).join(", ");
  return typeof value === "object" && value !== null
    ? JSON.stringify(value, (_key, member: unknown) => (typeof member === "bigint" ? String(member) : member))
    : String(value);
}

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
