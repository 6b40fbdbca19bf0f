import type { OrderKey } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { DeliveryStatus } from "./delivery.ts";

/** Deliveries that an event shows. It has one for each endpoint that wants its type. */
export const DELIVERIES_SHOWN_MAX = 20;

export type OrderEvent = {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly deliveries: readonly OrderEventDelivery[];
};

export type OrderEventDelivery = {
  readonly id: string;
  readonly endpointId: string;
  readonly url: string;
  readonly status: DeliveryStatus;
};

/** An id that the table has as text within JSON. */
type Row = { id: string; type: string; sequence: number; deliveries: OrderEventDelivery[] };

/**
 * The events of an order after an id, oldest first, with their first deliveries; one more than the page if there is one.
 * Events that are not kept any more are left out: `oldestId`. By the index of the order; a delivery is of the stream of its
 * order, and its id begins as that of its event does (decision 0028).
 */
export async function listOrderEvents(
  db: Queryable,
  { merchantId, connectionId, id }: OrderKey,
  { afterId, limit, oldestId, now }: { afterId: string; limit: number; oldestId: string; now: Date },
): Promise<OrderEvent[]> {
  return db.query<Row>({
    name: "list-order-events",
    text: `
      select e.id, e.type, e.sequence,
             (select coalesce(json_agg(shown), '[]'::json)
              from (
                select d.id, d.endpoint_id as "endpointId", w.url, d.status
                from deliveries d
                join webhook_endpoints w on w.merchant_id = $1 and w.id = d.endpoint_id
                where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = $3 and d.event_id = e.id
                order by d.id
                limit ${DELIVERIES_SHOWN_MAX}) as shown) as deliveries
      from (
        select e.id, e.type, e.sequence
        from events e
        where e.merchant_id = $1 and e.connection_id = $2 and e.order_id = $3 and e.id > $4 and e.id >= $6
          and (e.not_after is null or e.not_after > $7)
        order by e.id
        limit $5 + 1) as e
      order by e.id`,
    values: [merchantId, connectionId, id, afterId, limit, oldestId, now],
  });
}
