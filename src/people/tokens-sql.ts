import type { Grant, Role } from "../audit/grant.ts";
import type { Scope } from "../audit/scope.ts";
import type { Actor } from "../lifecycle/applied-transition.ts";
import { connectionColumns } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";
import type { Token } from "./token.ts";

type TokenRow = {
  id: string;
  name: string;
  role: Role;
  merchant_ids: string[];
  facility_ids: string[] | null;
  connection_ids: string[];
  connection_merchant_ids: string[];
  scopes: Scope[];
  prefix: string;
  created_by_kind: Actor["kind"];
  created_by_name: string | null;
  created_by_id: string | null;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  replaces_id: string | null;
  replaced_by_id: string | null;
};

/** The hex form that PostgreSQL uses for bytes. */
const toBytea = (hex: string): string => `\\x${hex}`;

/** A token by its hash. Null if there is none. */
export async function readTokenByHash(db: Queryable, hash: string): Promise<Token | null> {
  const [row] = await db.query<TokenRow>({
    name: "read-token-by-hash",
    text: `
      select t.id, t.name, t.role, t.merchant_ids, t.facility_ids, t.connection_ids, t.connection_merchant_ids, t.scopes,
             t.prefix, t.created_by_kind, t.created_by_name, t.created_by_id, t.created_at, t.expires_at, t.revoked_at,
             t.last_used_at, t.replaces_id,
             (select n.id from back_office_tokens n where n.replaces_id = t.id) as replaced_by_id
      from back_office_tokens t
      where t.token_hash = $1`,
    values: [toBytea(hash)],
  });
  return row === undefined ? null : toToken(row);
}

/** A token by its id. Null if there is none. */
export const readToken = async (db: Queryable, tokenId: string): Promise<Token | null> =>
  (await readTokens(db, [tokenId]))[0] ?? null;

/** Tokens by their ids. */
export async function readTokens(db: Queryable, tokenIds: readonly string[]): Promise<Token[]> {
  const rows = await db.query<TokenRow>({
    name: "read-tokens",
    text: `
      select t.id, t.name, t.role, t.merchant_ids, t.facility_ids, t.connection_ids, t.connection_merchant_ids, t.scopes,
             t.prefix, t.created_by_kind, t.created_by_name, t.created_by_id, t.created_at, t.expires_at, t.revoked_at,
             t.last_used_at, t.replaces_id,
             (select n.id from back_office_tokens n where n.replaces_id = t.id) as replaced_by_id
      from back_office_tokens t
      where t.id = any($1::uuid[])`,
    values: [tokenIds],
  });
  return rows.map(toToken);
}

/** Which tokens are listed. A null restricts nothing. */
export type TokenFilter = {
  readonly role: Role | null;
  /** Those that are valid at a time, or those that are not. */
  readonly live: boolean | null;
  readonly now: Date;
  /** Only tokens for merchants, or for connections of merchants, that are all among these. */
  readonly withinMerchantIds: readonly string[] | null;
};

/** Oldest first. Returns one row more than the page if there is one. */
export async function listTokens(
  db: Queryable,
  { role, live, now, withinMerchantIds }: TokenFilter,
  { afterId, limit }: PagePosition,
): Promise<Token[]> {
  const rows = await db.query<TokenRow>({
    name: "list-tokens",
    text: `
      select t.id, t.name, t.role, t.merchant_ids, t.facility_ids, t.connection_ids, t.connection_merchant_ids, t.scopes,
             t.prefix, t.created_by_kind, t.created_by_name, t.created_by_id, t.created_at, t.expires_at, t.revoked_at,
             t.last_used_at, t.replaces_id,
             (select n.id from back_office_tokens n where n.replaces_id = t.id) as replaced_by_id
      from back_office_tokens t
      where t.id > $1
        and ($3::text is null or t.role = $3)
        and ($4::boolean is null
          or $4 = (t.revoked_at is null and (t.expires_at is null or t.expires_at > $5)))
        and ($6::uuid[] is null
          or (t.role = 'merchant' and t.merchant_ids <@ $6)
          or (t.role = 'partner' and t.connection_merchant_ids <@ $6))
      order by t.id
      limit $2 + 1`,
    values: [afterId, limit, role, live, now, withinMerchantIds],
  });
  return rows.map(toToken);
}

