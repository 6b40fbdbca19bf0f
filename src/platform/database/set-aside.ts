/**
 * How long the calls of an owner run alone after a slow one. It is short, because an overloaded database is slow for
 * all.
 */
const SET_ASIDE_MS = 10_000;

/** Owners whose calls were recently slow or failed. Their calls run outside of groups. */
export class SetAside {
  readonly #until = new Map<string, number>();

  has(owner: string): boolean {
    if (this.#until.size === 0) return false;
    const until = this.#until.get(owner);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.#until.delete(owner);
    return false;
  }

  add(owner: string): void {
    const now = performance.now();
    for (const [other, until] of this.#until) if (until <= now) this.#until.delete(other);
    this.#until.set(owner, now + SET_ASIDE_MS);
  }
}
