import { createHash, randomBytes } from "node:crypto";

/** A key of a connection. The key itself is never stored. */
export type ApiKey = {
  readonly id: string;
  readonly merchantId: string;
  readonly connectionId: string;
  readonly name: string | null;
  /** First characters of the key, by which people recognize it. */
  readonly prefix: string;
  readonly createdAt: Date;
  /** Null if the key does not expire. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
};

const PREFIX_LENGTH = 11;

/** Makes a key: 256 random bits, with a prefix that secret scanners can find. */
export function makeKey(): { key: string; prefix: string; hash: string } {
  const key = `pok_${randomBytes(32).toString("base64url")}`;
  return { key, prefix: key.slice(0, PREFIX_LENGTH), hash: hashKey(key) };
}

/**
 * SHA-256 in hex. Keys have so many random bits that the hash cannot be reversed, and the timing of a lookup by hash
 * reveals nothing.
 */
export const hashKey = (key: string): string => createHash("sha256").update(key).digest("hex");

export const isLive = (key: ApiKey, now: Date): boolean =>
  key.revokedAt === null && (key.expiresAt === null || now < key.expiresAt);
