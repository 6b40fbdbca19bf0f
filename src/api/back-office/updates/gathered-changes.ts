import { NEW_EVENTS_MAX, NEW_EVENTS_OF_MERCHANT_MAX, type NewEvent } from "../../../events/new-events-sql.ts";
import type { ConnectionKey } from "../../../platform/connection-key.ts";
import type { ChangedOrder } from "../../../platform/signals.ts";
import type { Changes } from "./update-stream.ts";

/** Orders and connections that are kept between two rounds. */
const KEPT_MAX = 500;

/** What signals and the newest events report, until the next round passes it on. */
export class GatheredChanges {
  #orders = new Map<string, ChangedOrder>();
  #connections = new Map<string, ConnectionKey>();
  #isMore = false;
  /** The events of the last reading. Null before the first one. */
  #seen: ReadonlySet<string> | null = null;

  /** @param orders null: too many to name */
  addOrders(orders: readonly ChangedOrder[] | null): void {
    for (const { id, merchantId, connectionId, testMode } of orders ?? [])
      this.#orders.set(id, { id, merchantId, connectionId, testMode });
    this.#isMore ||= orders === null || this.#orders.size > KEPT_MAX;
    if (this.#isMore) this.#forget();
  }

  addConnections(connections: Iterable<ConnectionKey>): void {
    for (const { merchantId, connectionId } of connections)
      this.#connections.set(connectionId, { merchantId, connectionId });
    this.#isMore ||= this.#connections.size > KEPT_MAX;
    if (this.#isMore) this.#forget();
  }

  /**
   * Adds the events that the last reading did not find. The first reading only shows what had happened before. Readings
   * overlap, because events commit in another order than that of their ids.
   */
  addEvents(events: readonly NewEvent[]): void {
    const seen = this.#seen;
    this.#seen = new Set(events.map(({ id }) => id));
    if (seen === null) return;
    const fresh = events.filter(({ id }) => !seen.has(id));
    this.addConnections(fresh);
    this.addOrders(
      fresh.flatMap(({ orderId, ...event }) => (orderId === null ? [] : [{ ...event, id: orderId }])),
    );
    if (mayBeCut(events, fresh)) this.addOrders(null);
  }

  take(): Changes {
    const changes = {
      orders: [...this.#orders.values()],
      connections: [...this.#connections.values()],
      isMore: this.#isMore,
    };
    this.#forget();
    this.#isMore = false;
    return changes;
  }

  /** No stream is open any more. */
  clear(): void {
    this.take();
    this.#seen = null;
  }

  #forget(): void {
    this.#orders = new Map();
    this.#connections = new Map();
  }
}

/** Whether a reading may have left out new events: all of one merchant that it read are new, or it is full. */
function mayBeCut(events: readonly NewEvent[], fresh: readonly NewEvent[]): boolean {
  if (fresh.length === 0) return false;
  if (events.length >= NEW_EVENTS_MAX) return true;
  const ofMerchants = Map.groupBy(fresh, ({ merchantId }) => merchantId);
  return [...ofMerchants.values()].some((own) => own.length >= NEW_EVENTS_OF_MERCHANT_MAX);
}
