import { amongMerchants, merchantsOf } from "../../distribution/among-merchants.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";

type EventBody = { readonly merchantId: string; readonly id: string; readonly body: string };

/** What names an order of a merchant. */
type OrderOfMerchant = { readonly merchantId: string; readonly id: string };

/** Events whose bodies are in memory at the same time. */
const EVENTS_MAX = 500;

/**
 * Changes the bodies of all events of orders, to erase personal data: the one exception from the rule that a body is
 * frozen (decision 0071). The order's rows are locked, so that no event is added during the change.
 * @param since before the first event of the orders: it excludes older partitions
 */
export async function rewriteEventBodies(
  tx: Queryable,
  orders: readonly OrderOfMerchant[],
  since: Date,
  rewrite: (body: string) => string,
): Promise<void> {
  for (let afterId = uuidAt(since); ; ) {
    const events = await listEventBodies(tx, orders, afterId);
    const last = events.at(-1);
    if (last === undefined) return;
    await updateEventBodies(
      tx,
      events.map((event) => ({ ...event, body: rewrite(event.body) })),
      afterId,
    );
    afterId = last.id;
  }
}

/** The next bodies after an id. Uses events_order_idx of each partition. */
const listEventBodies = async (
  tx: Queryable,
  orders: readonly OrderOfMerchant[],
  afterId: string,
): Promise<EventBody[]> =>
  tx.query<EventBody>({
    name: "list-event-bodies-of-orders",
    text: `
      select e.merchant_id as "merchantId", e.id, e.body
      from unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, order_id)
      join events e on e.merchant_id = erased.merchant_id and e.order_id = erased.order_id
      where e.id > $3 and ${amongMerchants("$5", "e.merchant_id")}
      order by e.id
      limit $4`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      afterId,
      EVENTS_MAX,
      await merchantsOf(tx, orders),
    ],
  });

async function updateEventBodies(
  tx: Queryable,
  events: readonly EventBody[],
  afterId: string,
): Promise<void> {
  await tx.query({
    name: "update-event-bodies",
    text: `
      update events e
      set body = changed.body
      from unnest($1::uuid[], $2::uuid[], $3::text[]) as changed (merchant_id, id, body)
      where e.merchant_id = changed.merchant_id and e.id = changed.id and e.id > $4
        and ${amongMerchants("$5", "e.merchant_id")}`,
    values: [
      events.map(({ merchantId }) => merchantId),
      events.map(({ id }) => id),
      events.map(({ body }) => body),
      afterId,
      await merchantsOf(tx, events),
    ],
  });
}
