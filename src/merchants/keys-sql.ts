import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";
import type { ApiKey, KeyMode, ShownKey } from "./api-key.ts";

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
  is_requested: boolean;
};

type ShownRow = KeyRow & { last_used_at: Date | null; replaced_by_id: string | null };

/** The hex form that PostgreSQL uses for bytes. */
const toBytea = (hex: string): string => `\\x${hex}`;

/**
 * Keys by their hashes. A hash without a key is left out. The list is in a subquery, so that PostgreSQL keeps the plan
 * (docs/design/database.md, "Plans and statistics").
 */
export async function readKeys(db: Queryable, hashes: readonly string[]): Promise<Map<string, ApiKey>> {
  const rows = await db.query<KeyRow>({
    name: "read-keys",
    text: `
      select key_hash, id, merchant_id, connection_id, name, mode, prefix, created_at, expires_at, revoked_at, is_requested
      from api_keys
      where key_hash = any((select $1::bytea[])::bytea[])`,
    values: [hashes.map(toBytea)],
  });
  return new Map(rows.map((row) => [row.key_hash.toString("hex"), toKey(row)]));
}

/** A key by its id. Null if there is none. */
export async function readKey(db: Queryable, keyId: string): Promise<ShownKey | null> {
  const [row] = await db.query<ShownRow>({
    name: "read-key",
    text: `
      select k.key_hash, k.id, k.merchant_id, k.connection_id, k.name, k.mode, k.prefix, k.created_at, k.expires_at,
             k.revoked_at, k.is_requested, k.replaced_by_id, (select u.last_used_at from api_key_uses u where u.key_id = k.id) as last_used_at
      from api_keys k
      where k.id = $1`,
    values: [keyId],
  });
  return row === undefined ? null : toShown(row);
}

/** Which keys are listed: those that are live at a time, or those that are not. Null lists all. */
type KeyFilter = { readonly live: boolean | null; readonly now: Date };

/** Oldest first. Returns one row more than the page if there is one. */
export async function listKeys(
  db: Queryable,
  connection: ConnectionKey,
  { live, now }: KeyFilter,
  { afterId, limit }: PagePosition,
): Promise<ShownKey[]> {
  const rows = await db.query<ShownRow>({
    name: "list-keys",
    text: `
      select k.key_hash, k.id, k.merchant_id, k.connection_id, k.name, k.mode, k.prefix, k.created_at, k.expires_at,
             k.revoked_at, k.is_requested, k.replaced_by_id, (select u.last_used_at from api_key_uses u where u.key_id = k.id) as last_used_at
      from api_keys k
      where k.merchant_id = $1 and k.connection_id = $2 and k.id > $3
        and ($5::boolean is null
          or $5 = (k.revoked_at is null and (k.expires_at is null or k.expires_at > $6)))
      order by k.id
      limit $4 + 1`,
    values: [connection.merchantId, connection.connectionId, afterId, limit, live, now],
  });
  return rows.map(toShown);
}

/** How many valid keys a connection has, at most `countMax`. Of the others, few are kept. */
export async function countKeys(
  db: Queryable,
  connection: ConnectionKey,
  now: Date,
  countMax: number,
): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-keys",
    text: `
      select count(*)::integer as count
      from (
        select
        from api_keys
        where merchant_id = $1 and connection_id = $2 and revoked_at is null
          and (expires_at is null or expires_at > $3)
        limit $4) as counted`,
    values: [connection.merchantId, connection.connectionId, now, countMax],
  });
  return row?.count ?? 0;
}

/** How many valid keys the connections of a merchant have, at most `countMax`. */
export async function countKeysOfMerchant(
  db: Queryable,
  merchantId: string,
  now: Date,
  countMax: number,
): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-keys-of-merchant",
    text: `
      select count(*)::integer as count
      from (
        select
        from api_keys
        where merchant_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
        limit $3) as counted`,
    values: [merchantId, now, countMax],
  });
  return row?.count ?? 0;
}

/**
 * Deletes the keys of a connection that ended first, but for the newest `kept` that have ended. The caller has locked the
 * connection.
 */
export async function deleteEndedKeys(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
  kept: number,
): Promise<void> {
  await tx.query({
    name: "delete-ended-keys",
    text: `
      with deleted as (
        delete from api_keys
        where id in (
          select k.id
          from api_keys k
          where k.merchant_id = $1 and k.connection_id = $2 and least(k.revoked_at, k.expires_at) <= $3
          order by least(k.revoked_at, k.expires_at) desc, k.id desc
          offset $4)
        returning id)
      delete from api_key_uses
      where key_id in (select deleted.id from deleted)`,
    values: [connection.merchantId, connection.connectionId, now, kept],
  });
}

/**
 * Ends a key that rotations have replaced, if it is the one that is `distance` rotations before this key. The caller has locked the
 * connection.
 */
export async function endEarlierKey(
  tx: Queryable,
  connection: ConnectionKey,
  keyId: string,
  { distance, now }: { readonly distance: number; readonly now: Date },
): Promise<void> {
  await tx.query({
    name: "end-earlier-key",
    text: `
      with recursive earlier as (
        select $3::uuid as id, 0 as distance
        union all
        select k.id, e.distance + 1
        from earlier e
        join api_keys k on k.replaced_by_id = e.id
        where k.merchant_id = $1 and k.connection_id = $2 and e.distance < $4
      )
      update api_keys
      set expires_at = least(expires_at, $5)
      where id = (select e.id from earlier e where e.distance = $4)`,
    values: [connection.merchantId, connection.connectionId, keyId, distance, now],
  });
}

