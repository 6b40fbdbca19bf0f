import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { isNodeDown, processReachable } from "../../platform/database/citus.ts";
import {
  isNodeLost,
  isOutOfReach,
  isUnavailable,
  UnavailableError,
} from "../../platform/database/database.ts";
import { type Grouped, groupCalls } from "../../platform/database/group.ts";
import { retried } from "../../platform/database/retry.ts";
import { atMostEvery } from "../../platform/log.ts";
import { pause } from "../../platform/run-in-turn.ts";
import { SECOND_MS } from "../../platform/time.ts";
import {
  completeDeliveries,
  endStreams,
  type RecordedCompletion,
  type Success,
} from "./complete-deliveries.ts";

/** Outcomes that are stored together, at most. */
const GROUP_MAX = 256;
/** Groups of successes that are stored concurrently: while one waits for its commit, another is processed. */
const SUCCESS_GROUPS = 2;
/** The size from which a second group pays for its own commit. A statement costs as much as a dozen outcomes. */
const SECOND_GROUP_MIN = 192;
/**
 * Only the next delivery of a stream waits for an outcome, so a few of them wait for others
 * (docs/design/performance.md, "Outcomes of deliveries").
 */
const SPACING = { ms: 15, unlessWaiting: SECOND_GROUP_MIN };
/** The longest wait for a lock in a transaction with outcomes that are set aside. */
const LOCK_WAIT_MS = 100;

/** True if a success has ended its stream. If not, nothing has changed. */
type StreamEnd = "ended" | "not-ended" | "failed";

/** Stores outcomes in groups. A success that ends its stream takes one statement, every other outcome a transaction. */
export class OutcomeStore {
  readonly #context: Context;
  readonly #workerId: string;
  readonly #onAdvanced: (connections: readonly ConnectionKey[]) => void;
  readonly #givenUp = new AbortController();
  readonly #endStream: Grouped<Success, StreamEnd>;
  readonly #inOrder: OutcomesInOrder;
  readonly #logFailed: (error: unknown) => void;
  readonly #logLost: (error: unknown) => void;

  /** @param onAdvanced is called with the connections whose streams have a new head */
  constructor(
    context: Context,
    workerId: string,
    onAdvanced: (connections: readonly ConnectionKey[]) => void,
  ) {
    const { log } = context;
    this.#context = context;
    this.#workerId = workerId;
    this.#onAdvanced = onAdvanced;
    this.#logFailed = atMostEvery<unknown>(SECOND_MS, (err, count) =>
      log.warn({ err, count }, "groups of outcomes not stored, each outcome will be stored apart"),
    );
    this.#logLost = atMostEvery<unknown>(SECOND_MS, (err, count) =>
      log.error(
        { err, count },
        "outcomes not stored, their deliveries will be sent again when the lease expires",
      ),
    );
    this.#endStream = groupCalls<Success, StreamEnd>({
      name: "store successes",
      run: (successes) => this.#endStreams(successes),
      sizeMax: GROUP_MAX,
      concurrencyMax: SUCCESS_GROUPS,
      besideMin: SECOND_GROUP_MIN,
      spacing: SPACING,
    });
    this.#inOrder = new OutcomesInOrder(GROUP_MAX, {
      store: (recorded, isApart) => this.#complete(recorded, isApart),
      isLost: (recorded, error) => this.#isLost(recorded, error),
      onFailed: this.#logFailed,
      givenUp: this.#givenUp.signal,
    });
  }

  /**
   * Resolves with null when the outcome is stored, or when its lease has expired, so that the delivery will be sent again. One
   * that takes longer than those of other endpoints is set aside.
   */
  async store(recorded: RecordedCompletion): Promise<OutcomeSetAside | null> {
    const success = plainSuccess(recorded);
    for (;;) {
      try {
        if (success === null || this.isSetAside(success.delivery.endpointId))
          return await this.#inOrder.store(recorded);
        const end = await this.#endStream(success);
        if (end === "ended") return null;
        return end === "failed" ? this.#inOrder.setAside(recorded) : await this.#inOrder.store(recorded);
      } catch (err) {
        if (this.#isLost(recorded, err)) return null;
        await pause(RETRY_EVERY_MS, this.#givenUp.signal);
      }
    }
  }

  /** True if outcomes of the endpoint wait longer than those of others. */
  isSetAside(endpointId: string): boolean {
    return this.#inOrder.isSetAside(endpointId);
  }

  /** Stops waiting for a database that is not available. */
  giveUp(): void {
    this.#givenUp.abort();
  }

  async #endStreams(successes: readonly Success[]): Promise<StreamEnd[]> {
    const { db, clock } = this.#context;
    // The statement needs all nodes of Citus (docs/design/distribution.md, "Functions run on one node"). While one is down, the
    // transaction stores them.
    if (isNodeDown(db)) return successes.map(() => "not-ended");
    try {
      const ended = await retried(db, clock, () => endStreams(db, successes));
      return ended.map((isEnded) => (isEnded ? "ended" : "not-ended"));
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      if (isNodeLost(error)) return successes.map(() => "not-ended");
      this.#logFailed(error);
      return successes.map(() => "failed");
    }
  }

  #complete(recorded: readonly RecordedCompletion[], isApart: boolean): Promise<readonly Stored[]> {
    const merchantIdOf = ({ completion }: RecordedCompletion): string => completion.delivery.merchantId;
    const lockWaitMs = isApart ? LOCK_WAIT_MS : undefined;
    return processReachable(this.#context.db, recorded, merchantIdOf, async (reachable) => {
      this.#onAdvanced(await completeDeliveries(this.#context, this.#workerId, reachable, lockWaitMs));
      return reachable.map(() => true as const);
    });
  }

  /** While the database is not available the outcome is kept, until its lease expires and another worker may send again. */
  #isLost({ completion: { delivery } }: RecordedCompletion, err: unknown): boolean {
    const isOver = this.#context.clock.now() >= delivery.leasedUntil;
    if (isUnavailable(err) && !isOver && !this.#givenUp.signal.aborted) return false;
    this.#logLost(err);
    return true;
  }
}

