import type { WebhookEvent } from "./inbox.ts";

type Order = NonNullable<WebhookEvent["data"]["order"]>;
export type KnownOrders = Map<string, { sequence: number; order: Order }>;

/** Keeps the order of its latest event. `gap`: an event between the last one and this one is missing. */
export function keepOrder(orders: KnownOrders, { sequence, data: { order } }: WebhookEvent) {
  if (order === undefined || sequence === null) return "not counted";
  const known = orders.get(order.id)?.sequence ?? 0;
  if (sequence <= known) return "older"; // A newer event has already arrived.
  orders.set(order.id, { sequence, order });
  return sequence === known + 1 ? "next" : "gap";
}
