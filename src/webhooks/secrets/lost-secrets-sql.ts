import { type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";

/** Endpoints with secrets that are encrypted with this key. A scan over all shards of a small table. */
export async function listEndpointsOfKey(
  db: Queryable,
  keyId: string,
  limit: number,
): Promise<EndpointKey[]> {
  const rows = await db.query<ConnectionKeyRow & { endpoint_id: string }>({
    name: "list-endpoints-of-key",
    text: `
      select distinct merchant_id, connection_id, endpoint_id
      from webhook_secrets
      where split_part(sealed, '.', 2) = $1
      order by merchant_id, connection_id, endpoint_id
      limit $2`,
    values: [keyId, limit],
  });
  return rows.map((row) => ({ ...toConnectionKey(row), id: row.endpoint_id }));
}

/** Deletes the secrets of an endpoint that are encrypted with this key. The one without an expiry is the present one. */
export async function deleteSecretsOfKey(
  tx: Queryable,
  endpoint: EndpointKey,
  keyId: string,
): Promise<{ expiresAt: Date | null }[]> {
  return tx.query<{ expiresAt: Date | null }>({
    name: "delete-secrets-of-key",
    text: `
      delete from webhook_secrets
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and split_part(sealed, '.', 2) = $4
      returning expires_at as "expiresAt"`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, keyId],
  });
}
