/** Time after which use is forgotten, at the latest twice as long. */
const WINDOW_MS = 60_000;

/** Takes note of the database time of a connection's call. */
export type Spent = (owner: string, ms: number) => void;

/** How connections use the pools of partners: what the metrics show. */
export class DatabaseUsage {
  readonly #queues = new Map<string, (() => number)[]>();
  #previous = new Map<string, number>();
  #current = new Map<string, number>();
  #currentSince = performance.now();

  /** Counts the database time of a call of this connection. */
  spent(owner: string, ms: number): void {
    this.#forgetOld();
    this.#current.set(owner, (this.#current.get(owner) ?? 0) + ms);
  }

  /** The connections that used most database time in the last minute or two, with that time in milliseconds. */
  top(count: number): [owner: string, ms: number][] {
    this.#forgetOld();
    const sums = new Map(this.#previous);
    for (const [owner, ms] of this.#current) sums.set(owner, (sums.get(owner) ?? 0) + ms);
    return [...sums].sort(([, a], [, b]) => b - a).slice(0, count);
  }

  /** Adds a queue of calls that wait before they use a connection of this pool. */
  addQueue(pool: string, waiting: () => number): void {
    this.#queues.set(pool, [...(this.#queues.get(pool) ?? []), waiting]);
  }

  waitingFor(pool: string): number {
    return (this.#queues.get(pool) ?? []).reduce((sum, waiting) => sum + waiting(), 0);
  }

  #forgetOld(): void {
    const now = performance.now();
    if (now - this.#currentSince < WINDOW_MS) return;
    this.#previous = now - this.#currentSince < 2 * WINDOW_MS ? this.#current : new Map();
    this.#current = new Map();
    this.#currentSince = now;
  }
}
