import { isOutOfReach } from "../database/database.ts";

/** Failures that are told one by one, so that a log stays readable when everything fails. */
const TOLD_MAX = 10;

/**
 * A batch for each key at a time, mostly for each connection, until none has work left, so that a busy one never
 * keeps the others waiting. Nor does one whose work fails: it gets no further turn in this round, and its error is
 * told at the end.
 */
export async function inTurn<Key>(
  keys: readonly Key[],
  doBatch: (key: Key) => Promise<number>,
  stopping?: AbortSignal,
): Promise<number> {
  const failures: unknown[] = [];
  let count = 0;
  let unfinished = keys;
  while (unfinished.length > 0) {
    const worked: Key[] = [];
    for (const key of unfinished) {
      if (stopping?.aborted) return count;
      try {
        const done = await doBatch(key);
        count += done;
        if (done > 0) worked.push(key);
      } catch (error) {
        if (isOutOfReach(error)) throw error; // It is so for all of them.
        failures.push(error);
      }
    }
    unfinished = worked;
  }
  throwTogether(failures, `The work of ${failures.length} of ${keys.length} failed.`);
  return count;
}

/** Throws what failed, if anything did, as one error: the first failures one by one, and all of them in words. */
export function throwTogether(failures: readonly unknown[], message: string): void {
  if (failures.length > 0) throw new AggregateError(failures.slice(0, TOLD_MAX), message);
}
