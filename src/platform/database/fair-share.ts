import { ProblemError } from "../wire/problems.ts";
import type { Database, Spent } from "./database.ts";

const SERVED_KEPT_MAX = 1_024;

/**
 * Waiting calls, by owner. Owners are served in turn, so an owner with many calls does not delay the first call of
 * another.
 */
export class FairQueue<Call extends object> {
  #waiting = new Map<string, Call[]>();
  /** The owners with waiting calls, the next one at `#next`. An owner that was served and has more goes to the end. */
  #order: string[] = [];
  #next = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  countOf(owner: string): number {
    return this.#waiting.get(owner)?.length ?? 0;
  }

  add(owner: string, call: Call): void {
    const calls = this.#waiting.get(owner);
    this.#size += 1;
    if (calls !== undefined) calls.push(call);
    else {
      this.#waiting.set(owner, [call]);
      this.#order.push(owner);
    }
  }

  /** Takes one call of each owner in turn, until there are `max` of them. */
  take(max: number): Call[] {
    if (this.#size <= max) return this.#takeAll();
    const taken: Call[] = [];
    while (taken.length < max) taken.push(...this.#takeFrom(this.#nextOwner(), 1));
    this.#forgetServed();
    return taken;
  }

  /** Takes at most `max` calls of the first owner in turn that may be served now. */
  takeOfOne(max: number, mayBeServed: (owner: string) => boolean): { owner: string; calls: Call[] } | null {
    const passed: string[] = [];
    let found: { owner: string; calls: Call[] } | null = null;
    while (found === null && this.#next < this.#order.length) {
      const owner = this.#nextOwner();
      if (mayBeServed(owner)) found = { owner, calls: this.#takeFrom(owner, max) };
      else passed.push(owner);
    }
    // Owners that were skipped stay first.
    for (const owner of passed.toReversed()) {
      this.#next -= 1;
      this.#order[this.#next] = owner;
    }
    this.#forgetServed();
    return found;
  }

  #nextOwner(): string {
    const owner = this.#order[this.#next] ?? "";
    this.#next += 1;
    return owner;
  }

  /** The positions of served owners are removed from time to time. Removing each at once would cost more. */
  #forgetServed(): void {
    if (this.#next < SERVED_KEPT_MAX || this.#next < this.#order.length / 2) return;
    this.#order = this.#order.slice(this.#next);
    this.#next = 0;
  }

  #takeFrom(owner: string, max: number): Call[] {
    const waiting = this.#waiting.get(owner) ?? [];
    const calls = waiting.splice(0, max);
    this.#size -= calls.length;
    if (waiting.length === 0) this.#waiting.delete(owner);
    else this.#order.push(owner);
    return calls;
  }

  #takeAll(): Call[] {
    const all = [...this.#waiting.values()].flat();
    // A cleared one would keep its calls alive for the collector (docs/design/performance.md, "Garbage").
    this.#waiting = new Map();
    this.#order = [];
    this.#next = 0;
    this.#size = 0;
    return all;
  }
}

/**
 * An owner may begin a call while it uses less than this many times what is free
 * (docs/design/isolation-and-limits.md, "Pools and fair shares").
 */
const USED_TO_FREE_MAX = 2;

/**
 * Concurrent calls that owners share. The more owners make them, the fewer each may use, and some always stay free for an owner
 * that has none: a single owner uses two thirds of them, two use two fifths each.
 */
export class ConcurrencyLimit {
  readonly #used = new Map<string, number>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** No owner may begin a call, so there is no need to look for one. */
  get isReached(): boolean {
    return this.#free === 0;
  }

  mayBegin(owner: string): boolean {
    return (this.#used.get(owner) ?? 0) < USED_TO_FREE_MAX * this.#free;
  }

  begin(owner: string): void {
    this.#used.set(owner, (this.#used.get(owner) ?? 0) + 1);
    this.#free -= 1;
  }

  end(owner: string): void {
    const used = (this.#used.get(owner) ?? 0) - 1;
    if (used > 0) this.#used.set(owner, used);
    else this.#used.delete(owner);
    this.#free += 1;
  }
}

export type SpacingOptions = {
  /** The time from the beginning of a group to that of the next one. */
  readonly ms: number;
  /** So many waiting calls begin sooner. */
  readonly unlessWaiting: number;
};

/** Keeps groups of calls apart from each other, so that calls that arrive one after the other share a group. */
export class Spacing {
  readonly #options: SpacingOptions;
  readonly #resume: () => void;
  #until = 0;
  #isTimed = false;

  /** @param resume is called when calls that had to wait may begin */
  constructor(options: SpacingOptions, resume: () => void) {
    this.#options = options;
    this.#resume = resume;
  }

  /** A group has begun. */
  begun(): void {
    this.#until = performance.now() + this.#options.ms;
  }

  /** True if so many waiting calls have to wait longer. */
  delays(waiting: number): boolean {
    if (waiting === 0 || waiting >= this.#options.unlessWaiting) return false;
    const leftMs = this.#until - performance.now();
    if (leftMs <= 0) return false;
    if (!this.#isTimed) setTimeout(() => this.#end(), leftMs);
    this.#isTimed = true;
    return true;
  }

  #end(): void {
    this.#isTimed = false;
    this.#resume();
  }
}

/** A database whose connections many owners share fairly (docs/design/isolation-and-limits.md, "Pools and fair shares"). */
export type SharedDatabase = {
  /** The database as the calls of one owner use it: statements and transactions wait until it is the owner's turn. */
  of(owner: string): Database;
  /** Calls that wait for their turn. */
  waiting(): number;
};

type Waiting = { start(): void };

/**
 * Lets at most `concurrencyMax` calls use the database at a time. While there are more, owners take turns, and an owner with
 * many calls leaves some of them to others. @param spent called with the time of each call that has ended
 */
export function shareDatabase(db: Database, concurrencyMax: number, spent?: Spent): SharedDatabase {
  const limit = new ConcurrencyLimit(concurrencyMax);
  const turns = new FairQueue<Waiting>();

  async function run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (turns.countOf(owner) > 0 || !limit.mayBegin(owner)) await turnOf(owner);
    else limit.begin(owner);
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      spent?.(owner, performance.now() - startedAt);
      limit.end(owner);
      startNext();
    }
  }

  const turnOf = (owner: string): Promise<void> =>
    new Promise((start, reject) => {
      if (turns.countOf(owner) >= WAITING_CALLS_MAX) reject(tooManyCalls());
      else turns.add(owner, { start });
    });

  /** Begins the call here, not when the call continues, so that no other call gets it in between. */
  function startNext(): void {
    while (!limit.isReached) {
      const next = turns.takeOfOne(1, (owner) => limit.mayBegin(owner));
      if (next === null) return;
      limit.begin(next.owner);
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

/**
 * Calls of one connection that may wait in each queue of a process. Normal use never reaches it
 * (docs/design/isolation-and-limits.md, "Pools and fair shares").
 */
export const WAITING_CALLS_MAX = 5_000;

/** Thrown for a call of a connection that has too many calls waiting. No other connection is affected. */
export const tooManyCalls = (): ProblemError =>
  new ProblemError({
    code: "rate-limited",
    detail: `More than ${WAITING_CALLS_MAX} requests of the connection wait for the database. Send fewer at a time.`,
    members: { limit: "waiting-requests" },
    headers: { "retry-after": "1" },
  });
