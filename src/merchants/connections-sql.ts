import type { ConnectionScope } from "../audit/grant.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../platform/connection-key.ts";
import { findReachable, searchReachable } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import { folded, type SearchPatterns } from "../platform/fold-text.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";
import type { Connection } from "./connection.ts";
import type { LimitOverrides } from "./limits.ts";

type ConnectionRow = {
  id: string;
  merchant_id: string;
  merchant_name: string;
  currency: string;
  name: string;
  review_max_quantity: number | null;
  review_max_order_value_minor: bigint | null;
  review_countries: string[] | null;
  limits: LimitOverrides;
  created_at: Date;
  ends_at: Date | null;
  live_agents: boolean;
  certification_max_age_days: number | null;
  certified_at: Date | null;
};

/** A connection of any merchant, by its id. Null if there is none. */
export async function findConnectionById(db: Queryable, connectionId: string): Promise<Connection | null> {
  const row = await findReachable(db, (merchants) =>
    db.query<ConnectionRow>({
      name: "find-connection-by-id",
      text: `
        select c.id, c.merchant_id, m.name as merchant_name, c.currency, c.name,
               c.review_max_quantity, c.review_max_order_value_minor, c.review_countries, c.limits, c.created_at, c.ends_at,
               c.live_agents, c.certification_max_age_days, c.certified_at
        from connections c
        join merchants m on m.id = c.merchant_id
        where c.id = $1
          and ($2::uuid[] is null or c.merchant_id = any($2)) and ($2::uuid[] is null or m.id = any($2))`,
      values: [connectionId, merchants],
    }),
  );
  return row === undefined ? null : toConnection(row);
}

/** Those of these connections that exist, with their merchants, oldest first. */
export async function findConnectionKeys(
  db: Queryable,
  connectionIds: readonly string[],
): Promise<ConnectionKey[]> {
  const rows = await db.query<ConnectionKeyRow>({
    name: "find-connection-keys",
    text: "select merchant_id, id as connection_id from connections where id = any($1::uuid[]) order by id",
    values: [connectionIds],
  });
  return rows.map(toConnectionKey);
}

export async function readConnection(db: Queryable, connection: ConnectionKey): Promise<Connection | null> {
  const [row] = await db.query<ConnectionRow>({
    name: "read-connection",
    text: `
      select c.id, c.merchant_id, m.name as merchant_name, c.currency, c.name,
             c.review_max_quantity, c.review_max_order_value_minor, c.review_countries, c.limits, c.created_at, c.ends_at,
             c.live_agents, c.certification_max_age_days, c.certified_at
      from connections c
      join merchants m on m.id = c.merchant_id
      where c.merchant_id = $1 and c.id = $2`,
    values: [connection.merchantId, connection.connectionId],
  });
  return row === undefined ? null : toConnection(row);
}

/** Reads a connection and locks it until the transaction ends. */
export async function lockConnection(tx: Queryable, connection: ConnectionKey): Promise<Connection | null> {
  const [row] = await tx.query<ConnectionRow>({
    name: "lock-connection",
    text: `
      select c.id, c.merchant_id, m.name as merchant_name, c.currency, c.name,
             c.review_max_quantity, c.review_max_order_value_minor, c.review_countries, c.limits, c.created_at, c.ends_at,
             c.live_agents, c.certification_max_age_days, c.certified_at
      from connections c
      join merchants m on m.id = c.merchant_id
      where c.merchant_id = $1 and c.id = $2
      for no key update of c`,
    values: [connection.merchantId, connection.connectionId],
  });
  return row === undefined ? null : toConnection(row);
}

/**
 * Connections of a merchant whose name fits one of the `searchPatterns`, oldest first. Returns one row more than the page
 * if there is one.
 */
