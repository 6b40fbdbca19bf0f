import type { ConnectionKey } from "../connection-key.ts";
import { ProblemError } from "../wire/problems.ts";
import type { Database, Spent } from "./database.ts";

const SERVED_KEPT_MAX = 1_024;

/**
 * Whose a call is: of a merchant first, of one of its connections second. In the back office a caller stands for a connection,
 * and one of no merchant for a merchant as well.
 */
export type Owner = ConnectionKey;

/** Calls of no owner. */
export const UNOWNED: Owner = { merchantId: "", connectionId: "" };

/** Values by name, which are served in turn until they are empty. */
class Rotation<Value extends { readonly size: number }> {
  readonly #values = new Map<string, Value>();
  /** The names, the next one at `#next`. One that was served and is not empty goes to the end. */
  #order: string[] = [];
  #next = 0;

  get size(): number {
    return this.#values.size;
  }

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  values(): Iterable<Value> {
    return this.#values.values();
  }

  add(name: string, value: Value): void {
    this.#values.set(name, value);
    this.#order.push(name);
  }

  /** Serves the first one for which `serve` does not return null. Those that were skipped stay first. */
  serveNext<Served>(serve: (value: Value, name: string) => Served | null): Served | null {
    for (let at = this.#next; at < this.#order.length; at += 1) {
      const name = this.#order[at] ?? "";
      const value = this.#values.get(name);
      const served = value === undefined ? null : serve(value, name);
      if (value === undefined || served === null) continue;
      if (at > this.#next) this.#order.copyWithin(this.#next + 1, this.#next, at);
      this.#next += 1;
      if (value.size > 0) this.#order.push(name);
      else this.#values.delete(name);
      this.#forgetServed();
      return served;
    }
    return null;
  }

  /** The positions of served names are removed from time to time. Removing each at once would cost more. */
  #forgetServed(): void {
    if (this.#next < SERVED_KEPT_MAX || this.#next < this.#order.length / 2) return;
    this.#order = this.#order.slice(this.#next);
    this.#next = 0;
  }
}

/** The calls of a connection that wait. */
class OwnCalls<Call> {
  readonly owner: Owner;
  readonly calls: Call[];

  constructor(owner: Owner, calls: Call[]) {
    this.owner = owner;
    this.calls = calls;
  }

  take(max: number): OwnCalls<Call> {
    return new OwnCalls(this.owner, this.calls.splice(0, max));
  }

  get size(): number {
    return this.calls.length;
  }
}

/**
 * Waiting calls, by owner. Merchants are served in turn, and the connections of each, so an owner with many calls does not delay
 * the first call of another, and a merchant with many connections does not delay another merchant.
 */
export class FairQueue<Call extends object> {
  #merchants = new Rotation<Rotation<OwnCalls<Call>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  countOf({ merchantId, connectionId }: Owner): number {
    return this.#merchants.get(merchantId)?.get(connectionId)?.size ?? 0;
  }

  /** It adds up all of the merchant's connections. */
  countOfMerchant({ merchantId }: Owner): number {
    let count = 0;
    for (const { size } of this.#merchants.get(merchantId)?.values() ?? []) count += size;
    return count;
  }

  add(owner: Owner, call: Call): void {
    this.#size += 1;
    let merchant = this.#merchants.get(owner.merchantId);
    const own = merchant?.get(owner.connectionId);
    if (own !== undefined) {
      own.calls.push(call);
      return;
    }
    if (merchant === undefined) {
      merchant = new Rotation();
      merchant.add(owner.connectionId, new OwnCalls(owner, [call]));
      this.#merchants.add(owner.merchantId, merchant);
    } else merchant.add(owner.connectionId, new OwnCalls(owner, [call]));
  }

  /** Takes one call of each merchant in turn, of its connections in turn, until there are `max` of them. */
  take(max: number): Call[] {
    if (this.#size <= max) return this.#takeAll();
    const taken: Call[] = [];
    while (taken.length < max) {
      const next = this.#merchants.serveNext((merchant) =>
        merchant.serveNext(({ calls }) => calls.splice(0, 1)),
      );
      taken.push(...(next ?? []));
    }
    this.#size -= taken.length;
    return taken;
  }

  /** Takes at most `max` calls of the first owner in turn that may begin one now. */
  takeOfOne(
    max: number,
    limit: Pick<ConcurrencyLimit, "mayBegin" | "mayMerchantBegin">,
  ): OwnCalls<Call> | null {
    const taken = this.#merchants.serveNext((merchant, merchantId) =>
      limit.mayMerchantBegin(merchantId)
        ? merchant.serveNext((own) => (limit.mayBegin(own.owner) ? own.take(max) : null))
        : null,
    );
    this.#size -= taken?.size ?? 0;
    return taken;
  }

