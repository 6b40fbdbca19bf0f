import type { Logger } from "pino";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { toTypeId } from "../../platform/ids.ts";
import { openLines } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { failSpan, isTracing, traced } from "../../platform/telemetry/tracing.ts";
import { after } from "../../platform/time.ts";
import type { WebhookContext } from "../conditions-sql.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import type { HealthReport } from "../endpoints/health.ts";
import { attemptErrorCode } from "../log/delivery.ts";
import { type EndpointHost, SendAdmission } from "./admission.ts";
import { listConnectionsWithDueDeliveries } from "./claim-sql.ts";
import { type ClaimedDelivery, type Completion, releasedClaim } from "./claimed-delivery.ts";
import { Claimer, type ClaimRequest, RetryTimers } from "./claimer.ts";
import { type EndpointQueue, EndpointQueues } from "./endpoint-queue.ts";
import { createEndpointRelease, renewExpiring } from "./leases.ts";
import { OutcomeStore } from "./outcome-store.ts";
import {
  bodyBytesOf,
  firstDelayMs,
  isSuccess,
  LEASE_MARGIN_MS,
  type SendContext,
  sendDelivery,
  type UrlParts,
} from "./send-delivery.ts";
import type { Sender } from "./sender.ts";

/** How long requests in flight may take when the process stops. */
const STOP_MS = 4_000;
/** The time between claims for queues that run low, so that each fills many. */
const LOW_EVERY_MS = 5;
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
 * Sends deliveries that are due: `#claim` fills the queues of endpoints, `#sendWaiting` begins what is admitted, `#process`
 * sends a delivery, and `#record` stores its outcome. Any number of dispatchers may run, in any number of processes. An
 * endpoint belongs to one of them at a time (docs/design/deliveries.md, "One worker per endpoint").
 */
export class Dispatcher {
  readonly #context: WebhookContext;
  readonly #sender: Sender;
  readonly #sendContext: SendContext;
  readonly #options: DispatcherOptions;
  readonly #workerId: string;
  readonly #queues = new EndpointQueues();
  readonly #claimer: Claimer;
  readonly #admission: SendAdmission<EndpointQueue>;
  readonly #outcomes: OutcomeStore;
  readonly #attempts: ReturnType<typeof attemptLog>;
  readonly #releaseEndpoint: (endpoint: EndpointKey) => Promise<void>;
  readonly #retryTimers = new RetryTimers((connection) => this.wake([connection]));
  /** Queues that ran low, for the next claim. */
  readonly #low = new Set<EndpointQueue>();
  #lowTimer: NodeJS.Timeout | null = null;
  #lowClaimedAtMs = 0;
  #isStopping = false;
  #idleWaiters: (() => void)[] = [];

