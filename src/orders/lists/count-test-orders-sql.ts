import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** How many test orders each connection has stored, at most `countMax`. Expired ones count until they are erased. */
export async function countTestOrders(
  db: Queryable,
  connections: readonly ConnectionKey[],
  countMax: number,
): Promise<(connection: ConnectionKey) => number> {
  const rows = await db.query<{ connection_id: string; count: number }>({
    name: "count-test-orders",
    text: `
      select requested.connection_id,
             (select count(*)::integer
              from (
                select
                from orders o
                where o.merchant_id = requested.merchant_id and o.connection_id = requested.connection_id and o.test_mode
                limit $3) as counted) as count
      from unnest($1::uuid[], $2::uuid[]) as requested (merchant_id, connection_id)`,
    values: [
      connections.map(({ merchantId }) => merchantId),
      connections.map(({ connectionId }) => connectionId),
      countMax,
    ],
  });
  const counts = new Map(rows.map((row) => [row.connection_id, row.count]));
  return ({ connectionId }) => counts.get(connectionId) ?? 0;
}
