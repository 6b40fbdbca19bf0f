/** Deliveries claimed ahead, at most, as a multiple of the limit of requests in flight. */
const AHEAD_FACTOR_MAX = 8;

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
