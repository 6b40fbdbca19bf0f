import type { KeyMode } from "../../merchants/key-mode.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** An order of a connection, which may be a test order. */
type OrderOfConnection = ConnectionKey & { readonly testMode: boolean };

/**
 * Which of these event types any endpoint wants of these orders: test endpoints receive test orders only. Paused
 * endpoints count too: they may be resumed.
 */
export async function listWantedTypes(
  tx: Queryable,
  orders: readonly OrderOfConnection[],
  types: Iterable<string>,
): Promise<(order: OrderOfConnection) => ReadonlySet<string>> {
  const rows = await tx.query<{ connection_id: string; mode: KeyMode; type: string }>({
    name: "list-wanted-types",
    text: `
      select distinct w.connection_id, w.mode, possible.type
      from webhook_endpoints w
      join unnest($3::text[]) as possible (type) on possible.type = any(w.event_types)
      where w.merchant_id = any($1::uuid[]) and w.connection_id = any($2::uuid[]) and w.status <> 'deleted'`,
    values: [
      [...new Set(orders.map(({ merchantId }) => merchantId))],
      [...new Set(orders.map(({ connectionId }) => connectionId))],
      [...new Set(types)],
    ],
  });
  const wanted = Map.groupBy(rows, (row) => row.connection_id);
  return ({ connectionId, testMode }) =>
    new Set(
      (wanted.get(connectionId) ?? [])
        .filter(({ mode }) => mode === "live" || testMode)
        .map(({ type }) => type),
    );
}
