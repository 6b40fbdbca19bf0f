import type { ConnectionKey } from "../../../platform/connection-key.ts";

/** A retry that is due within this time gets a timer. Later ones are found by polling. */
const WAIT_MAX_MS = 2_000;

/** Timers for connections with deliveries that become due soon. */
export class RetryTimers {
  readonly #onDue: (connection: ConnectionKey) => void;
  readonly #timers = new Set<NodeJS.Timeout>();
  #isStopped = false;

  constructor(onDue: (connection: ConnectionKey) => void) {
    this.#onDue = onDue;
  }

  set(connection: ConnectionKey, waitMs: number): void {
    if (this.#isStopped || waitMs > WAIT_MAX_MS) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#onDue(connection);
      },
      Math.max(0, waitMs),
    );
    this.#timers.add(timer);
  }

  /** Clears all timers, and sets no more. */
  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