export async function listConnections(
  db: Queryable,
  merchantId: string,
  name: SearchPatterns | null,
  { afterId, limit }: PagePosition,
): Promise<Connection[]> {
  const rows = await db.query<ConnectionRow>({
    name: "list-connections",
    text: `
      select c.id, c.merchant_id, m.name as merchant_name, c.currency, c.name,
             c.review_max_quantity, c.review_max_order_value_minor, c.review_countries, c.limits, c.created_at, c.ends_at,
             c.live_agents, c.certification_max_age_days, c.certified_at
      from connections c
      join merchants m on m.id = c.merchant_id
      where c.merchant_id = $1 and c.id > $2 and ($4::text[] is null or ${folded("c.name")} like any($4))
      order by c.id
      limit $3 + 1`,
    values: [merchantId, afterId, limit, name],
  });
  return rows.map(toConnection);
}

/** Which connections are listed. A null restricts nothing. */
export type ConnectionFilter = {
  /** The scope of the caller. */
  readonly scope: ConnectionScope;
  readonly merchantId: string | null;
  /** Of a part of the name. */
  readonly name: SearchPatterns | null;
};

/** Connections of all merchants, oldest first. Returns one row more than the page if there is one. */
export async function listAllConnections(
  db: Queryable,
  { scope, merchantId, name }: ConnectionFilter,
  { afterId, limit }: PagePosition,
): Promise<Connection[]> {
  const rows = await db.query<ConnectionRow>({
    name: "list-all-connections",
    text: `
      select c.id, c.merchant_id, m.name as merchant_name, c.currency, c.name,
             c.review_max_quantity, c.review_max_order_value_minor, c.review_countries, c.limits, c.created_at, c.ends_at,
             c.live_agents, c.certification_max_age_days, c.certified_at
      from connections c
      join merchants m on m.id = c.merchant_id
      where c.id > $1 and ($3::uuid is null or c.merchant_id = $3)
        and ($4::text[] is null or ${folded("c.name")} like any($4))
        and ($5 or c.merchant_id = any($6::uuid[]) or c.id = any($7::uuid[]))
      order by c.id
      limit $2 + 1`,
    values: [
      afterId,
      limit,
      merchantId,
      name,
      scope === null,
      scope?.merchantIds,
      scope?.connections.map(({ connectionId }) => connectionId),
    ],
  });
  return rows.map(toConnection);
}