/**
 * Lets changes of tokens wait for each other until the transaction ends, so that concurrent requests cannot exceed a
 * limit. Requests that only read tokens do not wait.
 */
export async function lockTokens(tx: Queryable): Promise<void> {
  await tx.query({
    name: "lock-tokens",
    text: "lock table back_office_tokens in share row exclusive mode",
    values: [],
  });
}

/** How many valid tokens are for no merchant, at most `countMax`. */
export async function countOtherTokens(tx: Queryable, now: Date, countMax: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "count-other-tokens",
    text: `
      select count(*)::integer as count
      from (
        select
        from back_office_tokens t
        where t.role not in ('merchant', 'partner') and t.revoked_at is null
          and (t.expires_at is null or t.expires_at > $1)
        limit $2) as counted`,
    values: [now, countMax],
  });
  return row?.count ?? 0;
}

/** How many valid tokens are for each merchant, or for a connection of it, at most `countMax`. */
export async function countTokensOfMerchants(
  db: Queryable,
  merchantIds: readonly string[],
  now: Date,
  countMax: number,
): Promise<(merchantId: string) => number> {
  const rows = await db.query<{ id: string; count: number }>({
    name: "count-tokens-of-merchants",
    text: `
      select requested.id,
             (select count(*)::integer
              from (
                select
                from back_office_tokens t
                where (t.merchant_ids @> array[requested.id] or t.connection_merchant_ids @> array[requested.id])
                  and t.revoked_at is null and (t.expires_at is null or t.expires_at > $2)
                limit $3) as counted) as count
      from unnest($1::uuid[]) as requested (id)`,
    values: [merchantIds, now, countMax],
  });
  const counts = new Map(rows.map(({ id, count }) => [id, count]));
  return (merchantId) => counts.get(merchantId) ?? 0;
}

/**
 * Deletes the tokens that ended first, but for the newest `kept` that have ended: of those that share one of these merchants, or
 * without merchants of those that are for none. Returns their ids.
 */
export async function deleteEndedTokens(
  tx: Queryable,
  merchantIds: readonly string[],
  now: Date,
  kept: number,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>({
    name: "delete-ended-tokens",
    text: `
      delete from back_office_tokens
      where id in (
        select t.id
        from back_office_tokens t
        where least(t.revoked_at, t.expires_at) <= $2
          and case when $1::uuid[] = '{}' then t.role not in ('merchant', 'partner')
              else t.merchant_ids && $1 or t.connection_merchant_ids && $1 end
        order by least(t.revoked_at, t.expires_at) desc, t.id desc
        offset $3)
      returning id`,
    values: [merchantIds, now, kept],
  });
  return rows.map(({ id }) => id);
}

/** The token that rotations have replaced `distance` times up to this token. Null if there is none. */
export async function findEarlierToken(
  tx: Queryable,
  tokenId: string,
  distance: number,
): Promise<string | null> {
  const [row] = await tx.query<{ id: string }>({
    name: "find-earlier-token",
    text: `
      with recursive earlier as (
        select t.id, t.replaces_id, 0 as distance
        from back_office_tokens t
        where t.id = $1
        union all
        select t.id, t.replaces_id, e.distance + 1
        from earlier e
        join back_office_tokens t on t.id = e.replaces_id
        where e.distance < $2
      )
      select id from earlier where distance = $2`,
    values: [tokenId, distance],
  });
  return row?.id ?? null;
}

