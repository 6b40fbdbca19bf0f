import { amongMerchants } from "../../distribution/among-merchants.ts";
import { searchReachable } from "../../distribution/reachable-merchants.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** Connections with deleted endpoints. A scan over all shards. */
export async function listConnectionsWithDeletedEndpoints(db: Queryable): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-deleted-endpoints", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-deleted-endpoints",
      text: `
        select c.merchant_id, c.id as connection_id
        from connections c
        where exists (
          select from webhook_endpoints w
          where w.merchant_id = c.merchant_id and w.connection_id = c.id and w.status = 'deleted'
            and ${amongMerchants("$1", "w.merchant_id")})
          and ${amongMerchants("$1", "c.merchant_id")}
        order by c.id`,
      values: [merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/**
 * Reads a page of a connection's deleted endpoints after a position, and removes those of which nothing is left. Returns
 * the ids that it read, in order.
 */
export async function removeDeletedPage(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  { position, deletedBefore, limit }: { position: string; deletedBefore: Date; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "remove-deleted-endpoints",
    text: `
      with page as materialized (
        select w.id, w.updated_at
        from webhook_endpoints w
        where w.merchant_id = $1 and w.connection_id = $2 and w.status = 'deleted' and w.id > $3
        order by w.id
        limit $5
      ), gone as materialized (
        select p.id
        from page p
        where p.updated_at < $4
          and not exists (select from deliveries d where d.merchant_id = $1 and d.endpoint_id = p.id)
          and not exists (select from due_deliveries q where q.merchant_id = $1 and q.endpoint_id = p.id)
          and not exists (select from webhook_secrets k where k.merchant_id = $1 and k.endpoint_id = p.id)
      ), clearings as (
        delete from webhook_clearings c
        using gone g
        where c.merchant_id = $1 and c.endpoint_id = g.id
      ), recoveries as (
        delete from webhook_resends r
        using gone g
        where r.merchant_id = $1 and r.endpoint_id = g.id and r.in_order
      ), states as (
        delete from webhook_endpoint_states s
        using gone g
        where s.merchant_id = $1 and s.endpoint_id = g.id
      ), removed as (
        delete from webhook_endpoints w
        using gone g
        where w.merchant_id = $1 and w.id = g.id
      )
      select p.id
      from page p
      order by p.id`,
    values: [merchantId, connectionId, position, deletedBefore, limit],
  });
  return rows.map(({ id }) => id);
}
