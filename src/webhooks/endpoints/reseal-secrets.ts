import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import { inTransaction } from "../../platform/context.ts";
import { searchReachable } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { SecretBoxError } from "../../platform/secret-box.ts";
import type { WebhookContext } from "../conditions-sql.ts";

/** Rows locked in one transaction. Few, so that it is short. */
const BATCH_SIZE = 200;

/**
 * Encrypts with the newest key all secrets and headers of endpoints that were encrypted with another one, so that the older key can be removed.
 * Returns how many. One that cannot be decrypted is logged and not changed: either its row is damaged, or its key
 * was used by a process with a newer configuration.
 */
export async function resealSecrets(context: WebhookContext, stopping?: AbortSignal): Promise<number> {
  let count = 0;
  for (const connection of await listConnectionsWithOlderKeys(context.db, context.secrets.keyId)) {
    let position: LockedSecret | null = null;
    do {
      if (stopping?.aborted) return count;
      const batch = await resealBatch(context, connection, position);
      count += batch.resealed;
      position = batch.last;
    } while (position !== null);
    count += await resealHeaders(context, connection);
  }
  return count;
}

/** An owner has so few endpoints that these are one batch. */
const resealHeaders = (context: WebhookContext, connection: ConnectionKey): Promise<number> =>
  inTransaction(context, async (tx: Queryable) => {
    const locked = await lockHeaders(tx, connection, context.secrets.keyId);
    const resealed = locked.flatMap(({ endpointId, sealed }) => {
      const again = reseal(context, connection, { endpointId, id: endpointId, sealed });
      return again === null ? [] : [{ endpointId, sealed: again }];
    });
    await storeSealedHeaders(tx, connection, resealed);
    return resealed.length;
  });

/** `last` is the position of the next batch, null at the end. Rotations wait for the row locks. */
const resealBatch = (
  context: WebhookContext,
  connection: ConnectionKey,
  after: LockedSecret | null,
): Promise<{ resealed: number; last: LockedSecret | null }> =>
  inTransaction(context, async (tx: Queryable) => {
    const keyId = context.secrets.keyId;
    const secrets = await lockSecrets(tx, connection, { keyId, after, limit: BATCH_SIZE });
    const resealed = secrets.flatMap((secret) => {
      const sealed = reseal(context, connection, secret);
      return sealed === null ? [] : [{ ...secret, sealed }];
    });
    await storeSealed(tx, connection, resealed);
    return { resealed: resealed.length, last: secrets.at(-1) ?? null };
  });

function reseal(
  { secrets, log }: WebhookContext,
  connection: ConnectionKey,
  { endpointId, id, sealed }: LockedSecret,
): string | null {
  try {
    return secrets.seal(secrets.open(sealed, endpointId), endpointId);
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    log.error(
      {
        connection: { id: connection.connectionId },
        endpoint: { id: endpointId },
        secret: { id }, // Of headers, that of their endpoint.
        code: error.code,
        keyId: error.keyId,
      },
      "signing secret not decrypted, not encrypted with the newest key",
    );
    return null;
  }
}

// A sealed text is `v1.<id of the key>.<ciphertext>` (src/platform/secret-box.ts), so its second part is the id of the key.

/** The ids of all keys with which secrets in use are encrypted. A scan over all shards of a small table. */
export async function listKeyIdsInUse(db: Queryable, now: Date): Promise<string[]> {
  const rows = await db.query<{ key_id: string }>({
    name: "list-key-ids-in-use",
    text: `
      select distinct split_part(used.sealed, '.', 2) as key_id
      from (
        select s.sealed
        from webhook_secrets s
        where s.expires_at is null or s.expires_at > $1
        union all
        select w.sealed_headers
        from webhook_endpoints w
        where w.sealed_headers is not null) as used
      where used.sealed ~ '^v1[.][0-9a-f]{8}[.]'
      order by key_id`,
    values: [now],
  });
  return rows.map((row) => row.key_id);
}

/** Connections with secrets or headers that are encrypted with another key. A scan over all shards of a small table. */
async function listConnectionsWithOlderKeys(db: Queryable, keyId: string): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-older-keys", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-older-keys",
      text: `
        select s.merchant_id, s.connection_id
        from webhook_secrets s
        where split_part(s.sealed, '.', 2) <> $1 and ($2::uuid[] is null or s.merchant_id = any($2))
        union
        select w.merchant_id, w.connection_id
        from webhook_endpoints w
        where split_part(w.sealed_headers, '.', 2) <> $1 and ($2::uuid[] is null or w.merchant_id = any($2))
        order by merchant_id, connection_id`,
      values: [keyId, merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

type LockedSecret = { readonly endpointId: string; readonly id: string; readonly sealed: string };

/** Locks the next secrets that are encrypted with another key. */
async function lockSecrets(
  tx: Queryable,
  connection: ConnectionKey,
  { keyId, after, limit }: { keyId: string; after: LockedSecret | null; limit: number },
): Promise<LockedSecret[]> {
  return tx.query<LockedSecret>({
    name: "lock-secrets",
    text: `
      select endpoint_id as "endpointId", id, sealed
      from webhook_secrets
      where merchant_id = $1 and connection_id = $2 and split_part(sealed, '.', 2) <> $3
        and ($4::uuid is null or (endpoint_id, id) > ($4::uuid, $5::uuid))
      order by endpoint_id, id
      limit $6
      for update`,
    values: [
      connection.merchantId,
      connection.connectionId,
      keyId,
      after?.endpointId ?? null,
      after?.id ?? null,
      limit,
    ],
  });
}

async function storeSealed(
  tx: Queryable,
  connection: ConnectionKey,
  secrets: readonly LockedSecret[],
): Promise<void> {
  if (secrets.length === 0) return;
  await tx.query({
    name: "store-sealed",
    text: `
      update webhook_secrets s
      set sealed = resealed.sealed
      from unnest($3::uuid[], $4::uuid[], $5::text[]) as resealed (endpoint_id, id, sealed)
      where s.merchant_id = $1 and s.connection_id = $2 and s.endpoint_id = resealed.endpoint_id and s.id = resealed.id`,
    values: [
      connection.merchantId,
      connection.connectionId,
      secrets.map(({ endpointId }) => endpointId),
      secrets.map(({ id }) => id),
      secrets.map(({ sealed }) => sealed),
    ],
  });
}

type LockedHeaders = { readonly endpointId: string; readonly sealed: string };

/** Locks the endpoints whose headers are encrypted with another key. */
async function lockHeaders(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  keyId: string,
): Promise<LockedHeaders[]> {
  return tx.query<LockedHeaders>({
    name: "lock-headers",
    text: `
      select id as "endpointId", sealed_headers as sealed
      from webhook_endpoints
      where merchant_id = $1 and connection_id = $2 and split_part(sealed_headers, '.', 2) <> $3
      order by id
      for no key update`,
    values: [merchantId, connectionId, keyId],
  });
}

async function storeSealedHeaders(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  headers: readonly LockedHeaders[],
): Promise<void> {
  if (headers.length === 0) return;
  await tx.query({
    name: "store-sealed-headers",
    text: `
      update webhook_endpoints w
      set sealed_headers = resealed.sealed
      from unnest($3::uuid[], $4::text[]) as resealed (endpoint_id, sealed)
      where w.merchant_id = $1 and w.connection_id = $2 and w.id = resealed.endpoint_id`,
    values: [
      merchantId,
      connectionId,
      headers.map(({ endpointId }) => endpointId),
      headers.map(({ sealed }) => sealed),
    ],
  });
}
