/** Knows its own position, so that it is removed without a search. */
type Positioned = { position: number };

/**
 * What is in flight, in no order. Not a `Set`: at thousands of changes a second, a `Set` makes the collector keep nearly
 * all that was ever in it until it collects everything (decision 0173).
 */
export class InFlight<Thing extends Positioned> {
  readonly #things: Thing[] = [];

  get isEmpty(): boolean {
    return this.#things.length === 0;
  }

  all(): readonly Thing[] {
    return [...this.#things];
  }

  add(thing: Thing): void {
    thing.position = this.#things.push(thing) - 1;
  }

  /** Removes something that was added. The last one takes its position. */
  remove(thing: Thing): void {
    const last = this.#things.pop();
    if (last === undefined || last === thing) return;
    last.position = thing.position;
    this.#things[thing.position] = last;
  }
}
