import { describe, expect, it } from "vitest";
import type { RecordedCompletion } from "../../../src/webhooks/dispatch/record/complete-deliveries.ts";
import { OutcomeGroups } from "../../../src/webhooks/dispatch/record/outcome-groups.ts";
import { aClaim, anEndpoint, NOW } from "../../support/claims.ts";

/** A failed attempt of an endpoint, after which it has failed so many times in a row. */
function aFailure(endpointId: string, consecutiveFailures = 1): RecordedCompletion {
  const { health, ...endpoint } = anEndpoint({ id: endpointId });
  return {
    completion: {
      delivery: aClaim({ endpointId }),
      attempt: null,
      outcome: { is: "retry", at: NOW },
    },
    health: { endpoint, health: { ...health, consecutiveFailures }, pause: null, warning: null },
    wasPaused: false,
  };
}

/** After the groups of what has been called by now. */
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** A database in which the outcomes of some endpoints cannot be stored: each group that contains one waits and then fails. */
function start() {
  const blocked = new Set<string>();
  const fail: (() => void)[] = [];
  const sizes: number[] = [];
  const stored: [endpointId: string, consecutiveFailures: number | undefined][] = [];
  const groups = new OutcomeGroups((recorded) => {
    const fails = recorded.some(({ completion }) => blocked.has(completion.delivery.endpointId));
    if (fails)
      return new Promise((_, reject) => fail.push(() => reject(new Error("The lock was not released."))));
    sizes.push(recorded.length);
    for (const { completion, health } of recorded)
      stored.push([completion.delivery.endpointId, health?.health.consecutiveFailures]);
    return Promise.resolve(recorded.map(() => true));
  });
  return {
    stored,
    /** Of the groups that were stored. */
    sizes,
    blocked,
    /** Ends the groups that cannot be stored. */
    timeOut: async () => {
      for (const each of fail.splice(0)) each();
      await turn();
    },
    /** Stores an outcome. Returns what repeats it and what ends it. */
    begin: (recorded: RecordedCompletion) => {
      const outcome = groups.begin(recorded);
      const store = async () => {
        const isStored = await outcome.store().catch(() => false);
        if (isStored) outcome.end();
      };
      void store();
      return store;
    },
  };
}

describe("an outcome that cannot be stored", () => {
  it("delays those of other endpoints once, and not when it is repeated", async () => {
    const { begin, blocked, stored, timeOut } = start();
    blocked.add("stuck");
    const repeat = begin(aFailure("stuck"));
    for (const endpointId of ["a", "b"]) begin(aFailure(endpointId));
    await turn();
    expect(stored).toEqual([]);
    await timeOut();
    expect(stored).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    await timeOut();
    void repeat();
    begin(aFailure("c"));
    await turn();
    expect(stored.slice(2)).toEqual([["c", 1]]);
  });

  it("delays none that arrives while it is stored apart", async () => {
    const { begin, blocked, stored, timeOut } = start();
    blocked.add("stuck");
    begin(aFailure("stuck", 1));
    await turn();
    await timeOut();
    begin(aFailure("stuck", 2)); // Waits for the other one of its endpoint.
    begin(aFailure("a"));
    await turn();
    expect(stored).toEqual([["a", 1]]);
  });

  it("does not undo the health after a later one, when it is stored in the end", async () => {
    const { begin, blocked, stored, sizes, timeOut } = start();
    blocked.add("stuck");
    const repeat = begin(aFailure("stuck", 1));
    await turn();
    await timeOut();
    await timeOut();
    blocked.delete("stuck");
    begin(aFailure("stuck", 2));
    await turn();
    await repeat();
    expect(stored).toEqual([
      ["stuck", 2],
      ["stuck", 2],
    ]);
    begin(aFailure("stuck", 0)); // All is stored: its outcomes share groups with others again.
    begin(aFailure("a"));
    await turn();
    expect(stored.slice(2)).toEqual([
      ["stuck", 0],
      ["a", 1],
    ]);
    expect(sizes).toEqual([1, 1, 2]);
  });
});
