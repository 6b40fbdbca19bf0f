import { isOutOfReach, UnavailableError } from "../../../platform/database/database.ts";
import { pause } from "../../../platform/pause.ts";
import type { RecordedCompletion } from "./complete-deliveries.ts";

/** An outcome that is not stored yet. */
export type Unstored = {
  readonly recorded: RecordedCompletion;
  /** Called when it is set aside. */
  readonly onSetAside: () => void;
  /** It is stored, or its delivery will be sent again. */
  readonly end: () => void;
};

/** True: stored. Null: nothing is stored, because the node of the merchant is down. */
export type Stored = true | null;

type SetAsideOptions = {
  /** Stores outcomes in one transaction, which waits for locks for a short time only. */
  readonly store: (recorded: readonly RecordedCompletion[]) => Promise<readonly Stored[]>;
  /** Whether an outcome that was not stored is not stored again. */
  readonly isLost: (recorded: RecordedCompletion, error: unknown) => boolean;
  readonly givenUp: AbortSignal;
};

/** An endpoint whose outcomes are set aside. Not empty. */
type Endpoint = { readonly waiting: Unstored[]; triedInRound: number };

/** Outcomes of one round. Each that cannot be stored delays the others by the time for which it waits for its lock. */
const ROUND_MAX = 32;
export const RETRY_EVERY_MS = 250;

export const endpointIdOf = ({ recorded }: Unstored): string => recorded.completion.delivery.endpointId;

/**
 * Outcomes of endpoints for which one could not be stored, such as behind a lock. They are stored apart from those of all
 * others, round by round: together, and if that fails each alone, in the order of their endpoint. One that is not stored
 * delays the others of its endpoint, until it is stored or lost (decision 0214).
 */
export class OutcomesSetAside {
  readonly #options: SetAsideOptions;
  readonly #endpoints = new Map<string, Endpoint>();
  #round = 0;
  #isStoring = false;

  constructor(options: SetAsideOptions) {
    this.#options = options;
  }

  /** Whether an outcome of the endpoint is set aside. Then all further ones must be, so that they stay in their order. */
  has(endpointId: string): boolean {
    return this.#endpoints.has(endpointId);
  }

  add(outcome: Unstored): void {
    const id = endpointIdOf(outcome);
    const endpoint = this.#endpoints.get(id);
    if (endpoint === undefined) this.#endpoints.set(id, { waiting: [outcome], triedInRound: 0 });
    else endpoint.waiting.push(outcome);
    outcome.onSetAside();
    if (!this.#isStoring) void this.#storeAll();
  }

  /** In rounds, one after the other, on one connection. */
  async #storeAll(): Promise<void> {
    this.#isStoring = true;
    await null; // All outcomes of a failed group are added first.
    while (this.#endpoints.size > 0)
      if (!(await this.#storeRound())) await pause(RETRY_EVERY_MS, this.#options.givenUp);
    this.#isStoring = false;
  }

  /** Returns whether any outcome has ended. */
  async #storeRound(): Promise<boolean> {
    const parts = this.#nextParts();
    const all = parts.flat();
    const error = await this.#store(all);
    if (error !== null && all.length > 1 && !isOutOfReach(error))
      for (const part of parts) await this.#storeEachAlone(part);
    return all.some((outcome) => !this.#waits(outcome));
  }

  /** The first outcomes of endpoints: first of those that are new, then of those that were tried least recently. */
  #nextParts(): Unstored[][] {
    this.#round += 1;
    let room = ROUND_MAX;
    const parts: Unstored[][] = [];
    for (const endpoint of [...this.#endpoints.values()].sort((a, b) => a.triedInRound - b.triedInRound)) {
      if (room === 0) break;
      const part = endpoint.waiting.slice(0, room);
      endpoint.triedInRound = this.#round;
      room -= part.length;
      parts.push(part);
    }
    return parts;
  }

  async #storeEachAlone(ofEndpoint: readonly Unstored[]): Promise<void> {
    for (const outcome of ofEndpoint) {
      await this.#store([outcome]);
      if (this.#waits(outcome)) return;
    }
  }

  /** Returns the error if nothing is stored. */
  async #store(outcomes: readonly Unstored[]): Promise<unknown> {
    try {
      const stored = await this.#options.store(outcomes.map(({ recorded }) => recorded));
      const nodeDown = new UnavailableError("The node of the merchant is down.");
      outcomes.forEach((outcome, index) => {
        if (stored[index] === true) this.#end(outcome);
        else this.#endIfLost(outcome, nodeDown);
      });
      return null;
    } catch (error) {
      // Of several, each is tried alone, unless the database is not available to any.
      if (outcomes.length === 1 || isOutOfReach(error))
        for (const outcome of outcomes) this.#endIfLost(outcome, error);
      return error;
    }
  }

  #endIfLost(outcome: Unstored, error: unknown): void {
    if (this.#options.isLost(outcome.recorded, error)) this.#end(outcome);
  }

  #waits(outcome: Unstored): boolean {
    return this.#endpoints.get(endpointIdOf(outcome))?.waiting.includes(outcome) ?? false;
  }

  #end(outcome: Unstored): void {
    const id = endpointIdOf(outcome);
    const waiting = this.#endpoints.get(id)?.waiting ?? [];
    waiting.splice(waiting.indexOf(outcome), 1);
    if (waiting.length === 0) this.#endpoints.delete(id);
    outcome.end();
  }
}
