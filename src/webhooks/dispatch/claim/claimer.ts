import { knownReachableOf, reachableOf } from "../../../distribution/reachable-merchants.ts";
import type { ConnectionKey } from "../../../platform/connection-key.ts";
import { isNodeLost, isOutOfReach } from "../../../platform/database/database.ts";
import type { WebhookContext } from "../../context.ts";
import type { ClaimedDelivery } from "../claimed-delivery.ts";
import type { EndpointQueue } from "../endpoint-queue.ts";
import type { EndpointQueues } from "../endpoint-queues.ts";
import { ClaimBudget } from "./claim-budget.ts";
import { claimDue } from "./claim-due.ts";
import { ClaimSchedule } from "./claim-schedule.ts";
import { LostClaims } from "./lost-claims.ts";
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
  readonly #lost = new LostClaims();
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

  /** Releases what failed claims of this process have stored, so that it can be claimed again. */
  async releaseLost(): Promise<void> {
    const { db, clock } = this.#context;
    await this.#lost.release(db, clock.now());
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
      const connections = this.#schedule.begin((connectionId) => this.#budget.admits(connectionId));
      if (connections.length === 0) return;
      void this.#claim(connections);
    }
  }

  async #claim(connections: readonly ConnectionKey[]): Promise<void> {
    const reachable = await knownReachableOf(this.#context.db, connections).catch(() => connections);
    const error = reachable.length === 0 ? null : await this.#claimTogether(reachable);
    if (error !== null && reachable.length > 1)
      for (const part of await this.#partsAfter(error, reachable)) await this.#claimTogether(part);
    this.#schedule.end(connections);
    for (const connection of connections) this.#options.onEnded(connection);
    this.#claimNext();
  }

  /** How to claim again after a failure, so that a connection whose claim fails delays none of the others. */
  async #partsAfter(
    error: unknown,
    connections: readonly ConnectionKey[],
  ): Promise<readonly (readonly ConnectionKey[])[]> {
    if (isOutOfReach(error)) return [];
    // On Citus the merchants before the one whose claim failed may have been claimed (decision 0183).
    await this.releaseLost().catch(() => undefined);
    if (!isNodeLost(error)) return connections.map((connection) => [connection]);
    const reachable = await reachableOf(this.#context.db, connections).catch(() => []);
    return reachable.length === 0 ? [] : [reachable];
  }

  /** Returns the error if it failed. */
  async #claimTogether(connections: readonly ConnectionKey[]): Promise<unknown> {
    const { workerId, queues, onClaimed } = this.#options;
    try {
      await claimDue(this.#context, connections, {
        workerId,
        queues,
        healthyOnly: !this.#budget.hasRoomForFailing,
        roomFor: (connectionId) => this.#budget.roomFor(connectionId),
        lost: this.#lost,
        onClaimed: ({ queue, deliveries }) => {
          this.#budget.add(deliveries, queue.isFailing);
          queue.add(deliveries);
          onClaimed(queue);
        },
      });
      return null;
    } catch (err) {
      const [first] = connections;
      const ids = { connection: { id: first?.connectionId }, connectionCount: connections.length };
      this.#context.log.error({ err, ...ids }, "claim of deliveries failed, polling will repeat it");
      return err;
    }
  }
}
