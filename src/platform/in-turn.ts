import { isOutOfReach } from "./database/database.ts";

/** Failures that are told one by one, so that a log stays readable when everything fails. */
const TOLD_MAX = 10;

/**
 * Batches after which a round ends although more becomes due all the time: what failed in it has to be told, and to be
 * tried again.
 */
const BATCHES_MAX = 1_000;

/**
 * A batch for each key at a time, mostly for each connection, until a turn finds nothing to do. Keys are listed anew
 * before every turn, so whoever becomes due meanwhile waits for a turn of the others and not for all that they have;
 * of keys that are given as they are, each drops out when it has no work left.
 *
 * Nor does a key whose work fails keep others waiting: it gets no further turn in this round, and its error is told at
 * the end. What a batch went past by itself it adds to `failures`, to be told with the rest.
 */
export async function inTurn<Key>(
  keys: readonly Key[] | (() => Promise<readonly Key[]>),
  doBatch: (key: Key, failures: unknown[]) => Promise<number>,
  stopping?: AbortSignal,
): Promise<number> {
  const failures: unknown[] = [];
  const failed = new Set<Key>();
  let count = 0;
  let batches = 0;
  let listed = typeof keys === "function" ? await keys() : keys;
  while (listed.length > 0) {
    const worked: Key[] = [];
    for (const key of listed) {
      if (failed.has(key)) continue;
      if (stopping?.aborted) return count;
      try {
        batches += 1;
        const done = await doBatch(key, failures);
        count += done;
        if (done > 0) worked.push(key);
      } catch (error) {
        if (isOutOfReach(error)) throw error; // It is so for all of them.
        failures.push(error);
        failed.add(key);
      }
    }
    if (worked.length === 0) break;
    if (typeof keys !== "function") listed = worked;
    else if (batches < BATCHES_MAX) listed = await keys();
    else break;
  }
  throwTogether(failures);
  return count;
}

/** Throws what failed, if anything did, as one error: the first failures one by one, and all of them in words. */
function throwTogether(failures: readonly unknown[]): void {
  const message = `${failures.length} pieces of a round's work failed.`;
  if (failures.length > 0) throw new AggregateError(failures.slice(0, TOLD_MAX), message);
}
