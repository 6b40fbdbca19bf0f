/**
 * Requests that begin before the event loop is given the chance to read answers. Hundreds begun at once would need as
 * many sockets, and be slower for it; so few that answers come back meanwhile keep to the same sockets.
 */
const BEGUN_IN_TURN_MAX = 32;
/** Outcomes that may wait to be stored before nothing more begins: the database sets the pace. */
const UNSTORED_MAX = 512;

/**
 * Keeps the requests of a process at a pace at which sending, answers and storing go on side by side. It counts nothing
 * that waits for a receiver, so those that never answer slow nobody down.
 */
export class Pace<Sender> {
  readonly #goOn: (sender: Sender) => void;
  /** Who has been told to wait, in turn. */
  readonly #heldUp = new Set<Sender>();
  #begunInTurn = 0;
  #unstored = 0;

  constructor(goOn: (sender: Sender) => void) {
    this.#goOn = goOn;
  }

  /** Whether a request may begin now. If not, `goOn` is called with who asked as soon as it may. */
  admits(sender: Sender): boolean {
    if (this.#isOpen()) return true;
    this.#heldUp.add(sender);
    return false;
  }

  begun(): void {
    if (this.#begunInTurn === 0)
      setImmediate(() => {
        this.#begunInTurn = 0;
        this.#goOnInTurn();
      });
    this.#begunInTurn += 1;
  }

  /** There is an outcome to be stored. */
  ended(): void {
    this.#unstored += 1;
  }

  stored(): void {
    this.#unstored -= 1;
    this.#goOnInTurn();
  }

  #isOpen(): boolean {
    return this.#unstored < UNSTORED_MAX && this.#begunInTurn < BEGUN_IN_TURN_MAX;
  }

  /** Who is held up again comes after all others. */
  #goOnInTurn(): void {
    for (const sender of this.#heldUp) {
      if (!this.#isOpen()) return;
      this.#heldUp.delete(sender);
      this.#goOn(sender);
    }
  }
}
