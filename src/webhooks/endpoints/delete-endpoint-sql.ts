import type { Queryable } from "../../platform/database/database.ts";
import type { EndpointKey } from "./endpoint.ts";

/** Deletes what is due. An attempt in progress ends with its own outcome. */
export async function deleteDueDeliveries(tx: Queryable, { merchantId, id }: EndpointKey): Promise<void> {
  await tx.query({
    name: "delete-due-deliveries-of-endpoint",
    text: "delete from due_deliveries where merchant_id = $1 and endpoint_id = $2 and claim_id is null",
    values: [merchantId, id],
  });
}

/**
 * Reads a batch of deliveries of any status after a position, and fails the pending ones. Returns the position at which
 * the batch ended, null at the end.
 */
export async function failPendingDeliveries(
  db: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
  position: string,
  limit: number,
): Promise<string | null> {
  const rows = await db.query<{ id: string }>({
    name: "fail-pending-deliveries",
    text: `
      with page as materialized (
        select d.id, d.status, exists (
                 select from due_deliveries q
                 where q.merchant_id = $1 and q.endpoint_id = $2 and q.stream_id = d.stream_id and q.delivery_id = d.id
               ) as is_in_progress
        from deliveries d
        where d.merchant_id = $1 and d.endpoint_id = $2 and d.id > $3
        order by d.id
        limit $4
      ), failed as (
        update deliveries d
        set status = 'failed'
        from page p
        where d.merchant_id = $1 and d.connection_id = $5 and d.id = p.id and p.status = 'pending'
          and d.status = 'pending' and not p.is_in_progress
      )
      select id from page order by id desc limit 1`,
    values: [merchantId, id, position, limit, connectionId],
  });
  return rows[0]?.id ?? null;
}
