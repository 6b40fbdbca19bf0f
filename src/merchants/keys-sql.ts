import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";
import type { ApiKey } from "./api-key.ts";
import type { KeyMode } from "./key-mode.ts";

type KeyRow = {
  key_hash: Buffer;
  id: string;
  merchant_id: string;
  connection_id: string;
  name: string | null;
  mode: KeyMode;
  prefix: string;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
};

/** The hex form that PostgreSQL uses for bytes. */
const toBytea = (hex: string): string => `\\x${hex}`;

/**
 * Keys by their hashes. A hash without a key is left out. The list is in a subquery, so that PostgreSQL keeps the plan
 * (decision 0110).
 */
export async function readKeys(db: Queryable, hashes: readonly string[]): Promise<Map<string, ApiKey>> {
  const rows = await db.query<KeyRow>({
    name: "read-keys",
    text: `
      select key_hash, id, merchant_id, connection_id, name, mode, prefix, created_at, expires_at, revoked_at
      from api_keys
      where key_hash = any((select $1::bytea[])::bytea[])`,
    values: [hashes.map(toBytea)],
  });
  return new Map(rows.map((row) => [row.key_hash.toString("hex"), toKey(row)]));
}

/** A key by its id. Null if there is none. */
export async function readKey(db: Queryable, keyId: string): Promise<ApiKey | null> {
  const [row] = await db.query<KeyRow>({
    name: "read-key",
    text: `
      select key_hash, id, merchant_id, connection_id, name, mode, prefix, created_at, expires_at, revoked_at
      from api_keys
      where id = $1`,
    values: [keyId],
  });
  return row === undefined ? null : toKey(row);
}

/** Which keys are listed: those that are live at a time, or those that are not. Null lists all. */
type KeyFilter = { readonly live: boolean | null; readonly now: Date };

/** Oldest first. Returns one row more than the page if there is one. */
export async function listKeys(
  db: Queryable,
  connection: ConnectionKey,
  { live, now }: KeyFilter,
  { afterId, limit }: PagePosition,
): Promise<ApiKey[]> {
  const rows = await db.query<KeyRow>({
    name: "list-keys",
    text: `
      select key_hash, id, merchant_id, connection_id, name, mode, prefix, created_at, expires_at, revoked_at
      from api_keys
      where merchant_id = $1 and connection_id = $2 and id > $3
        and ($5::boolean is null
          or $5 = (revoked_at is null and (expires_at is null or expires_at > $6)))
      order by id
      limit $4 + 1`,
    values: [connection.merchantId, connection.connectionId, afterId, limit, live, now],
  });
  return rows.map(toKey);
}

/** How many keys a connection has, with revoked and expired ones, at most `countMax`. */
export async function countKeys(db: Queryable, connection: ConnectionKey, countMax: number): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-keys",
    text: `
      select count(*)::integer as count
      from (
        select
        from api_keys
        where merchant_id = $1 and connection_id = $2
        limit $3) as counted`,
    values: [connection.merchantId, connection.connectionId, countMax],
  });
  return row?.count ?? 0;
}

export async function insertKey(db: Queryable, key: ApiKey, hash: string): Promise<void> {
  await db.query({
    name: "insert-key",
    text: `
      insert into api_keys (key_hash, id, merchant_id, connection_id, name, mode, prefix, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      toBytea(hash),
      key.id,
      key.merchantId,
      key.connectionId,
      key.name,
      key.mode,
      key.prefix,
      key.createdAt,
      key.expiresAt,
    ],
  });
}

/** Revokes a key. Returns null if there is no such key, or it was revoked before: the first time stays. */
export async function markKeyRevoked(db: Queryable, keyId: string, now: Date): Promise<ApiKey | null> {
  const [row] = await db.query<KeyRow>({
    name: "revoke-key",
    text: `
      update api_keys
      set revoked_at = $2
      where id = $1 and revoked_at is null
      returning key_hash, id, merchant_id, connection_id, name, mode, prefix, created_at, expires_at, revoked_at`,
    values: [keyId, now],
  });
  return row === undefined ? null : toKey(row);
}

const toKey = (row: KeyRow): ApiKey => ({
  id: row.id,
  merchantId: row.merchant_id,
  connectionId: row.connection_id,
  name: row.name,
  mode: row.mode,
  prefix: row.prefix,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
});
