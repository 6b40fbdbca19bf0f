import { isOutOfReach, UnavailableError } from "../../../platform/database/database.ts";
import { type Grouped, groupCalls } from "../../../platform/database/group.ts";
import { pause } from "../../../platform/pause.ts";
import type { RecordedCompletion } from "./complete-deliveries.ts";

/** An outcome that takes longer to store than those of other endpoints. */
export type OutcomeSetAside = {
  /** Resolves when it is stored, or when its delivery will be sent again. */
  readonly ended: Promise<void>;
};

/** True: stored. Null: nothing is stored, because the node of the merchant is down. */
export type Stored = true | null;

type Options = {
  /**
   * Stores outcomes in one transaction. Returns whether each is stored.
   * @param isApart outcomes that are set aside: the transaction waits for locks for a short time only
   */
  readonly store: (recorded: readonly RecordedCompletion[], isApart: boolean) => Promise<readonly Stored[]>;
  /** Whether an outcome that was not stored is not stored again. */
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
 * order of their endpoint. One that is not stored delays the others of its endpoint, until it is stored or lost (decision 0214).
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

  /** Whether an outcome of the endpoint is set aside. Then all further ones must be, so that they stay in their order. */
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
