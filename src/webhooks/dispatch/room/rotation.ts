/** Things that wait, each with a key. The keys take turns, so that one with many things delays no other. */
export class Rotation<Thing> {
  readonly #keyOf: (thing: Thing) => string;
  readonly #waiting = new Map<string, Set<Thing>>();
  #size = 0;

  constructor(keyOf: (thing: Thing) => string) {
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#size;
  }

  /** A thing that already waits keeps its position. */
  add(thing: Thing): void {
    const key = this.#keyOf(thing);
    const things = this.#waiting.get(key) ?? new Set<Thing>();
    if (!things.has(thing)) this.#size += 1;
    this.#waiting.set(key, things.add(thing));
  }

  /** Removes and returns the next thing of a key that is admitted. Null when there is none. */
  next(admits: (key: string) => boolean = () => true): Thing | null {
    for (const [key, things] of this.#waiting) {
      if (!admits(key)) continue;
      this.#waiting.delete(key);
      const [thing] = things;
      if (thing === undefined) continue;
      things.delete(thing);
      this.#size -= 1;
      if (things.size > 0) this.#waiting.set(key, things);
      return thing;
    }
    return null;
  }
}
