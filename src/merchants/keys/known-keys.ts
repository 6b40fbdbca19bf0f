import type { ApiKey } from "../api-key.ts";

/** How long a key counts as it was read, if no notice of a change arrives (decision 0168). */
const KNOWN_MS = 1_000;
const KEYS_MAX = 10_000;

type Known = { readonly key: ApiKey; readonly untilMs: number };

/**
 * The keys that a process has read within the last second, by their hashes. A change of any key forgets all, in every
 * process that receives the signal. Hashes without a key are not kept, so callers without a key cannot fill it.
 */
export class KnownKeys {
  readonly #keys = new Map<string, Known>();
  /** Changes so far. */
  #changes = 0;
  readonly #nowMs: () => number;

  /** @param nowMs a clock that never goes back, in milliseconds */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  get(hash: string): ApiKey | undefined {
    const known = this.#keys.get(hash);
    return known !== undefined && this.#nowMs() < known.untilMs ? known.key : undefined;
  }

  /**
   * Call it before keys are read. The function that it returns keeps those that were found, unless a key has changed since:
   * they could be from before the change.
   */
  beginRead(): (found: ReadonlyMap<string, ApiKey>) => void {
    const changes = this.#changes;
    const untilMs = this.#nowMs() + KNOWN_MS;
    return (found) => {
      if (changes !== this.#changes) return;
      if (this.#keys.size + found.size > KEYS_MAX) this.#keys.clear();
      for (const [hash, key] of found) this.#keys.set(hash, { key, untilMs });
    };
  }

  /** Call it when a key may have changed. */
  forget(): void {
    this.#changes += 1;
    this.#keys.clear();
  }
}
