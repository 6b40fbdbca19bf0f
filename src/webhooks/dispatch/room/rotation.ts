/** Keys that `next` looks at. More of them, of which none is admitted, would make each call cost more than its benefit. */
const LOOKED_AT_MAX = 128;

/** Items that wait, each with a key. The keys take turns, so that one with many items delays no other. */
export class WaitingQueues<Thing> {
  readonly #keyOf: (thing: Thing) => string;
  readonly #waiting = new Map<string, Set<Thing>>();
  #size = 0;

  constructor(keyOf: (thing: Thing) => string) {
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#size;
  }

  /** An item that already waits keeps its position. */
  add(thing: Thing): void {
    const key = this.#keyOf(thing);
    const things = this.#waiting.get(key) ?? new Set<Thing>();
    if (!things.has(thing)) this.#size += 1;
    this.#waiting.set(key, things.add(thing));
  }

  /**
   * Removes and returns the next item of a key that is admitted. Null when none of the first keys is; they are then the
   * last ones, so that further calls reach every key.
   */
  next(admits: (key: string) => boolean = () => true): Thing | null {
    let left = Math.min(LOOKED_AT_MAX, this.#waiting.size);
    for (const [key, things] of this.#waiting) {
      if (left === 0) return null;
      left -= 1;
      const thing = admits(key) ? this.#take(things) : null;
      if (things.size === 0) this.#waiting.delete(key);
      else this.#moveBehind(key, things);
      if (thing !== null) return thing;
    }
    return null;
  }

  #take(things: Set<Thing>): Thing | null {
    for (const thing of things) {
      things.delete(thing);
      this.#size -= 1;
      return thing;
    }
    return null;
  }

  #moveBehind(key: string, things: Set<Thing>): void {
    if (this.#waiting.size === 1) return;
    this.#waiting.delete(key);
    this.#waiting.set(key, things);
  }
}
