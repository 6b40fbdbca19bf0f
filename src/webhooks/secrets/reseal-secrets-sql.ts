import { amongMerchants } from "../../distribution/among-merchants.ts";
import { searchReachable } from "../../distribution/reachable-merchants.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

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
export async function listConnectionsWithOlderKeys(db: Queryable, keyId: string): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-older-keys", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-older-keys",
      text: `
        select distinct merchant_id, connection_id
        from webhook_secrets
        where split_part(sealed, '.', 2) <> $1 and ${amongMerchants("$2", "merchant_id")}
        order by merchant_id, connection_id`,
      values: [keyId, merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

export type LockedSecret = { readonly endpointId: string; readonly id: string; readonly sealed: string };

/** Locks the next secrets that are encrypted with another key. */
export async function lockSecrets(
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

export async function storeSealed(
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