  constructor(context: WebhookContext, sender: Sender, options: DispatcherOptions) {
    this.#context = context;
    this.#sender = sender;
    this.#sendContext = { clock: context.clock, config: context.config, random: options.random };
    this.#options = options;
    this.#workerId = context.newId();
    this.#claimer = new Claimer(context, this.#workerId, this.#queues);
    this.#admission = new SendAdmission({
      clock: context.clock,
      inFlightMax: options.inFlightMax ?? IN_FLIGHT_MAX,
      limitsUnproven: !context.config.webhookAllowPrivateNetworks,
      resume: (queue) => this.#sendWaiting(queue),
    });
    this.#outcomes = new OutcomeStore(context, this.#workerId, (connections) => this.wake(connections));
    this.#attempts = attemptLog(context.log);
    this.#releaseEndpoint = createEndpointRelease(context, this.#workerId);
  }

  /** Something may be due for these connections: claims for them as soon as possible. */
  wake(connections: Iterable<ConnectionKey>): void {
    this.#claimer.add(connections);
    this.#claimNext();
  }

  /** Keeps the endpoints of this worker. Finds connections with something due, also those for which no signal arrived. */
  async poll(): Promise<void> {
    const { db, clock } = this.#context;
    for (const queue of this.#queues.all()) this.#releaseIfDone(queue);
    await renewExpiring(this.#context, this.#workerId, this.#queues.all());
    this.#releaseStale();
    await this.#claimer.releaseLost();
    this.wake(await listConnectionsWithDueDeliveries(db, this.#workerId, clock.now()));
  }

  /** Endpoints of these connections changed: releases what was claimed ahead, and claims again with their new settings. */
  refresh(connections: Iterable<ConnectionKey>): void {
    for (const connection of connections) {
      const queues = this.#queues.of(connection);
      for (const queue of queues) {
        queue.forgetSettings();
        this.#releaseWaiting(queue);
      }
      if (queues.length > 0) this.wake([connection]);
    }
  }

  /** Resolves when nothing is claimed, nothing is left to claim, and all endpoints are released. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve);
      for (const queue of this.#queues.all()) this.#releaseIfDone(queue);
      this.#checkIdle();
    });
  }

  /** Sends nothing more, releases what waits, leaves requests in flight a little time, and then cuts them off. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#admission.stop();
    this.#claimer.stop();
    this.#retryTimers.stop();
    for (const queue of this.#queues.all()) this.#releaseWaiting(queue);
    const timer = setTimeout(() => {
      this.#sender.cancelAll();
      this.#outcomes.giveUp();
    }, STOP_MS);
    await this.idle();
    clearTimeout(timer);
    this.#attempts.close();
  }

  #claimNext(): void {
    for (;;) {
      const connections = this.#claimer.begin();
      if (connections.length === 0) return;
      void this.#claim(connections);
    }
  }

  async #claim(connections: readonly ClaimRequest[]): Promise<void> {
    for await (const queue of this.#claimer.claim(connections)) this.#sendWaiting(queue);
    for (const queue of connections.flatMap((connection) => this.#queues.of(connection))) {
      if (this.#low.delete(queue)) this.#claimIfLow(queue);
      this.#releaseIfDone(queue);
    }
    this.#claimNext();
    this.#checkIdle();
  }

  #sendWaiting(queue: EndpointQueue): void {
    if (this.#isStopping || queue.isBlocked(this.#context.clock)) {
      this.#releaseWaiting(queue);
      return;
    }
    if (this.#outcomes.isSetAside(queue.endpoint.id)) return; // Until its outcomes are stored, no more are made.
    if (this.#admission.limitsUnproven && queue.isProven) this.#admission.prove(queue.host);
    while (this.#admission.admits(queue)) {
      const delivery = queue.next();
      if (delivery === null) return;
      void this.#process(queue, delivery);
    }
  }

  async #process(queue: EndpointQueue, delivery: ClaimedDelivery): Promise<void> {
    const { host, destination } = queue;
    const request = this.#admission.begin(queue, bodyBytesOf(delivery));
    const completion = await tracedAttempt(delivery, destination.url, () =>
      sendDelivery(this.#sendContext, this.#sender, delivery, destination),
    );
    this.#admission.end(request);
    this.#note(completion);
    const health = this.#healthAfter(queue, host, completion);
    this.#sendWaiting(queue);
    this.#claimIfLow(queue);
    await this.#record(queue, completion, health);
    const { outcome } = completion;
    if (outcome.is === "retry" || outcome.is === "held") this.#wakeAt(queue.connection, outcome.at);
    const backoffUntil = health?.health.backoffUntil ?? null;
    if (backoffUntil !== null) this.#wakeAt(queue.connection, backoffUntil);
  }

  #note(completion: Completion): void {
    const { attempt } = completion;
    this.#attempts.write(completion);
    if (attempt === null || attempt.fault !== null) return;
    const result = isSuccess(attempt) ? "succeeded" : "failed";
    this.#options.metrics?.attemptMade(result, firstDelayMs(completion));
  }

  /** What is to be stored about the health of the endpoint, if anything. */
  #healthAfter(
    queue: EndpointQueue,
    host: EndpointHost,
    { attempt, outcome }: Completion,
  ): HealthReport | null {
    const { clock, config } = this.#context;
    const isEvidence = outcome.is !== "released" && attempt?.fault === null;
    const report = queue.sent(isEvidence ? attempt : null, clock.now(), config.webhookRetryMs);
    if (!this.#admission.limitsUnproven || !isEvidence || !isSuccess(attempt)) return report;
    this.#admission.prove(host);
    return queue.prove(host, report);
  }

  /** Stores an outcome. One that is set aside slows down no other endpoint, and its own sends nothing until it is stored. */
  async #record(queue: EndpointQueue, completion: Completion, health: HealthReport | null): Promise<void> {
    this.#admission.storing();
    const setAside = await this.#outcomes.store({ completion, health, wasPaused: queue.isPaused });
    if (setAside === null) queue.stored();
    this.#admission.stored();
    if (setAside !== null) {
      await setAside.ended;
      queue.stored();
      this.#sendWaiting(queue);
    }
    this.#releaseIfDone(queue);
    this.#claimIfLow(queue);
    this.#claimer.completed(completion.delivery);
    this.#claimNext();
    this.#checkIdle();
  }

  /** Claims for a connection at a time in the near future. Later times are left to polling. */
  #wakeAt(connection: ConnectionKey, at: Date): void {
    this.#retryTimers.set(connection, at.getTime() - this.#context.clock.now().getTime());
  }

  /** Queues that run low at about the same time are filled by one claim. One that is running is likely to fill its own. */
  #claimIfLow(queue: EndpointQueue): void {
    if (!queue.runsLow(this.#context.clock)) return;
    this.#low.add(queue);
    const waitMs = this.#lowClaimedAtMs + LOW_EVERY_MS - performance.now();
    this.#lowTimer ??= setTimeout(() => this.#claimLow(), Math.max(0, waitMs));
  }

  #claimLow(): void {
    this.#lowTimer = null;
    this.#lowClaimedAtMs = performance.now();
    // The end of a claim that is running checks again.
    const low = [...this.#low].filter(({ connection }) => !this.#claimer.isClaiming(connection));
    for (const queue of low) {
      this.#low.delete(queue);
      this.#claimer.addLow(queue.connection);
    }
    this.#claimNext();
    for (const queue of low) this.#releaseIfDone(queue); // Nothing more is claimed if this process stops.
  }

  #releaseWaiting(queue: EndpointQueue): void {
    for (const delivery of queue.removeWaiting()) void this.#record(queue, releasedClaim(delivery), null);
  }

  /** Returns what could not be sent for so long that its lease would end during an attempt, and claims it again. */
  #releaseStale(): void {
    const { clock, config } = this.#context;
    const sendableUntil = after(clock.now(), config.webhookTimeoutMs + LEASE_MARGIN_MS);
    for (const queue of this.#queues.all()) {
      const stale = queue.removeLeasedUntil(sendableUntil);
      if (stale.length === 0) continue;
      const stored = stale.map((delivery) => this.#record(queue, releasedClaim(delivery), null));
      void Promise.all(stored).then(() => this.wake([queue.connection]));
    }
  }

  /** Releases an endpoint for which nothing is claimed. Not during a claim, which needs the lease, nor soon after a request. */
  #releaseIfDone(queue: EndpointQueue): void {
    const isClaiming = this.#claimer.isClaiming(queue.connection);
    const lingers = this.#idleWaiters.length === 0 && queue.lingers(this.#context.clock);
    if (!isClaiming && !lingers && !this.#low.has(queue) && queue.beginRelease(this.#context.clock))
      void this.#release(queue);
  }

  async #release(queue: EndpointQueue): Promise<void> {
    await this.#releaseEndpoint(queue.endpoint);
    this.#queues.remove(queue);
    if (queue.hasMore) this.wake([queue.connection]);
    this.#checkIdle();
  }

  #checkIdle(): void {
    if (!this.#queues.isEmpty || !this.#claimer.isIdle) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

/**
 * Writes one line for an attempt: ids, status, outcome and duration. URLs, bodies and secrets are never logged. `attempt`
 * is its number in the schedule, 1 for a manual one; `error` is one of a few fixed texts. The lines are made by hand, like those
 * of requests: of the ids and words nothing needs to be escaped.
 */
export function attemptLog(log: Logger): { write(completion: Completion): void; close(): void } {
  if (!log.isLevelEnabled("info")) return { write: () => undefined, close: () => undefined };
  const lines = openLines(log, "delivery attempted");
  return {
    write({ delivery, attempt, outcome }) {
      if (attempt === null) return;
      const order =
        delivery.ownStreamId === delivery.eventId ? "" : `,"order":{"id":"${delivery.ownStreamId}"}`;
      const error = attempt.error === null ? "" : `,"error":${JSON.stringify(attempt.error)}`;
      const fault = attempt.fault === null ? "" : `,"fault":"${attempt.fault}"`;
      const next = outcome.is === "retry" ? `,"nextAttemptAt":"${outcome.at.toISOString()}"` : "";
      lines.write(
        `"delivery":{"id":"${delivery.deliveryId}"},"event":{"id":"${delivery.eventId}"}${order},` +
          `"endpoint":{"id":"${delivery.endpointId}"},"connection":{"id":"${delivery.connectionId}"},` +
          `"attempt":${delivery.attemptCount + 1},"trigger":"${delivery.trigger}","status":${attempt.responseStatus},` +
          `"outcome":"${outcome.is}"${error}${fault},"durationMs":${attempt.durationMs}${next}`,
      );
    },
    close: lines.close,
  };
}

/**
 * A client span for an attempt, if traces are exported. It has the host of the endpoint, but no path: partners put secrets into
 * it. The request carries no trace context: it is of no use to a partner (docs/design/dependencies.md, "OpenTelemetry").
 */
function tracedAttempt(
  delivery: ClaimedDelivery,
  { hostname, port, protocol }: UrlParts,
  send: () => Promise<Completion>,
): Promise<Completion> {
  if (!isTracing()) return send();
  const attributes = {
    "http.request.method": "POST",
    "server.address": hostname,
    "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
    "http.request.resend_count": delivery.attemptCount,
    "partner_orders.connection.id": toTypeId("con", delivery.connectionId),
    "partner_orders.endpoint.id": toTypeId("whe", delivery.endpointId),
    "partner_orders.event.id": toTypeId("evt", delivery.eventId),
    "partner_orders.delivery.id": toTypeId("dlv", delivery.deliveryId),
    "partner_orders.delivery.trigger": delivery.trigger,
  };
  return traced({ name: "POST webhook", kind: "client", attributes, parent: null }, async (span) => {
    const completion = await send();
    const { attempt, outcome } = completion;
    span?.setAttribute("partner_orders.delivery.outcome", outcome.is);
    if (attempt?.responseStatus) span?.setAttribute("http.response.status_code", attempt.responseStatus);
    if (span !== null && attempt !== null && attempt.error !== null)
      failSpan(span, attemptErrorCode(attempt.error));
    return completion;
  });
}
