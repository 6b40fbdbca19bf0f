import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { after } from "../../platform/time.ts";
import type { WebhookContext } from "../context.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import type { HealthReport } from "../health/endpoint-health.ts";
import { listConnectionsWithDueDeliveries } from "./claim/claim-sql.ts";
import { Claimer } from "./claim/claimer.ts";
import { createEndpointRelease } from "./claim/release-endpoint.ts";
import { renewExpiring } from "./claim/renew-expiring.ts";
import { type ClaimedDelivery, type Completion, released } from "./claimed-delivery.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";
import { EndpointQueues } from "./endpoint-queues.ts";
import { createOutcomeStore, type OutcomeStore } from "./record/outcome-store.ts";
import type { EndpointHost } from "./room/endpoint-host.ts";
import { SendRoom } from "./room/send-room.ts";
import { logAttempt } from "./send/log-attempt.ts";
import { Pace } from "./send/pace.ts";
import {
  firstDelayMs,
  isSuccess,
  LEASE_MARGIN_MS,
  type SendContext,
  sendDelivery,
} from "./send/send-delivery.ts";
import type { Sender } from "./send/sender.ts";
import { tracedAttempt } from "./send/trace-attempt.ts";

/** How long requests in flight may take when the process stops. */
const STOP_MS = 4_000;
/** Requests in flight in this process, if it may have enough sockets. */
export const IN_FLIGHT_MAX = 8_192;

type DispatcherOptions = {
  /** Returns a number from 0 to 1, for the jitter of retries. */
  readonly random: () => number;
  readonly metrics?: Pick<Metrics, "attemptMade">;
  /** Requests that may be in flight. Default: `IN_FLIGHT_MAX`. */
  readonly inFlightMax?: number;
};

/**
 * Sends deliveries that are due, in three phases: the claimer fills the queues of endpoints, `#send` makes an attempt, and
 * `#record` stores its outcome. Any number of dispatchers may run, in any number of processes. An endpoint belongs to one
 * of them at a time (decision 0032).
 */
