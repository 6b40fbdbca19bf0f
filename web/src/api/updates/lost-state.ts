/** Whether something has been away for a while: a short absence is not reported. */
export class LostState {
  readonly #afterMs: number;
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isLost = false;

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /** It is away. If it was before, the time counts since then. */
  begin(): void {
    if (this.#timer !== null || this.#isLost) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#set(true);
    }, this.#afterMs);
  }

  /** It is back, or is not wanted any more. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#set(false);
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly current = (): boolean => this.#isLost;

  #set(isLost: boolean): void {
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    for (const listener of this.#listeners) listener();
  }
}
