import { WaitingQueues } from "../room/rotation.ts";

/**
 * Requests that begin before the event loop reads responses. Hundreds begun at once would need as many sockets and be
 * slower. With so few, the responses that arrive in between free sockets for reuse.
 */
const BEGUN_MAX = 32;
/** Outcomes that may wait to be stored before further requests begin, so that the database sets the pace. */
const UNSTORED_MAX = 512;

/**
 * Keeps sending requests, reading responses and storing outcomes at the same rate. It does not count requests that wait
 * for a receiver, so receivers that never respond slow down no others.
 */
export class Throttle<Queue> {
  readonly #resume: (queue: Queue) => void;
  /** Queues that were not admitted, in the order in which they are resumed. */
  readonly #heldBack: WaitingQueues<Queue>;
  #begun = 0;
  #unstored = 0;

  /**
   * @param resume is called with a queue that was not admitted, once another request may be admitted
   * @param keyOf whose queue it is; these take turns
   */
  constructor(resume: (queue: Queue) => void, keyOf: (queue: Queue) => string = String) {
    this.#resume = resume;
    this.#heldBack = new WaitingQueues(keyOf);
  }

  /** Whether a request of this queue may begin now. */
  admits(queue: Queue): boolean {
    if (this.#isOpen) return true;
    this.#heldBack.add(queue);
    return false;
  }

  /** A request has begun. */
  begun(): void {
    if (this.#begun === 0)
      setImmediate(() => {
        this.#begun = 0;
        this.#resumeQueues();
      });
    this.#begun += 1;
  }

  /** A request has ended, and its outcome is to be stored. */
  ended(): void {
    this.#unstored += 1;
  }

  /** An outcome is stored. */
  stored(): void {
    this.#unstored -= 1;
    this.#resumeQueues();
  }

  get #isOpen(): boolean {
    return this.#unstored < UNSTORED_MAX && this.#begun < BEGUN_MAX;
  }

  /** A queue that is not admitted again goes behind all others. */
  #resumeQueues(): void {
    while (this.#isOpen) {
      const queue = this.#heldBack.next();
      if (queue === null) return;
      this.#resume(queue);
    }
  }
}
