import { beforeEach, describe, expect, it, vi } from "vitest";
import type { RecordedCompletion } from "../../../../src/webhooks/delivery/complete-deliveries.ts";
import { OutcomesInOrder, RETRY_EVERY_MS } from "../../../../src/webhooks/delivery/outcome-store.ts";
import { aClaim, NOW } from "../../../support/claims.ts";

// See docs/design/deliveries.md, "Outcomes".

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  return () => void vi.useRealTimers();
});

/** After the groups and rounds of what has been called by now. */
async function turns(): Promise<void> {
  for (let count = 0; count < 20; count += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** When those are tried again that were not stored. */
async function nextRound(): Promise<void> {
  await vi.advanceTimersByTimeAsync(RETRY_EVERY_MS);
  await turns();
}

const anOutcome = (endpointId: string, deliveryId: string): RecordedCompletion => ({
  completion: {
    delivery: aClaim({ endpointId, deliveryId }),
    attempt: null,
    outcome: { is: "retry", at: NOW },
  },
  health: null,
  wasPaused: false,
});

const nameOf = ({ completion: { delivery } }: RecordedCompletion): string =>
  `${delivery.endpointId}${delivery.deliveryId}`;

/** A database in which some outcomes, or all of some endpoints, cannot be stored: a transaction that contains one fails. */
function start({ sizeMax = 256 } = {}) {
  const stuck = new Set<string>();
  const lost = new Set<string>();
  const stored: string[] = [];
  const setAside: string[] = [];
  const transactions: string[] = [];
  const failures: unknown[] = [];
  /** Transactions that have begun. While `waits` is true, each waits for its end. */
  const waiting: (() => void)[] = [];
  const state = { waits: false, isAway: false, isNodeDown: false };
  const outcomes = new OutcomesInOrder(sizeMax, {
    store: async (recorded, isApart) => {
      const fails = recorded.some(
        (each) => stuck.has(nameOf(each)) || stuck.has(each.completion.delivery.endpointId),
      );
      const { isAway, isNodeDown } = state;
      transactions.push(`${isApart ? "apart: " : ""}${recorded.map(nameOf).join(" ")}`);
      if (state.waits) await new Promise<void>((resolve) => waiting.push(resolve));
      if (isAway) throw new Error("Connection terminated");
      if (isNodeDown) return recorded.map(() => null);
      if (fails) throw new Error("The lock was not released.");
      stored.push(...recorded.map(nameOf));
      return recorded.map(() => true);
    },
    isLost: (recorded) => lost.has(nameOf(recorded)),
    onFailed: (error) => void failures.push(error),
    givenUp: new AbortController().signal,
  });
  const store = (...names: string[]): void => {
    for (const name of names)
      void outcomes.store(anOutcome(name.slice(0, -1), name.slice(-1))).then((isSetAside) => {
        if (isSetAside !== null) setAside.push(name);
      });
  };
  return {
    ...{ outcomes, store, stored, stuck, lost, setAside, transactions, failures, state },
    /** Lets the transactions end that wait. */
    end: async () => {
      for (const resolve of waiting.splice(0)) resolve();
      await turns();
    },
  };
}

describe("an outcome that cannot be stored", () => {
  it("makes no other endpoint wait when it is tried again", async () => {
    const { store, stored, stuck, transactions } = start();
    stuck.add("x");
    store("a1", "x1", "b1");
    await turns();
    expect(stored).toEqual(["a1", "b1"]);
    await nextRound();
    store("a2");
    await turns();
    const apart = ["a1 x1 b1", "a1", "x1", "b1", "x1", "x1"].map((names) => `apart: ${names}`);
    expect(transactions).toEqual(["a1 x1 b1", ...apart, "a2"]);
  });

  it("makes no other endpoint wait while it waits for a lock", async () => {
    const { store, stored, stuck, state, end } = start();
    stuck.add("x");
    store("x1");
    await turns();
    state.waits = true;
    await nextRound();
    state.waits = false;
    store("a1", "x2");
    await turns();
    expect(stored).toEqual(["a1"]);
    await end();
  });

  it("keeps further ones of its endpoint behind it, also those that had waited for its group", async () => {
    const { store, stored, stuck, state, end } = start({ sizeMax: 2 });
    stuck.add("x");
    state.waits = true;
    store("x1");
    await turns();
    store("a1", "a2", "x2", "a3", "x3");
    state.waits = false;
    await end();
    expect(stored).toEqual(["a1", "a2", "a3"]);
    store("x4");
    await turns();
    stuck.clear();
    await nextRound();
    expect(stored.slice(3)).toEqual(["x1", "x2", "x3", "x4"]);
  });

  it("keeps behind it those of its endpoint that could be stored before it", async () => {
    const { store, stored, stuck } = start();
    stuck.add("x1");
    store("a1", "x1", "x2");
    await turns();
    await nextRound();
    expect(stored).toEqual(["a1"]);
    stuck.clear();
    await nextRound();
    expect(stored).toEqual(["a1", "x1", "x2"]);
  });

  it("shares groups with others again when all of its endpoint are stored", async () => {
    const { outcomes, store, stuck, transactions } = start();
    stuck.add("x");
    store("x1");
    await turns();
    expect(outcomes.isSetAside("x")).toBe(true);
    stuck.clear();
    await nextRound();
    expect(outcomes.isSetAside("x")).toBe(false);
    store("x2", "a1");
    await turns();
    expect(transactions.at(-1)).toBe("x2 a1");
  });

  it("lets those behind it be stored once it is lost", async () => {
    const { store, stored, stuck, lost } = start();
    stuck.add("x");
    store("x1", "x2");
    await turns();
    lost.add("x1");
    await nextRound();
    stuck.clear();
    await nextRound();
    expect(stored).toEqual(["x2"]);
  });

  it("is tried after those of endpoints that are new, and makes them wait for a part of those that fail only", async () => {
    const { store, stored, stuck, transactions } = start();
    const many = Array.from({ length: 40 }, (_, index) => `x${"y".repeat(index)}`);
    for (const endpointId of [...many, "new"]) stuck.add(endpointId);
    store(...many.map((endpointId) => `${endpointId}1`));
    await turns();
    await nextRound();
    store("a1", "new1");
    await turns();
    transactions.splice(0);
    await nextRound();
    expect(stored).toEqual(["a1"]);
    expect(transactions[0]).toMatch(/^apart: a1 new1( xy*1){30}$/);
  });

  it("is stored in one round after the other, also if another is set aside just as the last one ends", async () => {
    const { outcomes, transactions, state, end } = start();
    void outcomes.setAside(anOutcome("a", "1")).ended.then(() => {
      state.waits = true;
      outcomes.setAside(anOutcome("b", "1"));
    });
    await turns();
    expect(transactions).toEqual(["apart: a1", "apart: b1"]);
    await end();
  });

  it("is announced once as set aside, with all that are set aside with it", async () => {
    const { store, stuck, setAside, failures } = start();
    stuck.add("x");
    store("x1", "a1");
    await turns();
    await nextRound();
    expect(setAside).toEqual(["x1", "a1"]);
    expect(failures).toEqual([new Error("The lock was not released.")]);
  });
});

describe("while no outcome can be stored", () => {
  it("because the database is away, they wait in their order", async () => {
    const { store, stored, setAside, state } = start();
    state.isAway = true;
    store("a1", "b1");
    await turns();
    store("a2");
    await nextRound();
    state.isAway = false;
    await nextRound();
    expect(stored).toEqual(["a1", "b1", "a2"]);
    expect(setAside).toEqual([]);
  });

  it("because the database is away, those that are lost end, and the others are stored", async () => {
    const { store, stored, lost, state } = start();
    state.isAway = true;
    lost.add("a1");
    store("a1", "b1");
    await turns();
    state.isAway = false;
    await nextRound();
    expect(stored).toEqual(["b1"]);
  });

  it("because the database is away, those that were set aside are tried together only", async () => {
    const { store, stuck, transactions, state } = start();
    stuck.add("x");
    store("x1", "x2");
    await turns();
    state.isAway = true;
    transactions.splice(0);
    await nextRound();
    expect(transactions).toEqual(["apart: x1 x2"]);
  });

  it("because the node of a merchant is down, they wait apart", async () => {
    const { store, stored, state } = start();
    state.isNodeDown = true;
    store("a1", "a2");
    await turns();
    state.isNodeDown = false;
    store("b1");
    await turns();
    expect(stored).toEqual(["b1"]);
    await nextRound();
    expect(stored).toEqual(["b1", "a1", "a2"]);
  });
});