/** @param requesterHash of the network that has requested a connection that ends; null for others */
export async function insertConnection(
  db: Queryable,
  connection: Connection,
  requesterHash: Buffer | null = null,
): Promise<void> {
  const { maxQuantity, maxOrderValueMinor, countries } = connection.reviewPolicy;
  await db.query({
    name: "insert-connection",
    text: `
      insert into connections (id, merchant_id, currency, name, review_max_quantity, review_max_order_value_minor,
                               review_countries, limits, created_at, ends_at, requester_hash, live_agents,
                               certification_max_age_days)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values: [
      connection.id,
      connection.merchantId,
      connection.currency,
      connection.name,
      maxQuantity,
      maxOrderValueMinor,
      countries,
      JSON.stringify(connection.limits),
      connection.createdAt,
      connection.endsAt,
      requesterHash,
      connection.liveAgents,
      connection.certificationMaxAgeDays,
    ],
  });
}

export async function updateConnection(db: Queryable, connection: Connection): Promise<void> {
  const { maxQuantity, maxOrderValueMinor, countries } = connection.reviewPolicy;
  await db.query({
    name: "update-connection",
    text: `
      update connections
      set name = $3, review_max_quantity = $4, review_max_order_value_minor = $5, review_countries = $6, limits = $7,
          live_agents = $8, certification_max_age_days = $9
      where merchant_id = $1 and id = $2`,
    values: [
      connection.merchantId,
      connection.id,
      connection.name,
      maxQuantity,
      maxOrderValueMinor,
      countries,
      JSON.stringify(connection.limits),
      connection.liveAgents,
      connection.certificationMaxAgeDays,
    ],
  });
}

/** Notes that a certification has passed. */
export async function markCertified(
  tx: Queryable,
  connection: ConnectionKey,
  certifiedAt: Date,
): Promise<void> {
  await tx.query({
    name: "mark-certified",
    text: `
      update connections
      set certified_at = greatest(certified_at, $3)
      where merchant_id = $1 and id = $2`,
    values: [connection.merchantId, connection.connectionId, certifiedAt],
  });
}

/** When the connections that a network has requested since a time were made, oldest first. Those that have ended count. */
export async function listRequestedSince(
  tx: Queryable,
  merchantId: string,
  requesterHash: Buffer,
  since: Date,
): Promise<Date[]> {
  const rows = await tx.query<{ created_at: Date }>({
    name: "list-requested-since",
    text: `
      select c.created_at
      from connections c
      where c.merchant_id = $1 and c.requester_hash = $2 and c.created_at > $3
      order by c.created_at`,
    values: [merchantId, requesterHash, since],
  });
  return rows.map((row) => row.created_at);
}

/** Ends a connection that ends anyway, now. */
export async function markConnectionEnded(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
): Promise<void> {
  await tx.query({
    name: "mark-connection-ended",
    text: "update connections set ends_at = $3 where merchant_id = $1 and id = $2 and ends_at > $3",
    values: [connection.merchantId, connection.connectionId, now],
  });
}

/** A connection that has ended. */
export type EndedConnection = ConnectionKey & { readonly createdAt: Date; readonly endsAt: Date };

/** Connections that have ended and are not removed yet. A scan over all shards of a small index. */
export async function listEndedConnections(db: Queryable, now: Date): Promise<EndedConnection[]> {
  const rows = await searchReachable(db, "list-ended-connections", (merchants) =>
    db.query<ConnectionKeyRow & { created_at: Date; ends_at: Date }>({
      name: "list-ended-connections",
      text: `
        select c.merchant_id, c.id as connection_id, c.created_at, c.ends_at
        from connections c
        where c.ends_at <= $1 and ($2::uuid[] is null or c.merchant_id = any($2))
        order by c.ends_at, c.id`,
      values: [now, merchants],
    }),
  );
  return rows.map((row) => ({ ...toConnectionKey(row), createdAt: row.created_at, endsAt: row.ends_at }));
}

/** Deletes a connection that has ended, with what the slice has of it. The caller has locked it and deleted all else. */
export async function deleteEndedConnection(tx: Queryable, connection: ConnectionKey): Promise<void> {
  const values = [connection.merchantId, connection.connectionId];
  await tx.query({
    name: "delete-keys-of-connection",
    text: `
      with deleted as (
        delete from api_keys
        where merchant_id = $1 and connection_id = $2
        returning id)
      delete from api_key_uses
      where key_id in (select deleted.id from deleted)`,
    values,
  });
  await tx.query({
    name: "delete-rate-limits-of-connection",
    text: "delete from rate_limits where merchant_id = $1 and owner_id = $2",
    values,
  });
  await tx.query({
    name: "delete-ended-connection",
    text: "delete from connections where merchant_id = $1 and id = $2 and ends_at is not null",
    values,
  });
}

/** The maximums that the operator has set, by connection. */
export async function readLimitOverrides(
  db: Queryable,
  connections: readonly ConnectionKey[],
): Promise<(connection: ConnectionKey) => LimitOverrides> {
  const rows = await db.query<{ id: string; limits: LimitOverrides }>({
    name: "read-limit-overrides",
    text: `
      select c.id, c.limits
      from unnest($1::uuid[], $2::uuid[]) as requested (merchant_id, id)
      join connections c on c.merchant_id = requested.merchant_id and c.id = requested.id`,
    values: [
      connections.map(({ merchantId }) => merchantId),
      connections.map(({ connectionId }) => connectionId),
    ],
  });
  const overrides = new Map(rows.map(({ id, limits }) => [id, limits]));
  return ({ connectionId }) => overrides.get(connectionId) ?? {};
}

const toConnection = (row: ConnectionRow): Connection => ({
  id: row.id,
  merchantId: row.merchant_id,
  merchantName: row.merchant_name,
  currency: row.currency,
  name: row.name,
  reviewPolicy: {
    maxQuantity: row.review_max_quantity,
    maxOrderValueMinor: row.review_max_order_value_minor,
    countries: row.review_countries,
  },
  limits: row.limits,
  createdAt: row.created_at,
  endsAt: row.ends_at,
  liveAgents: row.live_agents,
  certificationMaxAgeDays: row.certification_max_age_days,
  certifiedAt: row.certified_at,
});
