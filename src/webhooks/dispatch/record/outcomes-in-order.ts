import { isOutOfReach } from "../../../platform/database/database.ts";
import { groupCalls } from "../../../platform/database/group.ts";
import { pause } from "../../../platform/pause.ts";
import type { RecordedCompletion } from "./complete-deliveries.ts";
import {
  endpointIdOf,
  OutcomesSetAside,
  RETRY_EVERY_MS,
  type Stored,
  type Unstored,
} from "./outcomes-set-aside.ts";

type OrderOptions = {
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

export type OutcomesInOrder = {
  /** Returns "set-aside" for an outcome that has not ended, because it was set aside. */
  store(outcome: Unstored): Promise<"ended" | "set-aside">;
  /** Sets an outcome without a report of health aside, whose order does not matter. */
  setAside(outcome: Unstored): void;
  isSetAside(endpointId: string): boolean;
};

/**
 * Stores outcomes in groups, one after the other, because the health of an endpoint must be stored in the order of its
 * outcomes. The outcomes of a group that fails are set aside. From then on so are further ones of their endpoints, as soon
 * as it is their turn, until none is left. So the reports of health of an endpoint are in one of the two only, in the order
 * in which they arrived (decision 0214).
 */
export function storeInOrder(
  sizeMax: number,
  { store, isLost, onFailed, givenUp }: OrderOptions,
): OutcomesInOrder {
  const setAside = new OutcomesSetAside({ store: (recorded) => store(recorded, true), isLost, givenUp });

  async function storeGroup(group: readonly Unstored[]): Promise<("ended" | "set-aside")[]> {
    const isSetAside = group.map((outcome) => setAside.has(endpointIdOf(outcome)));
    for (const outcome of group.filter((_, index) => isSetAside[index])) setAside.add(outcome);
    const ended = await storeTogether(group.filter((_, index) => !isSetAside[index]));
    return group.map((outcome) => (ended.has(outcome) ? "ended" : "set-aside"));
  }

  /** Returns those that have ended. All others are set aside. */
  async function storeTogether(outcomes: readonly Unstored[]): Promise<ReadonlySet<Unstored>> {
    const ended = new Set<Unstored>();
    for (let left = outcomes; left.length > 0; left = left.filter((outcome) => !ended.has(outcome))) {
      try {
        const stored = await store(
          left.map(({ recorded }) => recorded),
          false,
        );
        left.forEach((outcome, index) => {
          if (stored[index] === true) ended.add(outcome);
          else setAside.add(outcome);
        });
        return ended;
      } catch (error) {
        if (!isOutOfReach(error)) {
          onFailed(error);
          for (const outcome of left) setAside.add(outcome);
          return ended;
        }
        // Nothing else could be stored either.
        for (const outcome of left) if (isLost(outcome.recorded, error)) ended.add(outcome);
        await pause(RETRY_EVERY_MS, givenUp);
      }
    }
    return ended;
  }

  return {
    store: groupCalls<Unstored, "ended" | "set-aside">({
      name: "store outcomes",
      run: storeGroup,
      sizeMax,
      concurrencyMax: 1,
    }),
    setAside: (outcome) => setAside.add(outcome),
    isSetAside: (endpointId) => setAside.has(endpointId),
  };
}
