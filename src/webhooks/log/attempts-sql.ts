import { merchantByMerchant, ofMerchant } from "../../distribution/merchant-by-merchant.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { LoggedAttempt } from "./delivery.ts";

/** A delivery, and the merchant by which it is found. */
export type DeliveryKey = { readonly merchantId: string; readonly id: string };

/**
 * The newest attempts of these deliveries, at most `limit` of each, oldest first. `oldestId` excludes the partitions before
 * it.
 */
export async function listAttempts(
  db: Queryable,
  deliveries: readonly DeliveryKey[],
  { oldestId, limit }: { oldestId: string; limit: number },
): Promise<LoggedAttempt[]> {
  return merchantByMerchant(db, deliveries, (own, merchantId) =>
    db.query<LoggedAttempt>({
      name: "list-attempts",
      text: `
        select newest.delivery_id as "deliveryId", newest.trigger, newest.started_at as "startedAt",
               newest.duration_ms as "durationMs", newest.response_status as "responseStatus",
               newest.response_body as "responseBody", newest.error
        from unnest($1::uuid[], $2::uuid[]) as requested (merchant_id, id)
        cross join lateral (
          select a.delivery_id, a.id, a.trigger, a.started_at, a.duration_ms, a.response_status, a.response_body, a.error
          from attempts a
          where a.merchant_id = requested.merchant_id and a.delivery_id = requested.id and a.id >= $3
            and ${ofMerchant("$5", "a.merchant_id")}
          order by a.id desc
          limit $4) as newest
        order by newest.started_at, newest.id`,
      values: [...columnsOf(own), oldestId, limit, merchantId],
    }),
  );
}

/** How many attempts these deliveries have, at most `countMax` each, by delivery. */
export async function countDeliveryAttempts(
  db: Queryable,
  deliveries: readonly DeliveryKey[],
  { oldestId, countMax }: { oldestId: string; countMax: number },
): Promise<ReadonlyMap<string, number>> {
  if (deliveries.length === 0) return new Map();
  const rows = await merchantByMerchant(db, deliveries, (own, merchantId) =>
    db.query<{ id: string; count: number }>({
      name: "count-attempts",
      text: `
        select requested.id,
               (select count(*)::integer
                from (
                  select
                  from attempts a
                  where a.merchant_id = requested.merchant_id and a.delivery_id = requested.id and a.id >= $3
                    and ${ofMerchant("$5", "a.merchant_id")}
                  limit $4) as counted) as count
        from unnest($1::uuid[], $2::uuid[]) as requested (merchant_id, id)`,
      values: [...columnsOf(own), oldestId, countMax, merchantId],
    }),
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

const columnsOf = (deliveries: readonly DeliveryKey[]): [merchantIds: string[], ids: string[]] => [
  deliveries.map(({ merchantId }) => merchantId),
  deliveries.map(({ id }) => id),
];