export class Dispatcher {
  readonly #context: WebhookContext;
  readonly #sender: Sender;
  readonly #sendContext: SendContext;
  readonly #options: DispatcherOptions;
  readonly #workerId: string;
  readonly #queues = new EndpointQueues();
  readonly #claimer: Claimer;
  readonly #pace = new Pace<EndpointQueue>(
    (queue) => this.#sendWaiting(queue),
    (queue) => queue.connection.connectionId,
  );
  readonly #room: SendRoom<EndpointQueue>;
  readonly #outcomes: OutcomeStore;
  /** Queues that ran low while a claim for their connection was running. */
  readonly #lowDuringClaim = new Set<EndpointQueue>();
  readonly #releaseEndpoint: (endpoint: EndpointKey) => Promise<void>;
  #isStopping = false;
  #idleWaiters: (() => void)[] = [];

  constructor(context: WebhookContext, sender: Sender, options: DispatcherOptions) {
    this.#context = context;
    this.#sender = sender;
    this.#sendContext = { clock: context.clock, config: context.config, random: options.random };
    this.#options = options;
    this.#workerId = context.newId();
    this.#room = new SendRoom({
      inFlightMax: options.inFlightMax ?? IN_FLIGHT_MAX,
      limitsUnproven: !context.config.webhookAllowPrivateNetworks,
      resume: (queue) => this.#sendWaiting(queue),
    });
    this.#claimer = new Claimer(context, {
      workerId: this.#workerId,
      queues: this.#queues,
      onClaimed: (queue) => this.#sendWaiting(queue),
      onEnded: (connection) => this.#claimEnded(connection),
    });
    this.#outcomes = createOutcomeStore(context, this.#workerId, (connections) => this.wake(connections));
    this.#releaseEndpoint = createEndpointRelease(context, this.#workerId);
  }

  /** Something may be due for these connections: claims for them as soon as possible. */
  wake(connections: Iterable<ConnectionKey>): void {
    this.#claimer.wake(connections);
  }

  /** Keeps the endpoints of this worker. Finds connections with something due, also those for which no signal arrived. */
  async poll(): Promise<void> {
    const { db, clock } = this.#context;
    await renewExpiring(this.#context, this.#workerId, this.#queues.all());
    this.#releaseStale();
    await this.#claimer.releaseLost();
    this.wake(await listConnectionsWithDueDeliveries(db, this.#workerId, clock.now()));
  }

  /** Endpoints of these connections changed: releases what was claimed ahead, and claims again with their new settings. */
  refresh(connections: Iterable<ConnectionKey>): void {
    for (const connection of connections) {
      const queues = this.#queues.of(connection);
      for (const queue of queues) this.#releaseWaiting(queue);
      if (queues.length > 0) this.wake([connection]);
    }
  }

  /** Resolves when nothing is claimed and nothing is left to claim. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve);
      this.#checkIdle();
    });
  }

  /** Sends nothing more, releases what waits, leaves requests in flight a little time, and then cuts them off. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#room.stop();
    this.#claimer.stop();
    for (const queue of this.#queues.all()) this.#releaseWaiting(queue);
    const timer = setTimeout(() => {
      this.#sender.cancelAll();
      this.#outcomes.giveUp();
    }, STOP_MS);
    await this.idle();
    clearTimeout(timer);
  }

  #claimEnded(connection: ConnectionKey): void {
    for (const queue of this.#queues.of(connection)) {
      this.#releaseIfDone(queue);
      if (this.#lowDuringClaim.delete(queue)) this.#claimIfLow(queue);
    }
    this.#checkIdle();
  }

  #sendWaiting(queue: EndpointQueue): void {
    if (this.#isStopping || queue.isBlocked(this.#context.clock)) {
      this.#releaseWaiting(queue);
      return;
    }
    if (this.#outcomes.isSetAside(queue.endpoint.id)) return; // Until its outcomes are stored, no more are made.
    if (this.#room.limitsUnproven && queue.isProven) this.#room.prove(queue.host);
    while (this.#admits(queue)) {
      const delivery = queue.next();
      if (delivery === null) return;
      this.#pace.begun();
      void this.#process(queue, delivery);
    }
  }

  #admits(queue: EndpointQueue): boolean {
    return this.#pace.admits(queue) && (!queue.hasNext || this.#room.admits(queue, this.#context.clock));
  }

  async #process(queue: EndpointQueue, delivery: ClaimedDelivery): Promise<void> {
    const { clock } = this.#context;
    const { host } = queue;
    const end = this.#room.begin(queue, delivery.event?.body.length ?? 0, clock);
    const completion = await this.#send(queue, delivery);
    end();
    this.#note(completion);
    const { outcome } = completion;
    const health = this.#reportOf(queue, host, completion);
    this.#sendWaiting(queue);
    this.#claimIfLow(queue);
    await this.#record(queue, completion, health);
    if (outcome.is === "retry") this.#claimer.wakeAt(queue.connection, outcome.at);
    const backoffUntil = health?.health.backoffUntil ?? null;
    if (backoffUntil !== null) this.#claimer.wakeAt(queue.connection, backoffUntil);
  }

  #reportOf(queue: EndpointQueue, host: EndpointHost, { attempt, outcome }: Completion): HealthReport | null {
    const { clock, config } = this.#context;
    const report = queue.sent(outcome.is === "released" ? null : attempt, clock.now(), config.webhookRetryMs);
    if (!this.#room.limitsUnproven || attempt === null || !isSuccess(attempt)) return report;
    this.#room.prove(host);
    return queue.prove(host, report);
  }

  #send({ destination }: EndpointQueue, delivery: ClaimedDelivery): Promise<Completion> {
    return tracedAttempt(delivery, destination.url, () =>
      sendDelivery(this.#sendContext, this.#sender, delivery, destination),
    );
  }

  #note(completion: Completion): void {
    const { attempt } = completion;
    logAttempt(this.#context.log, completion);
    if (attempt !== null)
      this.#options.metrics?.attemptMade(
        isSuccess(attempt) ? "succeeded" : "failed",
        firstDelayMs(completion),
      );
  }

  async #record(queue: EndpointQueue, completion: Completion, health: HealthReport | null): Promise<void> {
    this.#pace.ended();
    let isPaced = true;
    await this.#outcomes.store({ completion, health, wasPaused: queue.isPaused }, () => {
      isPaced = false;
      this.#pace.stored(); // It does not slow down the others.
    });
    queue.stored();
    if (isPaced) this.#pace.stored();
    else this.#sendWaiting(queue);
    this.#releaseIfDone(queue);
    this.#claimIfLow(queue);
    this.#claimer.completed(completion.delivery);
    this.#checkIdle();
  }

  /** A claim that is running is likely to fill the queue. Its end checks again, instead of another claim for nothing. */
  #claimIfLow(queue: EndpointQueue): void {
    if (!queue.runsLow(this.#context.clock)) return;
    if (this.#claimer.isClaiming(queue.connection)) this.#lowDuringClaim.add(queue);
    else this.wake([queue.connection]);
  }

  #releaseWaiting(queue: EndpointQueue): void {
    for (const delivery of queue.removeWaiting()) void this.#record(queue, released(delivery), null);
  }

  /** Returns what could not be sent for so long that its lease would end during an attempt, and claims it again. */
  #releaseStale(): void {
    const { clock, config } = this.#context;
    const sendableUntil = after(clock.now(), config.webhookTimeoutMs + LEASE_MARGIN_MS);
    for (const queue of this.#queues.all()) {
      const stale = queue.removeLeasedUntil(sendableUntil);
      if (stale.length === 0) continue;
      const stored = stale.map((delivery) => this.#record(queue, released(delivery), null));
      void Promise.all(stored).then(() => this.wake([queue.connection]));
    }
  }

  /** Releases an endpoint for which nothing is claimed. Not during a claim, which needs the lease. */
  #releaseIfDone(queue: EndpointQueue): void {
    const isClaiming = this.#claimer.isClaiming(queue.connection);
    if (isClaiming || !queue.beginRelease(this.#context.clock)) return;
    void this.#releaseEndpoint(queue.endpoint).then(() => {
      this.#queues.remove(queue);
      if (queue.hasMore) this.wake([queue.connection]);
      this.#checkIdle();
    });
  }

  #checkIdle(): void {
    if (!this.#queues.isEmpty || !this.#claimer.isIdle) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}
