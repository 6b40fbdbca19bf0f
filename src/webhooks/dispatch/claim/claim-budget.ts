import type { ClaimedDelivery } from "../claimed-delivery.ts";

/** Claims that one process holds, at most: waiting, in flight, or with an outcome that is being stored. */
const CLAIMS_MAX = 16_384;
/** Of these, claims for failing endpoints, so that other endpoints do not wait for them. */
const CLAIMS_OF_FAILING_MAX = 2_048;

/** Counts the claims of a process. A limit may be exceeded by what a running claim adds. */
export class ClaimBudget {
  #count = 0;
  readonly #ofFailing = new Set<ClaimedDelivery>();

  /** Whether another claim may be made. */
  get hasRoom(): boolean {
    return this.#count < CLAIMS_MAX;
  }

  /** Whether another claim may include failing endpoints. */
  get hasRoomForFailing(): boolean {
    return this.#ofFailing.size < CLAIMS_OF_FAILING_MAX;
  }

  add(deliveries: readonly ClaimedDelivery[], isFailing: boolean): void {
    this.#count += deliveries.length;
    if (isFailing) for (const delivery of deliveries) this.#ofFailing.add(delivery);
  }

  remove(delivery: ClaimedDelivery): void {
    this.#count -= 1;
    this.#ofFailing.delete(delivery);
  }
}
