import type { KeyObject } from "node:crypto";
import {
  afterFailure,
  afterSuccess,
  type EndpointHealth,
  type HealthReport,
  isOnProbation,
} from "../health/endpoint-health.ts";
import { signingKey } from "../secrets/signing-secret.ts";
import type { Room } from "./claim/claim-sql.ts";
import type { ClaimedDelivery, LeasedEndpoint } from "./claimed-delivery.ts";
import type { Destination } from "./send/send-delivery.ts";

/** Claimed ahead of the requests in flight at most, as a multiple of these. */
const AHEAD_FACTOR_MAX = 8;

/**
 * The deliveries that this worker has claimed for one endpoint: those that wait, those in flight, and those whose
 * outcome is being stored. Like a sender of TCP it begins with few in flight and doubles them with successes, so that
 * endpoints that never answer hold little; and it claims further ahead the faster the endpoint is.
 */
export class EndpointQueue {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly endpointId: string;
  destination: Destination;
  health: EndpointHealth;
  /** Claims whose outcome is not stored yet. */
  claimed = 0;
  /** Whether there may be something to claim: the last claim was filled, or was made without this endpoint. */
  mayHaveMore = false;
  /** While it is being let go nothing is claimed for it, or the claim would be without its lease. */
  isReleasing = false;
  isPaused = false;
  #inFlightMax: number;
  #inFlight = 0;
  /** How many may be in flight at present. */
  #window: number;
  /** How many may wait beside them. */
  #ahead: number;
  #sealedSecrets: readonly string[] = [];
  #keys: readonly KeyObject[] = [];
  #roomAsked = 0;
  #waiting: ClaimedDelivery[] = [];
  #claimedUnhealthy = 0;

  constructor({ merchantId, connectionId, id, url, inFlightMax, health }: LeasedEndpoint) {
    this.merchantId = merchantId;
    this.connectionId = connectionId;
    this.endpointId = id;
    this.destination = { url, keys: [] };
    this.health = health;
    this.#inFlightMax = inFlightMax;
    this.#window = Math.min(health.consecutiveFailures > 0 ? 1 : 2, inFlightMax);
    this.#ahead = this.#window;
  }

  /** Whether a claim is worth while for this endpoint alone: three quarters of what was ahead have gone out. */
  runsLow(now: Date): boolean {
    return this.#takesMore(now, this.#ahead / 4);
  }

  /** Whether to claim for it when a claim is made anyway: a large one costs hardly more than a small one. */
  wantsMore(now: Date): boolean {
    return this.#takesMore(now, (3 * this.#ahead) / 4);
  }

  #takesMore(now: Date, waitingMax: number): boolean {
    if (this.isBackingOff(now) || this.isReleasing) return false;
    if (isOnProbation(this.health)) return this.claimed === 0;
    return this.#waiting.length <= waitingMax;
  }

  /** Takes over the endpoint as it is now, and tells how many deliveries to claim for it. */
  roomFor({ id, url, inFlightMax, sealedSecrets }: LeasedEndpoint, open: (sealed: string) => string): Room {
    if (sealedSecrets.join() !== this.#sealedSecrets.join()) {
      this.#sealedSecrets = sealedSecrets;
      this.#keys = sealedSecrets.map((sealed) => signingKey(open(sealed)));
    }
    this.destination = { url, keys: this.#keys };
    this.#inFlightMax = inFlightMax;
    this.#window = Math.min(this.#window, inFlightMax);
    const wished = this.#window + this.#ahead - this.#inFlight - this.#waiting.length;
    this.#roomAsked = isOnProbation(this.health) ? 1 : Math.max(1, wished);
    return { endpointId: id, size: this.#roomAsked };
  }

  add(deliveries: readonly ClaimedDelivery[]): void {
    this.claimed += deliveries.length;
    this.mayHaveMore = deliveries.length >= this.#roomAsked;
    this.#waiting.push(...deliveries);
  }

  /** The next delivery to send; null when none waits or enough are in flight. */
  next(): ClaimedDelivery | null {
    if (this.#inFlight >= this.#window) return null;
    const delivery = this.#waiting.shift();
    if (delivery === undefined) {
      // It has run dry while there was more: the claims came too late.
      if (this.mayHaveMore) this.#ahead = Math.min(2 * this.#ahead, AHEAD_FACTOR_MAX * this.#inFlightMax);
      return null;
    }
    this.#inFlight += 1;
    return delivery;
  }

  sent(): void {
    this.#inFlight -= 1;
  }

  /** Answers how many of the unhealthy claims have ended with it. */
  completed(): 0 | 1 {
    this.claimed -= 1;
    if (this.#claimedUnhealthy === 0) return 0;
    this.#claimedUnhealthy -= 1;
    return 1;
  }

  /** Counts claims made while the endpoint was failing. */
  addUnhealthy(count: number): number {
    this.#claimedUnhealthy += count;
    return count;
  }

  isBackingOff(now: Date): boolean {
    return this.isPaused || (this.health.backoffUntil !== null && now < this.health.backoffUntil);
  }

  takeWaiting(): ClaimedDelivery[] {
    return this.#waiting.splice(0);
  }

  /** Notes an outcome; answers what is to be stored about the endpoint, if anything. */
  note(succeeded: boolean, gone: boolean, at: Date, retryMs: readonly number[]): HealthReport | null {
    // What was under way when the endpoint was paused tells nothing new, whatever has become of the pause meanwhile.
    if (this.isPaused) return null;
    const { merchantId, connectionId, endpointId } = this;
    if (succeeded) {
      this.#window = Math.min(2 * this.#window, this.#inFlightMax);
      const health = afterSuccess(this.health, at);
      if (health === null) return null;
      this.health = health;
      return { merchantId, connectionId, endpointId, health, pause: null, warning: null };
    }
    this.#window = Math.max(1, Math.floor(this.#window / 2));
    this.#ahead = this.#window;
    const change = afterFailure(this.health, { at, gone, retryMs });
    this.health = change.health;
    if (change.pause !== null) this.isPaused = true;
    return { merchantId, connectionId, endpointId, ...change };
  }
}
