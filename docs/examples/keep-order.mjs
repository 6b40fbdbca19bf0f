/**
 * Keeps the latest copy of each order, in a Map by the order's id, whether it is from a webhook, the feed, a read or a
 * search. False if the copy that it has is as new or newer.
 */
export function keepOrder(orders, order) {
  const known = orders.get(order.id);
  if (known !== undefined && !isNewer(order, known)) return false;
  orders.set(order.id, order);
  return true;
}

/** A change without an event that counts leaves `sequence` as it is. Every change moves `updatedAt`. */
const isNewer = (order, known) =>
  order.sequence === known.sequence ? order.updatedAt > known.updatedAt : order.sequence > known.sequence;
