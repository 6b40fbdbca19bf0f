import { hash, randomBytes } from "node:crypto";
import type { KeyMode } from "./key-mode.ts";

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
 * Makes a key: 256 random bits, with a prefix that shows its mode and that secret scanners can find. Keys from before
 * the modes begin with `pok_` alone, and are live: the stored mode decides, never the text.
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
