import type { Actor } from "../lifecycle/applied-transition.ts";
import type { IdPrefix } from "../platform/ids.ts";

/** The types of what is changed or read, by the prefix of their ids. */
export const SUBJECT_PREFIXES = [
  "mer",
  "con",
  "key",
  "fac",
  "pay",
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

/** `product`: the ids of products have no prefix (decision 0009). */
export type SubjectType = (typeof SUBJECT_PREFIXES)[number] | "product";

/** A record of one operation. Decision 0070. */
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

/** What an operation did, as it reports it. `details` may hold no key, no secret and no personal data of a buyer. */
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
