import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** Event types that any endpoint of a connection wants. Paused endpoints count too: they may be resumed. */
export async function listWantedTypes(
  tx: Queryable,
  connections: readonly ConnectionKey[],
): Promise<(connection: ConnectionKey) => ReadonlySet<string>> {
  const rows = await tx.query<{ connection_id: string; type: string }>({
    name: "list-wanted-types",
    text: `
      select distinct w.connection_id, unnest(w.event_types) as type
      from webhook_endpoints w
      where w.merchant_id = any($1::uuid[]) and w.connection_id = any($2::uuid[]) and w.status <> 'deleted'`,
    values: [
      [...new Set(connections.map(({ merchantId }) => merchantId))],
      [...new Set(connections.map(({ connectionId }) => connectionId))],
    ],
  });
  const wanted = Map.groupBy(rows, (row) => row.connection_id);
  return ({ connectionId }) => new Set(wanted.get(connectionId)?.map(({ type }) => type));
}
