import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { LeasedEndpoint } from "./claimed-delivery.ts";
import { EndpointQueue } from "./endpoint-queue.ts";

/** The queues of all endpoints that a worker holds, by connection. */
export class EndpointQueues {
  readonly #byConnection = new Map<string, Map<string, EndpointQueue>>();

  get isEmpty(): boolean {
    return this.#byConnection.size === 0;
  }

  all(): EndpointQueue[] {
    return [...this.#byConnection.values()].flatMap((queues) => [...queues.values()]);
  }

  of({ connectionId }: ConnectionKey): EndpointQueue[] {
    return [...(this.#byConnection.get(connectionId)?.values() ?? [])];
  }

  /** Returns the queue of an endpoint, a new one if there is none. */
  open(endpoint: LeasedEndpoint): EndpointQueue {
    const queues = this.#byConnection.get(endpoint.connectionId) ?? new Map<string, EndpointQueue>();
    const queue = queues.get(endpoint.id) ?? new EndpointQueue(endpoint);
    this.#byConnection.set(endpoint.connectionId, queues.set(endpoint.id, queue));
    return queue;
  }

  remove({ endpoint: { connectionId, id } }: EndpointQueue): void {
    const queues = this.#byConnection.get(connectionId);
    queues?.delete(id);
    if (queues?.size === 0) this.#byConnection.delete(connectionId);
  }
}
