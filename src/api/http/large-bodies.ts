import { Turns } from "../../platform/database/turns.ts";

/** An order with 100 lines is smaller. Reading a larger body can take milliseconds, up to fifteen for the largest. */
const LARGE_BODY_BYTES = 16 * 1024;

/** Waits until a body of this size may be read. Null if that is now. */
export type BodyTurn = (owner: string, bytes: number) => Promise<void> | null;

/**
 * Lets large bodies be read one at a time, with a round of the event loop for everything else between two of them, and
 * those of each owner in turn (decision 0110). Otherwise a hundred of them that arrive together would stop all other
 * requests of the process until the last one is read.
 */
export function createBodyTurns(nextRound: (start: () => void) => void = setImmediate): BodyTurn {
  const waiting = new Turns<{ start(): void }>();

  function startNext(): void {
    const [next] = waiting.take(1);
    next?.start();
    if (waiting.size > 0) nextRound(startNext);
  }

  return (owner, bytes) => {
    if (bytes <= LARGE_BODY_BYTES) return null;
    return new Promise((start) => {
      waiting.add(owner, { start });
      if (waiting.size === 1) nextRound(startNext);
    });
  };
}
