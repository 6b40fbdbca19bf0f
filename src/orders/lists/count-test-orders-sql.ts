import { merchantByMerchant, ofMerchant } from "../../distribution/merchant-by-merchant.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** How many test orders each connection has stored, at most `countMax`. Expired ones count until they are erased. */
export async function countTestOrders(
  db: Queryable,
  connections: readonly ConnectionKey[],
  countMax: number,
): Promise<(connection: ConnectionKey) => number> {
  const rows = await merchantByMerchant(db, connections, (own, merchantId) =>
    db.query<{ connection_id: string; count: number }>({
      name: "count-test-orders",
      text: `
        select requested.connection_id,
               (select count(*)::integer
                from (
                  select
                  from orders o
                  where o.merchant_id = requested.merchant_id and o.connection_id = requested.connection_id and o.test_mode
                    and ${ofMerchant("$4", "o.merchant_id")}
                  limit $3) as counted) as count
        from unnest($1::uuid[], $2::uuid[]) as requested (merchant_id, connection_id)`,
      values: [
        own.map((connection) => connection.merchantId),
        own.map(({ connectionId }) => connectionId),
        countMax,
        merchantId,
      ],
    }),
  );
  const counts = new Map(rows.map((row) => [row.connection_id, row.count]));
  return ({ connectionId }) => counts.get(connectionId) ?? 0;
}