/** @param madeById the token that makes it; null: none does */
export async function insertToken(
  tx: Queryable,
  token: Token,
  hash: string,
  madeById: string | null,
): Promise<void> {
  const { createdBy, grant } = token;
  const [connectionMerchantIds, connectionIds] = connectionColumns(
    grant.role === "partner" ? grant.connections : [],
  );
  await tx.query({
    name: "insert-token",
    text: `
      insert into back_office_tokens (
        id, token_hash, name, role, merchant_ids, facility_ids, connection_ids, connection_merchant_ids, prefix,
        created_by_kind, created_by_name, created_by_id, created_at, expires_at, replaces_id, scopes, made_by_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    values: [
      token.id,
      toBytea(hash),
      token.name,
      grant.role,
      grant.role === "merchant" ? grant.merchantIds : [],
      grant.role === "warehouse" ? grant.facilityIds : null,
      connectionIds,
      connectionMerchantIds,
      token.prefix,
      createdBy.kind,
      createdBy.name,
      createdBy.id ?? null,
      token.createdAt,
      token.expiresAt,
      token.replacesId,
      token.scopes,
      madeById,
    ],
  });
}

/** Records that a token was used, unless a use after `staleBefore` is recorded already. */
export async function recordTokenUse(
  db: Queryable,
  tokenId: string,
  usedAt: Date,
  staleBefore: Date,
): Promise<void> {
  await db.query({
    name: "record-token-use",
    text: `
      update back_office_tokens
      set last_used_at = $2
      where id = $1 and (last_used_at is null or last_used_at <= $3)`,
    values: [tokenId, usedAt, staleBefore],
  });
}

function toGrant({ role, ...row }: TokenRow): Grant {
  switch (role) {
    case "merchant":
      return { role, merchantIds: row.merchant_ids };
    case "warehouse":
      return { role, facilityIds: row.facility_ids };
    case "partner":
      return {
        role,
        connections: row.connection_ids.map((connectionId, index) => ({
          connectionId,
          merchantId: row.connection_merchant_ids[index] ?? "", // A constraint keeps both equally long.
        })),
      };
    case "operator":
    case "support":
    case "monitoring":
      return { role };
  }
}

const toToken = (row: TokenRow): Token => ({
  id: row.id,
  name: row.name,
  grant: toGrant(row),
  scopes: row.scopes,
  prefix: row.prefix,
  createdBy: { kind: row.created_by_kind, name: row.created_by_name, id: row.created_by_id },
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
  replacesId: row.replaces_id,
  replacedById: row.replaced_by_id,
});

/** A token by its id, which is not revoked before the transaction ends. Null if there is none. */
export async function lockToken(tx: Queryable, tokenId: string): Promise<Token | null> {
  await tx.query({
    name: "lock-token",
    text: "select from back_office_tokens where id = $1 for share",
    values: [tokenId],
  });
  return readToken(tx, tokenId); // By a statement of its own: a revocation may have been awaited.
}

/** The tokens that a token has made, those that these have made, and so on. Not itself, though it may be among them by rotations. */
export async function findMadeBy(tx: Queryable, tokenId: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>({
    name: "find-tokens-made-by",
    text: `
      with recursive made (id) as (
        select t.id
        from back_office_tokens t
        where t.made_by_id = $1
        union -- Not all: a token can have rotated the one that made it.
        select t.id
        from made m
        join back_office_tokens t on t.made_by_id = m.id
      )
      select id from made where id <> $1 order by id`,
    values: [tokenId],
  });
  return rows.map(({ id }) => id);
}

/** Revokes the tokens among these that are not revoked. Returns them. */
export async function markTokensRevoked(
  tx: Queryable,
  tokenIds: readonly string[],
  now: Date,
): Promise<Token[]> {
  const rows = await tx.query<{ id: string }>({
    name: "revoke-tokens",
    text: `
      update back_office_tokens
      set revoked_at = $2
      where id = any($1::uuid[]) and revoked_at is null
      returning id`,
    values: [tokenIds, now],
  });
  return readTokens(
    tx,
    rows.map(({ id }) => id),
  );
}

/** What a token has made belongs to the one that replaces it. */
export async function moveMade(tx: Queryable, fromId: string, toId: string): Promise<void> {
  await tx.query({
    name: "move-tokens-made-by",
    text: "update back_office_tokens set made_by_id = $2 where made_by_id = $1 and id <> $2",
    values: [fromId, toId],
  });
}

/** Lets tokens expire at a time, unless they expire earlier. */
export async function bringExpiriesForward(
  tx: Queryable,
  tokenIds: readonly string[],
  expiresAt: Date,
): Promise<void> {
  await tx.query({
    name: "bring-token-expiries-forward",
    text: "update back_office_tokens set expires_at = least(expires_at, $2) where id = any($1::uuid[])",
    values: [tokenIds, expiresAt],
  });
}
