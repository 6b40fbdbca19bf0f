import type { Queryable } from "../../platform/database/database.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import type { EndpointSecrets, StoredSecret } from "./signing-secret.ts";

type SealedSecret = { id: string; sealed: string; createdAt: Date };

/** Writes the newest secret of an endpoint. Only one secret has no expiry; the database rejects a second one. */
export async function insertSecret(
  tx: Queryable,
  endpoint: EndpointKey,
  { id, sealed, createdAt }: SealedSecret,
): Promise<void> {
  await tx.query({
    name: "insert-secret",
    text: `
      insert into webhook_secrets (merchant_id, connection_id, endpoint_id, id, sealed, created_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, id, sealed, createdAt],
  });
}

/** Makes all secrets of an endpoint expire. One that expires earlier is not changed. */
export async function endSecrets(tx: Queryable, endpoint: EndpointKey, expiresAt: Date): Promise<void> {
  await tx.query({
    name: "end-secrets",
    text: `
      update webhook_secrets
      set expires_at = least(coalesce(expires_at, $4), $4)
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, expiresAt],
  });
}

/** Deletes the expired secrets of an endpoint, and all others but the newest few. */
export async function deleteOldSecrets(
  tx: Queryable,
  endpoint: EndpointKey,
  { now, keptMax }: { now: Date; keptMax: number },
): Promise<void> {
  await tx.query({
    name: "delete-old-secrets",
    text: `
      delete from webhook_secrets
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3
        and (expires_at <= $4
             or id not in (
               select s.id
               from webhook_secrets s
               where s.merchant_id = $1 and s.endpoint_id = $3
               order by s.created_at desc, s.id desc
               limit $5))`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, now, keptMax],
  });
}

/** The signing secrets of an endpoint that are stored, newest first. None if it is deleted. */
export async function readSecrets(db: Queryable, endpoint: EndpointKey): Promise<EndpointSecrets> {
  const rows = await db.query<StoredSecret & { endpointCreatedAt: Date }>({
    name: "read-secrets",
    text: `
      select s.sealed, s.created_at as "createdAt", s.expires_at as "expiresAt", w.created_at as "endpointCreatedAt"
      from webhook_endpoints w
      join webhook_secrets s on s.merchant_id = w.merchant_id and s.connection_id = w.connection_id and s.endpoint_id = w.id
      where w.merchant_id = $1 and w.connection_id = $2 and w.id = $3
      order by s.created_at desc, s.id desc`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id],
  });
  return { endpointCreatedAt: rows[0]?.endpointCreatedAt ?? new Date(0), secrets: rows };
}

export async function deleteSecrets(tx: Queryable, endpoint: EndpointKey): Promise<void> {
  await tx.query({
    name: "delete-secrets",
    text: "delete from webhook_secrets where merchant_id = $1 and connection_id = $2 and endpoint_id = $3",
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id],
  });
}
