import type { InFlight } from "./in-flight.ts";

type Timed = {
  position: number;
  /** Of `performance.now()`. */
  readonly startedAt: number;
  end(error: string): void;
};

/**
 * Ends exchanges that take too long. One timer serves all of them: it expires at the deadline of the oldest one, and begins
 * again for the oldest of those that are left. A timer for each would be set and cleared with every request.
 */
export class Deadline {
  readonly #inFlight: InFlight<Timed>;
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | null = null;

  constructor(inFlight: InFlight<Timed>, timeoutMs: number) {
    this.#inFlight = inFlight;
    this.#timeoutMs = timeoutMs;
  }

  /** Call this after an exchange has begun. One that began before it has an earlier deadline. */
  watch(): void {
    this.#timer ??= this.#endAfter(this.#timeoutMs);
  }

  #endAfter(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#endOverdue(), ms).unref();
  }

  #endOverdue(): void {
    this.#timer = null;
    const now = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const exchange of this.#inFlight.all()) {
      const leftMs = exchange.startedAt + this.#timeoutMs - now;
      if (leftMs <= 0) exchange.end("timeout");
      else nextMs = Math.min(nextMs, leftMs);
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#timer = this.#endAfter(nextMs);
  }
}
