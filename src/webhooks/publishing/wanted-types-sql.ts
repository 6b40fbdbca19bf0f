import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** Event types that any endpoint of the connection wants, paused ones as well: they may be resumed. */
export async function listWantedTypes(tx: Queryable, connection: ConnectionKey): Promise<Set<string>> {
  const rows = await tx.query<{ type: string }>({
    name: "list-wanted-types",
    text: `
      select distinct unnest(w.event_types) as type
      from webhook_endpoints w
      where w.merchant_id = $1 and w.connection_id = $2 and w.status <> 'deleted'`,
    values: [connection.merchantId, connection.connectionId],
  });
  return new Set(rows.map(({ type }) => type));
}
