import { listKeyIdsOfCodes } from "../people/sealed-codes/key-ids-of-codes.ts";
import type { Queryable } from "../platform/database/database.ts";
import { listKeyIdsInUse } from "../webhooks/secrets/reseal-secrets-sql.ts";

/** The ids of all keys with which signing secrets, and one-time codes of people, are encrypted. */
export async function listAllKeyIdsInUse(db: Queryable, now: Date): Promise<string[]> {
  const ids = new Set([...(await listKeyIdsInUse(db, now)), ...(await listKeyIdsOfCodes(db))]);
  return [...ids].sort();
}

/** Those of them that are not among the keys. */
export const missingKeyIds = (inUse: readonly string[], keys: { knows(keyId: string): boolean }): string[] =>
  inUse.filter((keyId) => !keys.knows(keyId));
