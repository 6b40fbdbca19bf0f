/**
 * Keeps each order as of its latest event, in a Map by the order's id. `gap`: an event between the last one and this one
 * is missing.
 */
export function keepOrder(orders, { sequence, data: { order } }) {
  if (order === undefined || sequence === null) return "not counted";
  const known = orders.get(order.id)?.sequence ?? 0;
  if (sequence <= known) return "older"; // A newer event has already arrived.
  orders.set(order.id, { sequence, order });
  return sequence === known + 1 ? "next" : "gap";
}