  #takeAll(): Call[] {
    const all: Call[] = [];
    for (const merchant of this.#merchants.values())
      for (const { calls } of merchant.values()) all.push(...calls);
    // A cleared one would keep its calls alive for the collector (docs/design/performance.md, "Garbage").
    this.#merchants = new Rotation();
    this.#size = 0;
    return all;
  }
}

/** An owner may begin a call only if its merchant uses less than this many times what is free. */
const USED_TO_FREE_MAX = 2;

/**
 * Concurrent calls that owners share (docs/design/isolation-and-limits.md, "Pools and fair shares"). The more owners make them,
 * the fewer each may use, and some always stay free for a merchant that has none: a single merchant uses two thirds of them, two
 * use two fifths each. A connection leaves as many free as it uses, so that its merchant has more for its others.
 */
export class ConcurrencyLimit {
  readonly #usedByMerchant = new Map<string, number>();
  readonly #used = new Map<string, number>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** No owner may begin a call, so there is no need to look for one. */
  get isReached(): boolean {
    return this.#free === 0;
  }

  mayMerchantBegin(merchantId: string): boolean {
    return (this.#usedByMerchant.get(merchantId) ?? 0) < USED_TO_FREE_MAX * this.#free;
  }

  mayBegin({ merchantId, connectionId }: Owner): boolean {
    return (this.#used.get(connectionId) ?? 0) < this.#free && this.mayMerchantBegin(merchantId);
  }

  begin({ merchantId, connectionId }: Owner): void {
    addTo(this.#usedByMerchant, merchantId, 1);
    addTo(this.#used, connectionId, 1);
    this.#free -= 1;
  }

  end({ merchantId, connectionId }: Owner): void {
    addTo(this.#usedByMerchant, merchantId, -1);
    addTo(this.#used, connectionId, -1);
    this.#free += 1;
  }
}

function addTo(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
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
  of(owner: Owner): Database;
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

  async function run<T>(owner: Owner, work: () => Promise<T>): Promise<T> {
    if (turns.countOf(owner) > 0 || !limit.mayBegin(owner)) await turnOf(owner);
    else limit.begin(owner);
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      spent?.(owner.connectionId, performance.now() - startedAt);
      limit.end(owner);
      startNext();
    }
  }

  const turnOf = (owner: Owner): Promise<void> =>
    new Promise((start, reject) => {
      if (hasTooMany(turns, owner)) reject(tooManyCalls());
      else turns.add(owner, { start });
    });

  /** Begins the call here, not when the call continues, so that no other call gets it in between. */
  function startNext(): void {
    while (!limit.isReached) {
      const next = turns.takeOfOne(1, limit);
      if (next === null) return;
      limit.begin(next.owner);
      for (const { start } of next.calls) start();
    }
  }

  return {
    of: (owner) => ({
      pool: db,
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
 * Calls of one connection, and of all connections of a merchant, that may wait in each queue of a process. Normal use never
 * reaches it (docs/design/isolation-and-limits.md, "Pools and fair shares").
 */
export const WAITING_CALLS_MAX = 4_000;
const WAITING_OF_MERCHANT_MAX = 5_000;

/** True if no further call of the connection may wait. */
export const hasTooMany = (waiting: FairQueue<object>, owner: Owner): boolean =>
  waiting.size >= WAITING_CALLS_MAX &&
  (waiting.countOf(owner) >= WAITING_CALLS_MAX || waiting.countOfMerchant(owner) >= WAITING_OF_MERCHANT_MAX);

/** Thrown for a call of a connection that has too many calls waiting. No other merchant is affected. */
export const tooManyCalls = (): ProblemError =>
  new ProblemError({
    code: "rate-limited",
    detail:
      "Too many requests of the connection or of its merchant wait for the database. Send fewer at a time.",
    members: { limit: "waiting-requests" },
    headers: { "retry-after": "1" },
  });
