import type { WebhookEvent } from "./inbox.ts";

type Order = NonNullable<WebhookEvent["data"]["order"]>;
export type KnownOrders = Map<string, { sequence: number; order: Order }>;

/** Keeps an order as its latest event tells it. `gap`: an event between the last one and this one is missing. */
export function keepOrder(orders: KnownOrders, { sequence, data: { order } }: WebhookEvent) {
  if (order === undefined || sequence === null) return "not counted";
  const known = orders.get(order.id)?.sequence ?? 0;
  if (sequence <= known) return "older"; // The order has gone on since: nothing to take from it.
  orders.set(order.id, { sequence, order });
  return sequence === known + 1 ? "next" : "gap";
}
