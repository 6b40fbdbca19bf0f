import { merchantByMerchant } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Delivery } from "./delivery.ts";

/** What decides when a pending delivery is sent. */
export type WaitFacts = {
  readonly endpointStatus: "active" | "paused";
  readonly backoffUntil: Date | null;
  /** Of the endpoint. */
  readonly lastError: string | null;
  /** A worker has it, to send it now. */
  readonly isClaimed: boolean;
};

type OwnedDelivery = Delivery & { readonly merchantId: string };

/** By the ids of deliveries. Those of deleted endpoints are left out. */
export async function readWaitFacts(
  db: Queryable,
  deliveries: readonly OwnedDelivery[],
): Promise<ReadonlyMap<string, WaitFacts>> {
  if (deliveries.length === 0) return new Map();
  const rows = await merchantByMerchant(db, deliveries, (own, merchantId) =>
    db.query<WaitFacts & { id: string }>({
      name: "read-wait-facts",
      text: `
        select waiting.id, w.status as "endpointStatus", s.backoff_until as "backoffUntil", s.last_error as "lastError",
               exists (
                 select
                 from due_deliveries q
                 where q.merchant_id = waiting.merchant_id and q.endpoint_id = waiting.endpoint_id
                   and ($5::uuid is null or q.merchant_id = $5)
                   -- After a manual request a delivery has a stream of its own.
                   and q.stream_id in (waiting.stream_id, waiting.id) and q.delivery_id = waiting.id
                   and q.claim_id is not null) as "isClaimed"
        from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) as waiting (merchant_id, endpoint_id, stream_id, id)
        join webhook_endpoints w on w.merchant_id = waiting.merchant_id and w.id = waiting.endpoint_id
        join webhook_endpoint_states s on s.merchant_id = w.merchant_id and s.endpoint_id = w.id
        where w.status <> 'deleted' and ($5::uuid is null or w.merchant_id = $5) and ($5::uuid is null or s.merchant_id = $5)`,
      values: [
        own.map((delivery) => delivery.merchantId),
        own.map(({ endpointId }) => endpointId),
        own.map(({ orderId, eventId }) => orderId ?? eventId),
        own.map(({ id }) => id),
        merchantId,
      ],
    }),
  );
  return new Map(rows.map(({ id, ...facts }) => [id, facts]));
}
