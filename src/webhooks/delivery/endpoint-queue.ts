import type { ConnectionKey } from "../../platform/connection-key.ts";
import { after, before, type Clock, SECOND_MS } from "../../platform/time.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import {
  afterFailure,
  afterSuccess,
  type EndpointHealth,
  type HealthReport,
  isOnProbation,
} from "../endpoints/health.ts";
import { signingKey } from "../endpoints/secrets.ts";
import { openHeaders } from "../endpoints/static-headers.ts";
import { type EndpointHost, hostOf } from "./admission.ts";
import type { ClaimSize } from "./claim-sql.ts";
import type { ClaimedDelivery, DeliveryAttempt, LeasedEndpoint } from "./claimed-delivery.ts";
import { type Destination, isGone, isSuccess, urlPartsOf } from "./send-delivery.ts";

/** A claim with less time left of the endpoint's lease leases it again, and so does one whose signal of a change may be lost. */
const LEASE_LEFT_MS = 5 * SECOND_MS;
const SETTINGS_KEPT_MS = 5 * SECOND_MS;
/** How long an endpoint is kept after its last request, so that an event soon after it needs one commit before it is sent, not three. */
const LINGER_MS = SECOND_MS;

/**
 * The claims of one worker for one endpoint: deliveries that wait to be sent, those in flight, and those whose outcome
 * is being stored. It also follows the health of the endpoint.
 */
export class EndpointQueue {
  readonly connection: ConnectionKey;
  readonly endpoint: EndpointKey;
  /** The end of its lease, unless another worker has it since. */
  leasedUntil: Date;
  #url: string;
  #destination: Destination;
  #sealedSecrets: readonly string[] = [];
  #sealedHeaders: string | null = null;
  /** When url, secrets and limit were read. */
  #readAt = new Date(0);
  /** When the last request ended. */
  #sentAt = new Date(0);
  #host: EndpointHost;
  #provenHost: string | null;
  #health: EndpointHealth;
  #isPaused = false;
  #isReleasing = false;
  /** Whether more may be due: the last claim was filled, or was made without this endpoint. */
  #hasMore = false;
  readonly #window: SendWindow;
  /** The number of deliveries that the current claim requests. */
  #claimSize = 0;
  #waiting: ClaimedDelivery[] = [];
  #inFlight = 0;
  /** Claims whose outcome is not stored yet. */
  #claimed = 0;

  constructor(leased: LeasedEndpoint) {
    const { merchantId, connectionId, id, leasedUntil, url, inFlightMax, health, provenHost } = leased;
    this.connection = { merchantId, connectionId };
    this.endpoint = { merchantId, connectionId, id };
    this.leasedUntil = leasedUntil;
    this.#url = url;
    this.#destination = { url: urlPartsOf(new URL(url)), headers: {}, keys: [] };
    this.#host = hostOf(this.#destination.url);
    this.#provenHost = provenHost;
    this.#health = health;
    this.#window = new SendWindow(inFlightMax, health.consecutiveFailures > 0);
  }

  get destination(): Destination {
    return this.#destination;
  }

  get host(): EndpointHost {
    return this.#host;
  }

  /** True if its host has returned 2xx to it. */
  get isProven(): boolean {
    return this.#provenHost === this.#host.origin;
  }

