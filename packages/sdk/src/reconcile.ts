import { isProblem } from "./errors.ts";
import type { Order, OrderSearch } from "./generated/types.ts";

/** What you have stored of an order: a full order, or these members of it. */
export type StoredOrder = Pick<Order, "id" | "sequence" | "updatedAt"> & {
  /** Your own id, with which many orders are compared in one request. */
  readonly externalOrderId?: string | null;
};

/** What to compare. */
export type ReconcileOptions<Stored extends StoredOrder = StoredOrder> = {
  /** Compares the orders that changed at or after this time: the start of the run before, or a little earlier. */
  readonly since: Date | string;
  /** The orders that you have stored, all of them or those that you expect to have changed. They are kept in memory. */
  readonly mine: Iterable<Stored> | AsyncIterable<Stored>;
  /** Ends it. It throws the signal's reason. */
  readonly signal?: AbortSignal;
};

/** How the orders of the service differ from yours. All lists are empty if they are the same. */
export type Reconciliation<Stored extends StoredOrder = StoredOrder> = {
  /** Orders of the service that changed since, and that you have not. */
  readonly missed: readonly Order[];
  /** Yours that the service has not: from another connection or mode, or erased test orders. */
  readonly unknown: readonly Stored[];
  /** Orders of which you have another version than the service. */
  readonly differs: readonly { readonly mine: Stored; readonly order: Order }[];
};

/** How orders are read. */
type Orders = {
  get(orderId: string, options?: { signal: AbortSignal }): Promise<Order>;
  search(search: OrderSearch, options?: { signal: AbortSignal }): AsyncIterable<Order>;
};

const IDS_MAX = 100;

/**
 * Whether a copy of an order is newer than another one: its `sequence` is higher or, if it is the same, its `updatedAt` later. So events,
 * reads, searches and redeliveries can arrive in any order.
 */
export const isNewer = (
  copy: Pick<Order, "sequence" | "updatedAt">,
  than: Pick<Order, "sequence" | "updatedAt">,
): boolean =>
  copy.sequence === than.sequence ? copy.updatedAt > than.updatedAt : copy.sequence > than.sequence;

/** See `PartnerOrders.reconcile`. */
export async function reconcile<Stored extends StoredOrder>(
  orders: Orders,
  { since, mine, signal }: ReconcileOptions<Stored>,
): Promise<Reconciliation<Stored>> {
  const options = signal && { signal };
  const stored = new Map<string, Stored>();
  for await (const one of mine) stored.set(one.id, one);

  const found = new Map<string, Order>();
  const keep = (order: Order) => {
    const known = found.get(order.id);
    if (known === undefined || isNewer(order, known)) found.set(order.id, order); // It may be on two pages.
  };
  const updatedSince = new Date(since).toISOString();
  for await (const order of orders.search({ updatedSince, limit: 100 }, options)) keep(order);

  const missed = [...found.values()].filter(({ id }) => !stored.has(id));
  // Not changed since, or not on a page because it changed at that moment, or not there at all.
  const unseen = [...stored.values()].filter(({ id }) => !found.has(id));
  for (const ids of groupsOf(unseen.flatMap(({ externalOrderId }) => externalOrderId ?? [])))
    for await (const order of orders.search({ externalOrderIds: ids, limit: 100 }, options)) keep(order);
  const unknown: Stored[] = [];
  for (const one of unseen)
    if (!found.has(one.id)) {
      const order = await orders.get(one.id, options).catch((error) => {
        if (isProblem(error) && error.code === "not-found") return null;
        throw error;
      });
      if (order === null) unknown.push(one);
      else keep(order);
    }

  const differs = [...stored.values()].flatMap((one) => {
    const order = found.get(one.id);
    return order !== undefined && (isNewer(order, one) || isNewer(one, order)) ? [{ mine: one, order }] : [];
  });
  return { missed, unknown, differs };
}

const groupsOf = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / IDS_MAX) }, (_group, index) =>
    ids.slice(index * IDS_MAX, (index + 1) * IDS_MAX),
  );