/** @param tokenId the token that issues it; null: a person does */
export async function insertKey(
  db: Queryable,
  key: ApiKey,
  hash: string,
  tokenId: string | null,
): Promise<void> {
  await db.query({
    name: "insert-key",
    text: `
      insert into api_keys (
        key_hash, id, merchant_id, connection_id, name, mode, prefix, created_at, expires_at, token_id, is_requested)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
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
      tokenId,
      key.isRequested,
    ],
  });
}

/** Revokes the keys that these tokens have issued. Returns those that were not revoked before. */
export async function markKeysOfTokensRevoked(
  tx: Queryable,
  tokenIds: readonly string[],
  now: Date,
): Promise<ApiKey[]> {
  const rows = await tx.query<KeyRow>({
    name: "revoke-keys-of-tokens",
    text: `
      update api_keys
      set revoked_at = $2
      where token_id = any($1::uuid[]) and revoked_at is null
      returning key_hash, id, merchant_id, connection_id, name, mode, prefix, created_at, expires_at, revoked_at, is_requested`,
    values: [tokenIds, now],
  });
  return rows.map(toKey);
}

/** Revokes the valid keys of a connection. Returns their ids. */
export async function markKeysOfConnectionRevoked(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>({
    name: "revoke-keys-of-connection",
    text: `
      update api_keys
      set revoked_at = $3
      where merchant_id = $1 and connection_id = $2 and revoked_at is null
      returning id`,
    values: [connection.merchantId, connection.connectionId, now],
  });
  return rows.map(({ id }) => id);
}

/** The keys of a token belong to the one that replaces it. They end with it, if that is earlier. */
export async function moveKeysOfToken(
  tx: Queryable,
  { fromId, toId, endsAt }: { readonly fromId: string; readonly toId: string; readonly endsAt: Date | null },
): Promise<void> {
  await tx.query({
    name: "move-keys-of-token",
    text: `
      update api_keys
      set token_id = $2, expires_at = least(expires_at, $3)
      where token_id = $1`,
    values: [fromId, toId, endsAt],
  });
}

/** Lets the keys that these tokens have issued expire at a time, unless they expire earlier. */
export async function bringKeysOfTokensForward(
  tx: Queryable,
  tokenIds: readonly string[],
  expiresAt: Date,
): Promise<void> {
  await tx.query({
    name: "bring-keys-of-tokens-forward",
    text: "update api_keys set expires_at = least(expires_at, $2) where token_id = any($1::uuid[])",
    values: [tokenIds, expiresAt],
  });
}

/** The token of the back office that has issued a key. Null: none has, or there is no such key. */
export async function readTokenOfKey(db: Queryable, keyId: string): Promise<string | null> {
  const [row] = await db.query<{ token_id: string | null }>({
    name: "read-token-of-key",
    text: "select token_id from api_keys where id = $1",
    values: [keyId],
  });
  return row?.token_id ?? null;
}

/** Revokes a key. Returns null if there is no such key, or it was revoked before: the first time stays. */
export async function markKeyRevoked(db: Queryable, keyId: string, now: Date): Promise<ShownKey | null> {
  const [row] = await db.query<ShownRow>({
    name: "revoke-key",
    text: `
      update api_keys k
      set revoked_at = $2
      where k.id = $1 and k.revoked_at is null
      returning k.key_hash, k.id, k.merchant_id, k.connection_id, k.name, k.mode, k.prefix, k.created_at, k.expires_at,
                k.revoked_at, k.is_requested, k.replaced_by_id,
                (select u.last_used_at from api_key_uses u where u.key_id = k.id) as last_used_at`,
    values: [keyId, now],
  });
  return row === undefined ? null : toShown(row);
}

/** Brings the end of a key forward, and names the key that replaces it. */
export async function markKeyReplaced(
  tx: Queryable,
  keyId: string,
  replacedById: string,
  expiresAt: Date,
): Promise<void> {
  await tx.query({
    name: "mark-key-replaced",
    text: `
      update api_keys
      set expires_at = least(expires_at, $3), replaced_by_id = $2
      where id = $1 and replaced_by_id is null`,
    values: [keyId, replacedById, expiresAt],
  });
}

/** Records that keys were used, unless a use after `staleBefore` is recorded already. In the order of the ids. */
export async function recordKeyUses(
  db: Queryable,
  keyIds: readonly string[],
  usedAt: Date,
  staleBefore: Date,
): Promise<void> {
  await db.query({
    name: "record-key-uses",
    text: `
      insert into api_key_uses (key_id, last_used_at)
      select used.id, $2
      from unnest($1::uuid[]) as used (id)
      order by used.id
      on conflict (key_id) do update set last_used_at = excluded.last_used_at
      where api_key_uses.last_used_at <= $3`,
    values: [keyIds, usedAt, staleBefore],
  });
}

const toShown = (row: ShownRow): ShownKey => ({
  ...toKey(row),
  lastUsedAt: row.last_used_at,
  replacedById: row.replaced_by_id,
});

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
  isRequested: row.is_requested,
});
