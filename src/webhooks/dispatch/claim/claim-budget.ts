import type { ClaimedDelivery } from "../claimed-delivery.ts";
import { FairShare } from "../room/fair-share.ts";

/** Claims that one process holds, at most: waiting, in flight, or with an outcome that is being stored. */
const CLAIMS_MAX = 16_384;
/** Of these, claims for failing endpoints, so that other endpoints do not wait for them. */
const CLAIMS_OF_FAILING_MAX = 2_048;

/** A connection near its share does not claim for each delivery that ends. */
const FURTHER_MIN = 64;

/** Counts the claims of a process. A limit may be exceeded by what a running claim adds. */
export class ClaimBudget {
  #count = 0;
  readonly #share = new FairShare(CLAIMS_MAX);
  readonly #ofFailing = new Set<ClaimedDelivery>();

  /** Whether another claim may be made. */
  get admitsMore(): boolean {
    return this.#count < CLAIMS_MAX;
  }

  /** Whether another claim may include failing endpoints. */
  get admitsFailing(): boolean {
    return this.#ofFailing.size < CLAIMS_OF_FAILING_MAX;
  }

  /** How many claims a connection may add: its share of what is free (decision 0063). */
  freeFor(connectionId: string): number {
    return this.#share.freeFor(connectionId);
  }

  /** Whether a claim for a connection is worthwhile: it may add one at first, and later a number of them. */
  admits(connectionId: string): boolean {
    return this.#share.freeFor(connectionId) >= (this.#share.holds(connectionId) ? FURTHER_MIN : 1);
  }

  add(deliveries: readonly ClaimedDelivery[], isFailing: boolean): void {
    this.#count += deliveries.length;
    for (const { connectionId } of deliveries) this.#share.take(connectionId, 1);
    if (isFailing) for (const delivery of deliveries) this.#ofFailing.add(delivery);
  }

  remove(delivery: ClaimedDelivery): void {
    this.#count -= 1;
    this.#share.giveBack(delivery.connectionId, 1);
    this.#ofFailing.delete(delivery);
  }
}
