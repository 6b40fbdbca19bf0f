import { hash, randomBytes } from "node:crypto";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { after, HOUR_MS, LATEST } from "../platform/time.ts";
import { describedAs, enumeration } from "../platform/wire/schemas.ts";

/** A key of a connection. The key itself is never stored. */
export type ApiKey = {
  readonly id: string;
  readonly merchantId: string;
  readonly connectionId: string;
  readonly name: string | null;
  readonly mode: KeyMode;
  /** First characters of the key, by which people recognize it. */
  readonly prefix: string;
  readonly createdAt: Date;
  /** Null if the key does not expire. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** A stranger has requested it, without a person who issues it. */
  readonly isRequested: boolean;
};

/** A key as the back office shows it. */
export type ShownKey = ApiKey & {
  /** Null if it was never used. A use is written at most once in five minutes. */
  readonly lastUsedAt: Date | null;
  /** The key that a rotation has put in its place. */
  readonly replacedById: string | null;
};

/** The mode and seven random characters. */
const PREFIX_LENGTH = 16;

/**
 * Makes a key: 256 random bits, with a prefix that shows its mode and that secret scanners can find. The
 * stored mode decides, never the text.
 */
export function makeKey(mode: KeyMode): { key: string; prefix: string; hash: string } {
  const key = `pok_${mode}_${randomBytes(32).toString("base64url")}`;
  return { key, prefix: key.slice(0, PREFIX_LENGTH), hash: hashKey(key) };
}

/**
 * SHA-256 in hex. Keys have so many random bits that the hash cannot be reversed, and the timing of a lookup by hash
 * reveals nothing.
 */
export const hashKey = (key: string): string => hash("sha256", key);

const KEY_MODES = ["live", "test"] as const;
/** See docs/design/isolation-and-limits.md, "Live and test keys". */
export type KeyMode = (typeof KEY_MODES)[number];

/** One vocabulary for keys and webhook endpoints. */
export const ModeSchema = enumeration(
  "Mode",
  KEY_MODES,
  "`live`: for real orders and test orders. `test`: for test orders only.",
);

export const KeyModeSchema = describedAs(
  ModeSchema,
  "`live`: the key can do everything. `test`: it creates and changes test orders and test endpoints only, and finds no real order.",
);

/** The access of a key: its connection, or of its orders only the test orders. */
export type KeyAccess = ConnectionKey & { readonly testOnly: boolean };

export const fullAccess = ({ merchantId, connectionId }: ConnectionKey): KeyAccess => ({
  merchantId,
  connectionId,
  testOnly: false,
});

/** How long a key of a connection, or a token of the back office, is valid. */
export type Validity = {
  readonly createdAt: Date;
  /** Null if it does not expire. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
};

export const isValid = ({ revokedAt, expiresAt }: Omit<Validity, "createdAt">, now: Date): boolean =>
  revokedAt === null && (expiresAt === null || now < expiresAt);

/** When what replaces it expires, unless the request says so: after as long a time as the first one was given. */
export const renewedExpiry = (
  { createdAt, expiresAt }: Pick<Validity, "createdAt" | "expiresAt">,
  now: Date,
): Date | null =>
  expiresAt === null
    ? null
    : new Date(Math.min(now.getTime() + expiresAt.getTime() - createdAt.getTime(), LATEST.getTime()));

/** When it ends after it was replaced: with the overlap, but never later than before. */
export function endOfOverlap({ expiresAt }: Pick<Validity, "expiresAt">, hours: number, now: Date): Date {
  const overlapEnd = after(now, Math.round(hours * HOUR_MS));
  return expiresAt !== null && expiresAt < overlapEnd ? expiresAt : overlapEnd;
}

/** Why it cannot be rotated. */
export const END_REASONS = ["revoked", "expired", "replaced"] as const;
export type KeyEndReason = (typeof END_REASONS)[number];

/** Ended ones that are kept for the list of keys of a connection, or of tokens of a merchant. The audit log has all. */
export const ENDED_KEPT = 100;
/** Of those that rotations have replaced one after the other, so many newest ones keep their overlap. */
export const OVERLAPS_MAX = 10;

/** Null: it can be rotated. */
export function whyNotRotatable(
  replaced: Validity & { readonly replacedById: string | null },
  now: Date,
): KeyEndReason | null {
  if (replaced.revokedAt !== null) return "revoked";
  if (!isValid(replaced, now)) return "expired";
  return replaced.replacedById === null ? null : "replaced";
}
