import { isRetryable, isUnavailable, UnavailableError } from "./database.ts";

/**
 * Work that arrives together is done together: while one group is at the database, further calls gather, and the
 * next group takes all of them. Without load a call goes alone and at once; nothing waits for a timer.
 */
export type Grouped<In, Out> = (item: In) => Promise<Out>;

type GroupOptions<In, Out> = {
  /** Processes a whole group. Returns one outcome per item, in the same order. */
  run: (items: In[]) => Promise<Out[]>;
  sizeMax: number;
  /** Groups that may be at the database at the same time. */
  concurrencyMax: number;
  /** While a group is at the database, another begins only with so many calls; for throughput rather than latency. */
  besideMin?: number;
};

/**
 * With more waiting calls than this, the database does not keep up at all. An early error then serves clients better.
 */
const WAITING_MAX = 10_000;

type Waiting<In, Out> = { item: In; resolve: (out: Out) => void; reject: (error: unknown) => void };

/**
 * When a group fails as a whole, each of its items is done again alone, so that one that cannot be stored never
 * fails its neighbours. Items must therefore be safe to repeat.
 */
export function groupCalls<In, Out>({
  run,
  sizeMax,
  concurrencyMax,
  besideMin = 1,
}: GroupOptions<In, Out>): Grouped<In, Out> {
  let waiting: Waiting<In, Out>[] = [];
  let running = 0;
  let scheduled = false;

  function startGroups(): void {
    scheduled = false;
    while (running < concurrencyMax && waiting.length >= (running === 0 ? 1 : besideMin)) {
      const group = waiting.slice(0, sizeMax);
      waiting = waiting.slice(sizeMax);
      running += 1;
      void runGroup(group).finally(() => {
        running -= 1;
        startGroups();
      });
    }
  }

  async function runGroup(group: Waiting<In, Out>[]): Promise<void> {
    try {
      const outcomes = await run(group.map(({ item }) => item));
      group.forEach(({ resolve }, index) => {
        resolve(outcomes[index] as Out); // `run` returns one outcome per item.
      });
    } catch (error) {
      // If the database is not available, it is not available for any of them. Retrying one by one would only add load.
      if (group.length > 1 && (isRetryable(error) || !isUnavailable(error))) await runOneByOne(group);
      else for (const { reject } of group) reject(error);
    }
  }

  async function runOneByOne(group: Waiting<In, Out>[]): Promise<void> {
    for (const one of group) await runGroup([one]);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= WAITING_MAX) return reject(new UnavailableError("Too many calls are waiting."));
      waiting.push({ item, resolve, reject });
      if (scheduled) return;
      scheduled = true;
      // After the current batch of I/O events, so that requests read from the sockets together go together.
      setImmediate(startGroups);
    });
}
