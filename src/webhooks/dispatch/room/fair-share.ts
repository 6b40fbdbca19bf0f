/** How many times what is free one key may hold. A key alone may hold eight ninths of all; the rest is a reserve. */
const TIMES_FREE = 8;

/**
 * Divides a capacity among keys, mostly connections. A key may hold eight times as much as is free (decision 0063). So one that
 * is alone gets nearly all, and a newcomer finds some of it free at once. What it takes makes the limit of all others lower:
 * they get nothing more until they are below it, so that several end with equal shares. Nothing is taken away.
 */
export class FairShare {
  readonly #capacity: number;
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#free = capacity;
  }

  get isUnused(): boolean {
    return this.#free === this.#capacity;
  }

  /** Whether nothing is free for any key. */
  get isFull(): boolean {
    return this.#free <= 0;
  }

  /** How much more a key may take. */
  freeFor(key: string): number {
    const held = this.#held.get(key) ?? 0;
    if (held === 0 && this.#free > 0)
      return Math.max(1, Math.floor((TIMES_FREE * this.#free) / (TIMES_FREE + 1)));
    return Math.max(0, Math.floor((TIMES_FREE * this.#free - held) / (TIMES_FREE + 1)));
  }

  admits(key: string): boolean {
    return this.freeFor(key) > 0;
  }

  /** Whether a key holds anything. */
  holds(key: string): boolean {
    return this.#held.has(key);
  }

  take(key: string, size: number): void {
    this.#free -= size;
    this.#held.set(key, (this.#held.get(key) ?? 0) + size);
  }

  giveBack(key: string, size: number): void {
    this.#free += size;
    const left = (this.#held.get(key) ?? 0) - size;
    if (left > 0) this.#held.set(key, left);
    else this.#held.delete(key);
  }
}
