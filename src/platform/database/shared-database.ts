import type { Database } from "./database.ts";
import type { Spent } from "./database-usage.ts";
import { tooManyCalls, WAITING_CALLS_MAX } from "./too-many-calls.ts";
import { Slots, Turns } from "./turns.ts";

/** A database whose connections many owners share fairly (decision 0066). */
export type SharedDatabase = {
  /** The database as the calls of one owner use it: statements and transactions wait until it is the owner's turn. */
  of(owner: string): Database;
  /** Calls that wait for their turn. */
  waiting(): number;
};

type Waiting = { start(): void };

/**
 * Lets at most `slots` calls use the database at a time. While there are more, owners take turns, and an owner with
 * many calls leaves some slots free for others. @param spent called with the time of each call that has ended
 */
export function shareDatabase(db: Database, slotCount: number, spent?: Spent): SharedDatabase {
  const slots = new Slots(slotCount);
  const turns = new Turns<Waiting>();

  async function run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (turns.countOf(owner) > 0 || !slots.mayBegin(owner)) await turnOf(owner);
    else slots.begin(owner);
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      spent?.(owner, performance.now() - startedAt);
      slots.end(owner);
      startNext();
    }
  }

  const turnOf = (owner: string): Promise<void> =>
    new Promise((start, reject) => {
      if (turns.countOf(owner) >= WAITING_CALLS_MAX) reject(tooManyCalls());
      else turns.add(owner, { start });
    });

  /** Assigns the slot here, not when the call continues, so that no other call gets it in between. */
  function startNext(): void {
    while (!slots.areTaken) {
      const next = turns.takeOfOne(1, (owner) => slots.mayBegin(owner));
      if (next === null) return;
      slots.begin(next.owner);
      for (const { start } of next.calls) start();
    }
  }

  return {
    of: (owner) => ({
      query: (statement) => run(owner, () => db.query(statement)),
      isDistributed: () => db.isDistributed(),
      transaction: (work) => run(owner, () => db.transaction(work)),
      runScript: (sql) => run(owner, () => db.runScript(sql)),
      withClient: (work) => run(owner, () => db.withClient(work)),
      close: () => db.close(),
    }),
    waiting: () => turns.size,
  };
}
