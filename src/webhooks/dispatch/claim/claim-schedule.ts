import type { ConnectionKey } from "../../../platform/connection-key.ts";

/** Connections for which this process claims at the same time. */
const CONCURRENCY = 4;

/**
 * Decides for which connection to claim next. Connections wait in the order in which they were added; one that is added
 * again while it waits keeps its position. At most one claim of a connection runs at a time.
 */
export class ClaimSchedule {
  readonly #waiting = new Map<string, ConnectionKey>();
  readonly #claiming = new Set<string>();
  #isClosed = false;

  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#claiming.size === 0;
  }

  add({ merchantId, connectionId }: ConnectionKey): void {
    if (!this.#isClosed) this.#waiting.set(connectionId, { merchantId, connectionId });
  }

  /** Begins the next claim and returns its connection. Null when there is none, or when enough claims are running. */
  begin(): ConnectionKey | null {
    if (this.#claiming.size >= CONCURRENCY) return null;
    for (const [connectionId, connection] of this.#waiting) {
      if (this.#claiming.has(connectionId)) continue;
      this.#waiting.delete(connectionId);
      this.#claiming.add(connectionId);
      return connection;
    }
    return null;
  }

  end({ connectionId }: ConnectionKey): void {
    this.#claiming.delete(connectionId);
  }

  isClaiming({ connectionId }: ConnectionKey): boolean {
    return this.#claiming.has(connectionId);
  }

  /** Drops waiting connections, and ignores further ones. Running claims continue. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }
}