/** Null unless the outcome is a success that changes nothing but its own stream. */
function plainSuccess({ completion, health, wasPaused }: RecordedCompletion): Success | null {
  const { delivery, attempt, outcome } = completion;
  const isPlain =
    outcome.is === "succeeded" && health === null && !wasPaused && delivery.trigger !== "manual";
  return isPlain && attempt?.fault === null ? { delivery, attempt } : null;
}

/** An outcome that takes longer to store than those of other endpoints. */
type OutcomeSetAside = {
  /** Resolves when it is stored, or when its delivery will be sent again. */
  readonly ended: Promise<void>;
};

/** True: stored. Null: nothing is stored, because the node of the merchant is down. */
type Stored = true | null;

type Options = {
  /**
   * Stores outcomes in one transaction. Returns whether each is stored.
   * @param isApart outcomes that are set aside: the transaction waits for locks for a short time only
   */
  readonly store: (recorded: readonly RecordedCompletion[], isApart: boolean) => Promise<readonly Stored[]>;
  /** True if an outcome that was not stored is not stored again. */
  readonly isLost: (recorded: RecordedCompletion, error: unknown) => boolean;
  /** Called when a group fails, before its outcomes are set aside. */
  readonly onFailed: (error: unknown) => void;
  /** Aborted when nothing waits any more for a database that is not available. */
  readonly givenUp: AbortSignal;
};

type Waiting = { readonly recorded: RecordedCompletion; readonly end: () => void };

/** An endpoint whose outcomes are set aside. Not empty. */
type Endpoint = { readonly waiting: Waiting[]; triedInRound: number };

/** Outcomes of one round. Each that cannot be stored delays the others by the time for which it waits for its lock. */
const ROUND_MAX = 32;
export const RETRY_EVERY_MS = 250;

const endpointIdOf = ({ completion }: RecordedCompletion): string => completion.delivery.endpointId;

/**
 * Stores outcomes in groups, one after the other, because the health of an endpoint must be stored in the order of its
 * outcomes. The outcomes of a group that fails are set aside. From then on so are further ones of their endpoints, as soon
 * as it is their turn, until none is left. So the reports of health of an endpoint are in one of the two only, in the order
 * in which they arrived.
 *
 * Outcomes that are set aside are stored apart from all others, round by round: together, and if that fails each alone, in the
 * order of their endpoint. One that is not stored delays the others of its endpoint, until it is stored or lost
 * (docs/design/deliveries.md, "Outcomes").
 */
export class OutcomesInOrder {
  readonly #options: Options;
  readonly #endpoints = new Map<string, Endpoint>();
  #round = 0;
  #isStoringApart = false;
  /** Returns null when the outcome has ended. */
  readonly store: Grouped<RecordedCompletion, OutcomeSetAside | null>;

  constructor(sizeMax: number, options: Options) {
    this.#options = options;
    this.store = groupCalls<RecordedCompletion, OutcomeSetAside | null>({
      name: "store outcomes",
      run: (group) => this.#storeGroup(group),
      sizeMax,
      concurrencyMax: 1,
    });
  }

