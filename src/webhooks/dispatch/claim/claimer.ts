import type { ConnectionKey } from "../../../platform/connection-key.ts";
import type { WebhookContext } from "../../context.ts";
import type { ClaimedDelivery } from "../claimed-delivery.ts";
import type { EndpointQueue } from "../endpoint-queue.ts";
import type { EndpointQueues } from "../endpoint-queues.ts";
import { ClaimBudget } from "./claim-budget.ts";
import { claimDue } from "./claim-due.ts";
import { ClaimSchedule } from "./claim-schedule.ts";
import { RetryTimers } from "./retry-timers.ts";

type ClaimerOptions = {
  readonly workerId: string;
  readonly queues: EndpointQueues;
  /** Deliveries were added to a queue. */
  readonly onClaimed: (queue: EndpointQueue) => void;
  /** A claim for a connection has ended, with or without deliveries. */
  readonly onEnded: (connection: ConnectionKey) => void;
};

/** Claims deliveries for connections that were woken, a few at a time, and adds them to the queues of their endpoints. */
export class Claimer {
  readonly #context: WebhookContext;
  readonly #options: ClaimerOptions;
  readonly #schedule = new ClaimSchedule();
  readonly #budget = new ClaimBudget();
  readonly #timers = new RetryTimers((connection) => this.wake([connection]));

  constructor(context: WebhookContext, options: ClaimerOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Whether no claim is running and none is waiting. */
  get isIdle(): boolean {
    return this.#schedule.isIdle;
  }

  isClaiming(connection: ConnectionKey): boolean {
    return this.#schedule.isClaiming(connection);
  }

  /** Claims for these connections as soon as possible. */
  wake(connections: Iterable<ConnectionKey>): void {
    for (const connection of connections) this.#schedule.add(connection);
    this.#claimNext();
  }

  /** Claims for a connection at a time in the near future. Later times are left to polling. */
  wakeAt(connection: ConnectionKey, at: Date): void {
    this.#timers.set(connection, at.getTime() - this.#context.clock.now().getTime());
  }

  /** The outcome of a delivery is stored, so there is room for another claim. */
  completed(delivery: ClaimedDelivery): void {
    this.#budget.remove(delivery);
    this.#claimNext();
  }

  /** Makes no further claim. One that is running continues. */
  stop(): void {
    this.#schedule.close();
    this.#timers.stop();
  }

  #claimNext(): void {
    while (this.#budget.hasRoom) {
      const connection = this.#schedule.begin();
      if (connection === null) return;
      void this.#claim(connection);
    }
  }

  async #claim(connection: ConnectionKey): Promise<void> {
    const { onClaimed, onEnded, ...worker } = this.#options;
    try {
      const options = { ...worker, healthyOnly: !this.#budget.hasRoomForFailing };
      for (const { queue, deliveries } of await claimDue(this.#context, connection, options)) {
        this.#budget.add(deliveries, queue.isFailing);
        queue.add(deliveries);
        onClaimed(queue);
      }
    } catch (err) {
      const ids = { connection: { id: connection.connectionId } };
      this.#context.log.error({ err, ...ids }, "claim of deliveries failed, polling will repeat it");
    }
    this.#schedule.end(connection);
    onEnded(connection);
    this.#claimNext();
  }
}
