import { MINUTE_MS } from "../platform/time.ts";
import type { VersionedOrder } from "./order-row.ts";
import { orderText } from "./order-wire.ts";

/** Personal data stays no longer in a process that reads other orders. */
const KNOWN_MS = 10 * MINUTE_MS;
/** The length of all orders as text. As objects they take about three times as much memory. */
const CHARACTERS_MAX = 8 * 2 ** 20;

type Known = VersionedOrder & { readonly length: number; readonly untilMs: number };

/**
 * The orders that a process has read last, by their ids. Each read still looks at the order's row: it compares the version,
 * and shows whose order it is, and that there still is one (decision 0178).
 */
export class KnownOrders {
  /** The oldest first. */
  readonly #orders = new Map<string, Known>();
  #length = 0;
  readonly #nowMs: () => number;
  readonly #charactersMax: number;

  /** @param nowMs a clock that never goes back, in milliseconds */
  constructor(nowMs: () => number = () => performance.now(), charactersMax = CHARACTERS_MAX) {
    this.#nowMs = nowMs;
    this.#charactersMax = charactersMax;
  }

  /** Those of the orders that are known. */
  among(ids: Iterable<string>): VersionedOrder[] {
    const nowMs = this.#nowMs();
    const found: VersionedOrder[] = [];
    for (const id of ids) {
      const known = this.#orders.get(id);
      if (known !== undefined && nowMs < known.untilMs) found.push(known);
    }
    return found;
  }

  keep({ order, version }: VersionedOrder): void {
    const nowMs = this.#nowMs();
    const { length } = orderText(order);
    this.#remove(order.id);
    this.#orders.set(order.id, { order, version, length, untilMs: nowMs + KNOWN_MS });
    this.#length += length;
    for (const [id, { untilMs }] of this.#orders) {
      if (this.#length <= this.#charactersMax && nowMs < untilMs) break;
      this.#remove(id);
    }
  }

  #remove(id: string): void {
    this.#length -= this.#orders.get(id)?.length ?? 0;
    this.#orders.delete(id);
  }
}