  get isFailing(): boolean {
    return this.#health.consecutiveFailures > 0;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Whether nothing may be sent now: the endpoint was paused, or backs off after failures. */
  isBlocked(clock: Clock): boolean {
    const { backoffUntil } = this.#health;
    return this.#isPaused || (backoffUntil !== null && clock.now() < backoffUntil);
  }

  /** Whether a claim for this endpoint alone is worthwhile: half of the deliveries claimed ahead are sent. */
  runsLow(clock: Clock): boolean {
    return this.#hasMore && this.#takesMore(clock, this.#window.aheadMax / 2);
  }

  /**
   * Whether a claim for the connection includes this endpoint. It includes it sooner than `runsLow` requests one, because a
   * large claim costs little more than a small one.
   * @param isSignaled false if the claim is only for what is known to be due
   */
  joinsClaim(clock: Clock, isSignaled: boolean): boolean {
    const takesMore = this.#takesMore(clock, (3 * this.#window.aheadMax) / 4);
    if (isSignaled && !takesMore) this.#hasMore = true; // This claim does not look for more, so there may be.
    return takesMore && (isSignaled || this.#hasMore);
  }

  /** Whether a claim needs no statement that leases the endpoint before: it belongs to this worker, and its settings were just read. */
  isHeld(now: Date): boolean {
    return this.leasedUntil > after(now, LEASE_LEFT_MS) && before(now, SETTINGS_KEPT_MS) < this.#readAt;
  }

  /** The settings of the endpoint changed, so the next claim reads them. */
  forgetSettings(): void {
    this.#readAt = new Date(0);
  }

  #takesMore(clock: Clock, waitingMax: number): boolean {
    if (this.isBlocked(clock) || this.#isReleasing) return false;
    if (isOnProbation(this.#health)) return this.#claimed === 0;
    return this.#waiting.length <= waitingMax;
  }

  /** Takes over the current settings of the endpoint. */
  update(
    { leasedAt, leasedUntil, url, inFlightMax, sealedHeaders, sealedSecrets, health }: LeasedEndpoint,
    open: (sealed: string) => string,
  ): void {
    if (leasedAt >= this.leasedUntil) this.#health = health; // Another worker may have had it since.
    this.leasedUntil = leasedUntil;
    const isSigned = sealedSecrets.join() === this.#sealedSecrets.join();
    const keys = isSigned ? this.#destination.keys : sealedSecrets.map((sealed) => signingKey(open(sealed)));
    const isSame = sealedHeaders === this.#sealedHeaders;
    const headers = isSame ? this.#destination.headers : openHeaders(sealedHeaders, open);
    this.#sealedSecrets = sealedSecrets;
    this.#sealedHeaders = sealedHeaders;
    const isMoved = url !== this.#url;
    this.#url = url;
    this.#destination = { url: isMoved ? urlPartsOf(new URL(url)) : this.#destination.url, headers, keys };
    if (isMoved) this.#host = hostOf(this.#destination.url);
    this.#window.limitTo(inFlightMax);
    this.#readAt = leasedAt;
  }

  /** How many deliveries to claim for the endpoint, which this worker leases. */
  nextClaim(): ClaimSize {
    const free = this.#window.inFlightMax + this.#window.aheadMax - this.#inFlight - this.#waiting.length;
    this.#claimSize = isOnProbation(this.#health) ? 1 : Math.max(1, free);
    return { endpointId: this.endpoint.id, size: this.#claimSize };
  }

  /** The claim requests less than `nextClaim` returned. */
  limitClaim(size: number): number {
    this.#claimSize = size;
    return size;
  }

  /** Nothing was claimed after `nextClaim`, although something may be due. */
  leaveDue(): void {
    this.#hasMore = true;
  }

  /** Adds what was claimed after `nextClaim`. */
  add(deliveries: readonly ClaimedDelivery[]): void {
    this.#claimed += deliveries.length;
    this.#hasMore = deliveries.length >= this.#claimSize;
    this.#waiting.push(...deliveries);
  }

  /** True if `next` returns a delivery. */
  get hasNext(): boolean {
    return this.#waiting.length > 0 && this.#inFlight < this.#window.inFlightMax;
  }

  /** Returns the next delivery to send. Null when none waits or enough are in flight. */
  next(): ClaimedDelivery | null {
    if (this.#inFlight >= this.#window.inFlightMax) return null;
    const delivery = this.#waiting.shift();
    if (delivery === undefined) {
      if (this.#hasMore) this.#window.ranDry();
      return null;
    }
    this.#inFlight += 1;
    return delivery;
  }

  /** Removes and returns what waits to be sent. */
  removeWaiting(): ClaimedDelivery[] {
    return this.#waiting.splice(0);
  }

  /** Removes and returns those that wait to be sent and whose lease ends before a time. */
  removeLeasedUntil(time: Date): ClaimedDelivery[] {
    const [stale, others] = [this.#waiting.filter(({ leasedUntil }) => leasedUntil < time), this.#waiting];
    if (stale.length > 0) this.#waiting = others.filter(({ leasedUntil }) => leasedUntil >= time);
    return stale;
  }

  /**
   * A delivery that `next` returned is no longer in flight. Returns what is to be stored about the endpoint's health, if
   * anything.
   * @param attempt null if it is no evidence about the endpoint
   */
  sent(attempt: DeliveryAttempt | null, at: Date, retryMs: readonly number[]): HealthReport | null {
    this.#inFlight -= 1;
    this.#sentAt = at;
    // Attempts that were in flight when the endpoint was paused do not count, even if it was resumed since.
    if (attempt === null || this.#isPaused) return null;
    return isSuccess(attempt) ? this.#noteSuccess(at) : this.#noteFailure(attempt, at, retryMs);
  }

  /** The host has returned 2xx. Returns what is to be stored, with the report that was to be stored anyway. */
  prove({ origin }: EndpointHost, report: HealthReport | null): HealthReport | null {
    if (this.#provenHost === origin) return report;
    this.#provenHost = origin;
    const unchanged = { endpoint: this.endpoint, health: this.#health, pause: null, warning: null };
    return { ...(report ?? unchanged), provenHost: origin };
  }

  #noteSuccess(at: Date): HealthReport | null {
    this.#window.succeeded();
    const endsBackoff = isOnProbation(this.#health);
    const health = afterSuccess(this.#health, at);
    if (health === null) return null;
    this.#health = health;
    return { endpoint: this.endpoint, health, pause: null, warning: null, endsBackoff };
  }

  #noteFailure(attempt: DeliveryAttempt, at: Date, retryMs: readonly number[]): HealthReport {
    this.#window.failed();
    const { error } = attempt;
    const change = afterFailure(this.#health, { at, error, gone: isGone(attempt), retryMs });
    this.#health = change.health;
    if (change.pause !== null) this.#isPaused = true;
    return { endpoint: this.endpoint, ...change, failedSince: attempt.startedAt };
  }

  /** The outcome of a claim is stored. */
  stored(): void {
    this.#claimed -= 1;
  }

  /** True while it is kept without claims, because events often follow each other. A failing one is read again each time. */
  lingers({ now }: Clock): boolean {
    return !this.isFailing && !this.#isPaused && before(now(), LINGER_MS) < this.#sentAt;
  }

  /** Begins to release the endpoint. Returns false if it still has claims, or is already being released. */
  beginRelease(clock: Clock): boolean {
    if (this.#claimed > 0 || this.#isReleasing) return false;
    this.#isReleasing = true; // From now on nothing is claimed for it: the claim would be made without its lease.
    if (this.isBlocked(clock)) this.#hasMore = false;
    return true;
  }
}

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

/** Deliveries claimed ahead, at most, as a multiple of the limit of requests in flight. */
const AHEAD_FACTOR_MAX = 32;

/**
 * How many requests to an endpoint may be in flight at present, and how many deliveries are claimed ahead of them. Like
 * the window of a TCP sender it starts small, doubles with each success and halves with each failure. So an endpoint
 * that never responds holds few claims, and a fast one is never without work.
 */
export class SendWindow {
  #limit: number;
  #inFlightMax: number;
  #aheadMax: number;

  /** @param limit the number of concurrent requests that the partner allows */
  constructor(limit: number, isFailing: boolean) {
    this.#limit = limit;
    this.#inFlightMax = Math.min(isFailing ? 1 : 2, limit);
    this.#aheadMax = this.#inFlightMax;
  }

  get inFlightMax(): number {
    return this.#inFlightMax;
  }

  get aheadMax(): number {
    return this.#aheadMax;
  }

  /** Takes over a limit that the partner may have changed. */
  limitTo(limit: number): void {
    this.#limit = limit;
    this.#inFlightMax = Math.min(this.#inFlightMax, limit);
  }

  succeeded(): void {
    this.#inFlightMax = Math.min(2 * this.#inFlightMax, this.#limit);
  }

  failed(): void {
    this.#inFlightMax = Math.max(1, Math.floor(this.#inFlightMax / 2));
    this.#aheadMax = this.#inFlightMax;
  }

  /** Nothing was left to send although more was due: claims came too late for so fast an endpoint. */
  ranDry(): void {
    this.#aheadMax = Math.min(2 * this.#aheadMax, AHEAD_FACTOR_MAX * this.#limit);
  }
}
