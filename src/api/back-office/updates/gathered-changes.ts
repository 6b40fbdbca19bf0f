import { NEW_EVENTS_MAX, NEW_EVENTS_OF_MERCHANT_MAX, type NewEvent } from "../../../events/new-events-sql.ts";
import type { ConnectionKey } from "../../../platform/connection-key.ts";
import type { ChangedOrder, ChangedOrders } from "../../../platform/signals.ts";
import type { Changes } from "./update-stream.ts";

/** Orders, connections and merchants that are kept between two rounds. */
const KEPT_MAX = 500;

/** What signals and the newest events report, until the next round passes it on. */
export class GatheredChanges {
  #orders = new Map<string, ChangedOrder>();
  #connections = new Map<string, ConnectionKey>();
  /** Merchants of which more has changed than is kept. Null: any. */
  #moreOf: Set<string> | null = new Set();
  /** The events of the last reading. Null before the first one. */
  #seen: ReadonlySet<string> | null = null;

  addOrders(changed: ChangedOrders): void {
    if ("merchantIds" in changed) {
      this.#addMore(changed.merchantIds);
      return;
    }
    for (const { id, merchantId, connectionId, testMode } of changed.orders) {
      this.#orders.set(id, { id, merchantId, connectionId, testMode });
      if (this.#orders.size > KEPT_MAX) this.#forgetNames();
    }
  }

  addConnections(connections: Iterable<ConnectionKey>): void {
    for (const { merchantId, connectionId } of connections) {
      this.#connections.set(connectionId, { merchantId, connectionId });
      if (this.#connections.size > KEPT_MAX) this.#forgetNames();
    }
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
    this.addOrders({
      orders: fresh.flatMap(({ orderId, ...event }) => (orderId === null ? [] : [{ ...event, id: orderId }])),
    });
    this.#addMore(merchantsCut(events, fresh));
  }

  take(): Changes {
    const changes = {
      orders: [...this.#orders.values()],
      connections: [...this.#connections.values()],
      moreOf: this.#moreOf,
    };
    this.#orders = new Map();
    this.#connections = new Map();
    this.#moreOf = new Set();
    return changes;
  }

  /** No stream is open any more. */
  clear(): void {
    this.take();
    this.#seen = null;
  }

  /** @param merchantIds null: any */
  #addMore(merchantIds: Iterable<string> | null): void {
    if (merchantIds === null) this.#moreOf = null;
    else for (const id of merchantIds) this.#moreOf?.add(id);
    if (this.#moreOf !== null && this.#moreOf.size > KEPT_MAX) this.#moreOf = null;
  }

  /** Keeps the merchants alone. */
  #forgetNames(): void {
    const kept = [...this.#orders.values(), ...this.#connections.values()];
    this.#orders = new Map();
    this.#connections = new Map();
    this.#addMore(kept.map(({ merchantId }) => merchantId));
  }
}

/** Merchants of which a reading may have left out new events: all that it read of one are new. Null, if it is full: any. */
function merchantsCut(events: readonly NewEvent[], fresh: readonly NewEvent[]): string[] | null {
  if (fresh.length > 0 && events.length >= NEW_EVENTS_MAX) return null;
  const ofMerchants = Map.groupBy(fresh, ({ merchantId }) => merchantId);
  return [...ofMerchants].flatMap(([id, own]) => (own.length >= NEW_EVENTS_OF_MERCHANT_MAX ? [id] : []));
}
