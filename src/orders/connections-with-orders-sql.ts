import { amongMerchants } from "../distribution/among-merchants.ts";
import { searchReachable } from "../distribution/reachable-merchants.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";

type DueOrders = {
  /** Of the statement. */
  readonly name: string;
  /** Of the orders `o`: that of a partial index, in which `oldestBy` follows the connection. Its parameters begin with `$2`. */
  readonly condition: string;
  readonly values: readonly unknown[];
  /** The column of an order by which it waits. */
  readonly oldestBy: "acceptance_due_at" | "expires_at" | "id";
};

/** Connections that have orders of this kind. The one that waits longest is first. A scan over all shards. */
export async function listConnectionsWithOrders(
  db: Queryable,
  { name, condition, values, oldestBy }: DueOrders,
): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, name, (merchants) =>
    db.query<ConnectionKeyRow>({
      name,
      text: `
        select c.merchant_id, c.id as connection_id
        from connections c
        cross join lateral (
          select o.${oldestBy}
          from orders o
          where o.merchant_id = c.merchant_id and o.connection_id = c.id and ${amongMerchants("$1", "o.merchant_id")}
            and ${condition}
          order by o.${oldestBy}
          limit 1) as oldest
        where ${amongMerchants("$1", "c.merchant_id")}
        order by oldest.${oldestBy}`,
      values: [merchants, ...values],
    }),
  );
  return rows.map(toConnectionKey);
}
