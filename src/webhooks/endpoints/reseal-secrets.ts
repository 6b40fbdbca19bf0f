import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import { inTransaction } from "../../platform/context.ts";
import { searchReachable } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { SecretBoxError } from "../../platform/secret-box.ts";
import type { WebhookContext } from "../conditions-sql.ts";

/** Rows locked in one transaction. Few, so that it is short. */
const BATCH_SIZE = 200;

/**
 * Encrypts with the newest key all secrets that were encrypted with another one, so that the older key can be removed.
 * Returns how many. A secret that cannot be decrypted is logged and not changed: either its row is damaged, or its key
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
  }
  return count;
}

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
        secret: { id },
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
      select distinct split_part(sealed, '.', 2) as key_id
      from webhook_secrets
      where (expires_at is null or expires_at > $1) and sealed ~ '^v1[.][0-9a-f]{8}[.]'
      order by key_id`,
    values: [now],
  });
  return rows.map((row) => row.key_id);
}

/** Connections with secrets that are encrypted with another key. A scan over all shards of a small table. */
async function listConnectionsWithOlderKeys(db: Queryable, keyId: string): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-older-keys", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-older-keys",
      text: `
        select distinct merchant_id, connection_id
        from webhook_secrets
        where split_part(sealed, '.', 2) <> $1 and ($2::uuid[] is null or merchant_id = any($2))
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