  /** True if an outcome of the endpoint is set aside. Then all further ones must be, so that they stay in their order. */
  isSetAside(endpointId: string): boolean {
    return this.#endpoints.has(endpointId);
  }

  /** Sets an outcome aside: one of a group, or one without a report of health, whose order does not matter. */
  setAside(recorded: RecordedCompletion): OutcomeSetAside {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const id = endpointIdOf(recorded);
    const endpoint = this.#endpoints.get(id) ?? { waiting: [], triedInRound: 0 };
    endpoint.waiting.push({ recorded, end });
    this.#endpoints.set(id, endpoint);
    if (!this.#isStoringApart) void this.#storeApart();
    return { ended };
  }

  /** Sets aside what belongs behind others that are set aside, and stores the rest together. */
  async #storeGroup(group: readonly RecordedCompletion[]): Promise<(OutcomeSetAside | null)[]> {
    const results = new Map<RecordedCompletion, OutcomeSetAside | null>();
    for (const each of group) if (this.isSetAside(endpointIdOf(each))) results.set(each, this.setAside(each));
    let left = group.filter((each) => !results.has(each));
    while (left.length > 0) {
      try {
        const stored = await this.#options.store(left, false);
        left.forEach((each, index) => {
          results.set(each, stored[index] === true ? null : this.setAside(each));
        });
      } catch (error) {
        if (isOutOfReach(error)) {
          // Nothing else could be stored either.
          for (const each of left) if (this.#options.isLost(each, error)) results.set(each, null);
          await pause(RETRY_EVERY_MS, this.#options.givenUp);
        } else {
          this.#options.onFailed(error);
          for (const each of left) results.set(each, this.setAside(each));
        }
      }
      left = left.filter((each) => !results.has(each));
    }
    return group.map((each) => results.get(each) ?? null);
  }

  /** In rounds, one after the other, on one connection. */
  async #storeApart(): Promise<void> {
    this.#isStoringApart = true;
    await null; // All outcomes of a failed group are added first.
    while (this.#endpoints.size > 0)
      if (!(await this.#storeRound())) await pause(RETRY_EVERY_MS, this.#options.givenUp);
    this.#isStoringApart = false;
  }

  /** Returns whether any outcome has ended. */
  async #storeRound(): Promise<boolean> {
    const parts = this.#nextParts();
    const all = parts.flat();
    const error = await this.#tryApart(all);
    if (error !== null && all.length > 1 && !isOutOfReach(error))
      for (const part of parts)
        for (const each of part) {
          await this.#tryApart([each]);
          if (this.#waits(each)) break;
        }
    return all.some((each) => !this.#waits(each));
  }

  /** The first outcomes of endpoints: first of those that are new, then of those that were tried least recently. */
  #nextParts(): Waiting[][] {
    this.#round += 1;
    let left = ROUND_MAX;
    const parts: Waiting[][] = [];
    for (const endpoint of [...this.#endpoints.values()].sort((a, b) => a.triedInRound - b.triedInRound)) {
      if (left === 0) break;
      const part = endpoint.waiting.slice(0, left);
      endpoint.triedInRound = this.#round;
      left -= part.length;
      parts.push(part);
    }
    return parts;
  }

  /** Returns the error if nothing is stored. */
  async #tryApart(outcomes: readonly Waiting[]): Promise<unknown> {
    const { store, isLost } = this.#options;
    try {
      const stored = await store(
        outcomes.map(({ recorded }) => recorded),
        true,
      );
      const nodeDown = new UnavailableError("The node of the merchant is down.");
      outcomes.forEach((each, index) => {
        if (stored[index] === true || isLost(each.recorded, nodeDown)) this.#end(each);
      });
      return null;
    } catch (error) {
      // Of several, each is tried alone, unless the database is not available to any.
      if (outcomes.length === 1 || isOutOfReach(error))
        for (const each of outcomes) if (isLost(each.recorded, error)) this.#end(each);
      return error;
    }
  }

  #waits(outcome: Waiting): boolean {
    return this.#endpoints.get(endpointIdOf(outcome.recorded))?.waiting.includes(outcome) ?? false;
  }

  #end(outcome: Waiting): void {
    const id = endpointIdOf(outcome.recorded);
    const waiting = this.#endpoints.get(id)?.waiting ?? [];
    waiting.splice(waiting.indexOf(outcome), 1);
    if (waiting.length === 0) this.#endpoints.delete(id);
    outcome.end();
  }
}
