import { randomBytes } from "node:crypto";
import type { AuditFact } from "../audit/audit-sql.ts";
import { type Grant, ROLES, type Role } from "../audit/grant.ts";
import type { Scope } from "../audit/scope.ts";
import type { Actor } from "../lifecycle/applied-transition.ts";
import { hashKey } from "../merchants/api-key.ts";
import { toTypeId } from "../platform/ids.ts";
import type { Problem } from "../platform/wire/problems.ts";

/** A token of a program that uses the back office. The token itself is never stored. */
export type Token = {
  readonly id: string;
  /** What timeline and audit log call the program. */
  readonly name: string;
  /** What it gives access to. A token has one role (docs/design/people.md, "Roles and grants"). */
  readonly grant: Grant;
  /** What of its role it may do. */
  readonly scopes: readonly Scope[];
  /** First characters of the token, by which people recognize it. */
  readonly prefix: string;
  readonly createdBy: Actor;
  readonly createdAt: Date;
  /** Null if the token does not expire. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Written at most once in LAST_USE_INTERVAL_MS. Null: never used. */
  readonly lastUsedAt: Date | null;
  /** The token that a rotation replaced with this one, and the one that replaced this one. */
  readonly replacesId: string | null;
  readonly replacedById: string | null;
};

/** The merchants that a grant is about: its own, or those of its connections. Each once. */
export const merchantsOfGrant = (grant: Grant): readonly string[] =>
  grant.role === "merchant"
    ? grant.merchantIds
    : grant.role === "partner"
      ? [...new Set(grant.connections.map(({ merchantId }) => merchantId))]
      : [];

/** Valid tokens that are for no merchant, which only the operator creates. Those of a merchant have a limit of their own. */
export const TOKENS_MAX = 1_000;

const TOKEN_TEXT = new RegExp(`^pot_(${ROLES.join("|")})_[A-Za-z0-9_-]{43}$`);

/** Random characters in the prefix, after the role. */
const PREFIX_RANDOM = 6;

/** Makes a token: 256 random bits, with a prefix that shows its role and that secret scanners can find. */
export function makeToken(role: Role): { token: string; prefix: string; hash: string } {
  const start = `pot_${role}_`;
  const token = `${start}${randomBytes(32).toString("base64url")}`;
  return { token, prefix: token.slice(0, start.length + PREFIX_RANDOM), hash: hashKey(token) };
}

/** Whether a text has the form of a token. Another one is rejected without a look into the database. */
export const isTokenText = (text: string): boolean => TOKEN_TEXT.test(text);

/** 409: as many tokens for no merchant are valid as there may be. */
export const tokenLimitReached: Problem = {
  code: "limit-reached",
  detail: `The maximum of ${TOKENS_MAX} valid tokens for no merchant is reached. Revoke one first.`,
  members: { limit: "tokens", maximum: TOKENS_MAX },
};

/** What the audit log contains about a token. An entry about a token of one merchant belongs to that merchant. */
export const tokenFact = (
  { id, name, grant, scopes, prefix, expiresAt }: Token,
  details: Readonly<Record<string, unknown>> = {},
): AuditFact => {
  const merchantIds = merchantsOfGrant(grant);
  return {
    merchantId: merchantIds.length === 1 ? (merchantIds[0] ?? null) : null,
    subject: "tok",
    ids: [id],
    details: {
      name,
      role: grant.role,
      prefix,
      expiresAt: expiresAt ?? "never",
      ...thingsOf(grant),
      scopes,
      ...details,
    },
  };
};

/** What the role is for, as on the wire. */
function thingsOf(grant: Grant): Readonly<Record<string, readonly string[]>> {
  if (grant.role === "merchant") return { merchantIds: grant.merchantIds.map((id) => toTypeId("mer", id)) };
  if (grant.role === "warehouse" && grant.facilityIds !== null)
    return { facilityIds: grant.facilityIds.map((id) => toTypeId("fac", id)) };
  return grant.role === "partner"
    ? { connectionIds: grant.connections.map(({ connectionId }) => toTypeId("con", connectionId)) }
    : {};
}
