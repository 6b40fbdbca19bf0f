import type { Span } from "@opentelemetry/api";
import { activeSpan, tracedGroup } from "../telemetry/tracing.ts";
import { isOutOfReach, isTimedOut, type Spent, UnavailableError } from "./database.ts";
import {
  ConcurrencyLimit,
  FairQueue,
  hasTooMany,
  type Owner,
  Spacing,
  type SpacingOptions,
  tooManyCalls,
  UNOWNED,
} from "./fair-share.ts";

/**
 * Processes work that arrives together in groups: while one group is at the database, further calls form the next
 * group. Without load, each call runs alone and at once. Only calls with `spacing` wait for a timer.
 */
export type Grouped<In, Out> = (item: In) => Promise<Out>;

type GroupOptions<In, Out> = {
  /** The name of its spans. */
  name: string;
  /** Processes a whole group. Returns one outcome per item, in the same order. */
  run: (items: In[]) => Promise<Out[]>;
  sizeMax: number;
  /** Groups that can be at the database at the same time. */
  concurrencyMax: number;
  /**
   * While a group is at the database, another begins only with so many calls, or only when as many calls wait as that group
   * has; for throughput rather than latency.
   */
  besideMin?: number | "as-many";
  /** With so many waiting calls a group that may run begins at once, and not after the requests that can be read now. */
  atOnce?: number;
  /**
   * For calls that are not urgent: the time between groups, unless many calls wait. A call that arrives after that time
   * still runs at once.
   */
  spacing?: SpacingOptions;
  /**
   * The connection that a call belongs to. If more calls wait than a group takes, it takes one of each merchant in turn, of
   * its connections in turn. A connection with too many waiting calls gets `tooManyCalls`.
   */
  ownerOf?: (item: In) => Owner;
  /** Each group has the calls of one connection only, because each needs a statement of its own anyway. */
  oneOwnerEach?: boolean;
  /**
   * Processes one item on its own, outside of the groups and their limits: after its group has failed, and for a while
   * after it was slow on its own. Without it, the items of a failed group are processed one after the other by `run`.
   */
  runAlone?: (item: In) => Promise<Out>;
  /** Called after each group with the part of its time that each of its calls has, by connection. */
  spent?: Spent;
};

/**
 * With more waiting calls, the database cannot keep up. Then an early error is better for clients.
 */
const WAITING_MAX = 10_000;

/** An item that takes longer on its own would delay its group too much. */
const SLOW_MS = 1_000;

type Call<In, Out> = {
  readonly item: In;
  readonly owner: Owner;
  /** The span that waits for the outcome, if traces are exported. */
  readonly span: Span | null;
  resolve(out: Out): void;
  reject(error: unknown): void;
};

/** A group that can run now, and a function that ends its turn. */
type Group<In, Out> = { readonly calls: Call<In, Out>[]; readonly end: () => void };

/**
 * If a group fails, each of its items is repeated alone, so that an item that cannot be stored, or waits for a lock,
 * does not make others fail. Items must be safe to repeat.
 */
export function groupCalls<In, Out>(options: GroupOptions<In, Out>): Grouped<In, Out> {
  const { name, run, runAlone, ownerOf, spent, atOnce = Number.POSITIVE_INFINITY } = options;
  const waiting = new FairQueue<Call<In, Out>>();
  const nextGroup = options.oneOwnerEach ? groupsOfOneOwner(waiting, options) : groupsOfAll(waiting, options);
  const setAside = new SetAside();
  const doAlone = runAlone && aloneBy(runAlone, name, setAside);
  let scheduled = false;
  const spacing = options.spacing === undefined ? null : new Spacing(options.spacing, startGroups);

  /** Returns whether a group has begun. */
  function startGroups(): boolean {
    scheduled = false;
    if (spacing?.delays(waiting.size)) return false;
    let hasBegun = false;
    for (let group = nextGroup(); group !== null; group = nextGroup()) {
      spacing?.begun();
      void runGroup(group);
      hasBegun = true;
    }
    return hasBegun;
  }

  /**
   * The next group is sent first, so that the database works while the calls of this one continue
   * (docs/design/performance.md, "The next group first").
   */
  async function runGroup({ calls, end }: Group<In, Out>): Promise<void> {
    const outcomes = await runTogether(calls);
    end();
    if (startGroups()) setImmediate(resolveAll, calls, outcomes);
    else resolveAll(calls, outcomes);
  }

  /** Returns no outcomes if the group has failed. Then its calls have been taken care of. */
  async function runTogether(calls: readonly Call<In, Out>[]): Promise<readonly Out[]> {
    const startedAt = performance.now();
    try {
      const outcomes = await tracedGroup(name, calls, () => run(calls.map(({ item }) => item)));
      if (spent !== undefined) divideTime(performance.now() - startedAt, calls, spent);
      return outcomes;
    } catch (error) {
      await runSeparately(calls, error);
      return [];
    }
  }

  /** The next group does not wait for these items, unless only `run` can process them. */
  async function runSeparately(calls: readonly Call<In, Out>[], error: unknown): Promise<void> {
    // If the database is not available, repeating the items one by one would only add load.
    const isFinal = isOutOfReach(error) || (calls.length === 1 && !(doAlone && isTimedOut(error)));
    if (isFinal) for (const { reject } of calls) reject(error);
    else if (doAlone !== undefined) for (const call of calls) void doAlone(call);
    else for (const call of calls) resolveAll([call], await runTogether([call]));
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const owner = ownerOf === undefined ? UNOWNED : ownerOf(item);
      const call = { item, owner, span: activeSpan(), resolve, reject };
      if (doAlone !== undefined && setAside.has(owner.connectionId)) return void doAlone(call);
      if (waiting.size >= WAITING_MAX) return reject(new UnavailableError("Too many calls are waiting."));
      if (ownerOf !== undefined && hasTooMany(waiting, owner)) return reject(tooManyCalls());
      waiting.add(owner, call);
      if (waiting.size >= atOnce) return void startGroups();
      if (scheduled) return;
      scheduled = true;
      // After the current I/O events, so that requests that are read together form a group.
      setImmediate(startGroups);
    });
}

