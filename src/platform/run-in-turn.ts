import { isOutOfReach } from "./database/database.ts";
import { tracedBatch } from "./telemetry/tracing.ts";

/** Failures that are logged individually. The limit keeps the log readable if everything fails. */
const FAILURES_LISTED_MAX = 10;

/**
 * Batches after which a run ends even if there is more work. Failures are reported only at the end of a run, and failed
 * keys are processed again only in the next one.
 */
const BATCHES_MAX = 1_000;

/**
 * Returns the keys of the next pass, or none to end the run. `worked` contains the keys for which the previous pass did
 * something. Null before the first pass.
 */
export type NextPass<Key> = (worked: readonly Key[] | null) => Promise<readonly Key[]>;

/** Does a batch of one key's work. Returns how much it did. Adds an error to `failures` for what it skips. */
export type DoBatch<Key> = (key: Key, failures: unknown[]) => Promise<number>;

/**
 * Runs batches of many keys, mostly connections, in passes: one batch of each key, then the next pass. So no key waits
 * for all the work of another. The run ends with a pass that has no keys. Returns how much work was done.
 *
 * A key whose batch fails gets no further batch in this run. Its error is thrown at the end, with all others.
 */
export async function runInTurn<Key>(
  nextPass: NextPass<Key>,
  doBatch: DoBatch<Key>,
  stopping?: AbortSignal,
): Promise<number> {
  const failures: unknown[] = [];
  const failed = new Set<Key>();
  let count = 0;
  let worked: Key[] = [];
  for (let keys = await nextPass(null); keys.length > 0; keys = await nextPass(worked)) {
    worked = [];
    for (const key of keys) {
      if (failed.has(key)) continue;
      if (stopping?.aborted) return count;
      try {
        const done = await tracedBatch(() => doBatch(key, failures));
        count += done;
        if (done > 0) worked.push(key);
      } catch (error) {
        if (isOutOfReach(error)) throw error; // The database is not available for the other keys either.
        failures.push(error);
        failed.add(key);
      }
    }
  }
  throwTogether(failures);
  return count;
}

/**
 * Lists the keys again before each pass, until one did nothing, so that a key that becomes due during the run joins the
 * next pass. Keys are plain data, read from the database each time. A key equal to an earlier one is returned as the same
 * object, by which the run recognizes the keys that failed.
 * @param list `isLong`: the run has done its share, and finishes only what it has begun
 * @param isUnfinished whether it has begun what the next run would begin again
 */
export function listedEachPass<Key>(
  list: (isLong: boolean) => Promise<readonly Key[]>,
  isUnfinished: () => boolean = () => false,
): NextPass<Key> {
  const seen = new Map<string, Key>();
  let batches = 0;
  return async (worked) => {
    const isLong = batches >= BATCHES_MAX;
    if ((isLong || worked?.length === 0) && !isUnfinished()) return [];
    const keys = await list(isLong);
    batches += keys.length;
    return keys.map((key) => {
      const text = JSON.stringify(key);
      const first = seen.get(text) ?? key;
      seen.set(text, first);
      return first;
    });
  };
}

/** Repeats a fixed list of keys, each until a batch has nothing to do for it. */
export const eachUntilDone =
  <Key>(keys: readonly Key[]): NextPass<Key> =>
  async (worked) =>
    worked ?? keys;

/** Throws all failures as one error, with the first of them listed. */
function throwTogether(failures: readonly unknown[]): void {
  const message = `${failures.length} batches or items of this run failed.`;
  if (failures.length > 0) throw new AggregateError(failures.slice(0, FAILURES_LISTED_MAX), message);
}

/** Divides items into batches of at most `size`, in their order. */
export const inBatches = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/** A failed batch of no more items is repeated item by item, a larger one in parts first. */
const ALONE_MAX = 16;
const PARTS = 8;

/** The parts in which a failed batch is repeated (docs/design/database.md, "Shared batches"). */
export const inParts = <Item>(items: readonly Item[]): Item[][] =>
  inBatches(items, items.length <= ALONE_MAX ? 1 : Math.ceil(items.length / PARTS));

/**
 * How much of a batch each connection gets, at least 1: an equal share, so that a connection alone fills the batch, and one
 * with a backlog delays none of the others (docs/design/database.md, "Shared batches").
 */
export const shareOf = (sizeMax: number, connectionCount: number): number =>
  Math.max(1, Math.floor(sizeMax / Math.max(1, connectionCount)));

/** Resolves after `ms`, or as soon as `stopping` is aborted. */
export function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.aborted) return resolve();
    const timer = setTimeout(done, ms);
    stopping.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      stopping.removeEventListener("abort", done);
      resolve();
    }
  });
}

/** The result of `work`, or an error after `ms`. The work itself continues. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`There was no result within ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
