import type { ConnectionKey } from "../../../platform/connection-key.ts";

/** Claims that this process makes at the same time. */
const CONCURRENCY = 4;
/** Connections in one claim. */
const CONNECTIONS_MAX = 256;

/**
 * Decides for which connections to claim next. Connections wait in the order in which they were added; one that is added
 * again while it waits keeps its position. A claim includes those that wait when it begins, so without load it is for one
 * connection, at once. At most one claim of a connection runs at a time.
 */
export class ClaimSchedule {
  readonly #connectionsMax: number;
  readonly #waiting = new Map<string, ConnectionKey>();
  readonly #claiming = new Set<string>();
  #running = 0;
  #isClosed = false;

  constructor(connectionsMax = CONNECTIONS_MAX) {
    this.#connectionsMax = connectionsMax;
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#claiming.size === 0;
  }

  add({ merchantId, connectionId }: ConnectionKey): void {
    if (!this.#isClosed) this.#waiting.set(connectionId, { merchantId, connectionId });
  }

  /** Begins the next claim and returns its connections. None when nothing waits, or when enough claims are running. */
  begin(admits: (connectionId: string) => boolean = () => true): ConnectionKey[] {
    const connections: ConnectionKey[] = [];
    if (this.#running >= CONCURRENCY) return connections;
    for (const [connectionId, connection] of this.#waiting) {
      if (connections.length >= this.#connectionsMax) break;
      if (this.#claiming.has(connectionId) || !admits(connectionId)) continue;
      this.#waiting.delete(connectionId);
      this.#claiming.add(connectionId);
      connections.push(connection);
    }
    if (connections.length > 0) this.#running += 1;
    return connections;
  }

  /** Ends a claim. */
  end(connections: readonly ConnectionKey[]): void {
    for (const { connectionId } of connections) this.#claiming.delete(connectionId);
    this.#running -= 1;
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