/** Processes a call on its own. */
const aloneBy =
  <In, Out>(runOne: (item: In) => Promise<Out>, name: string, setAside: SetAside) =>
  async (call: Call<In, Out>): Promise<void> => {
    const { item, owner, resolve, reject } = call;
    const startedAt = performance.now();
    try {
      resolve(await tracedGroup(`${name} alone`, [call], () => runOne(item)));
      if (performance.now() - startedAt > SLOW_MS) setAside.add(owner.connectionId);
    } catch (error) {
      if (!isOutOfReach(error)) setAside.add(owner.connectionId);
      reject(error);
    }
  };

function resolveAll<In, Out>(calls: readonly Call<In, Out>[], outcomes: readonly Out[]): void {
  outcomes.forEach((outcome, index) => {
    calls[index]?.resolve(outcome);
  });
}

function divideTime(ms: number, calls: readonly { readonly owner: Owner }[], spent: Spent): void {
  for (const { owner } of calls) spent(owner.connectionId, ms / calls.length);
}

type NextGroup<In, Out> = () => Group<In, Out> | null;

function groupsOfAll<In, Out>(
  waiting: FairQueue<Call<In, Out>>,
  { sizeMax, concurrencyMax, besideMin = 1 }: GroupOptions<In, Out>,
): NextGroup<In, Out> {
  const running: (readonly Call<In, Out>[])[] = []; // Few, and not a `Set` (docs/design/performance.md, "Garbage").
  function sizeMin(): number {
    if (running.length === 0) return 1;
    return besideMin === "as-many" ? Math.max(...running.map(({ length }) => length)) : besideMin;
  }
  return () => {
    if (running.length >= concurrencyMax || waiting.size < sizeMin()) return null;
    const calls = waiting.take(sizeMax);
    running.push(calls);
    return { calls, end: () => running.splice(running.indexOf(calls), 1) };
  };
}

function groupsOfOneOwner<In, Out>(
  waiting: FairQueue<Call<In, Out>>,
  { sizeMax, concurrencyMax }: GroupOptions<In, Out>,
): NextGroup<In, Out> {
  const limit = new ConcurrencyLimit(concurrencyMax);
  return () => {
    const found = limit.isReached ? null : waiting.takeOfOne(sizeMax, limit);
    if (found === null) return null;
    limit.begin(found.owner);
    return { calls: found.calls, end: () => limit.end(found.owner) };
  };
}

/**
 * How long the calls of an owner run alone after a slow one. It is short, because an overloaded database is slow for
 * all.
 */
const SET_ASIDE_MS = 10_000;

/** Owners whose calls were recently slow or failed. Their calls run outside of groups. */
class SetAside {
  readonly #until = new Map<string, number>();

  has(owner: string): boolean {
    if (this.#until.size === 0) return false;
    const until = this.#until.get(owner);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.#until.delete(owner);
    return false;
  }

  add(owner: string): void {
    const now = performance.now();
    for (const [other, until] of this.#until) if (until <= now) this.#until.delete(other);
    this.#until.set(owner, now + SET_ASIDE_MS);
  }
}
