import { describe, expect, it } from "vitest";
import {
  attemptAfter,
  failedCharges,
  hasFailedCharge,
  refundableMinor,
  refundsFor,
  refundsOwed,
  retriesOf,
  shippingChargedMinor,
  waivers,
} from "../../../src/ledger/ledger.ts";
import { entry, ledgerOf, NOW } from "../../support/ledger-entries.ts";

describe("an order is held", () => {
  it.each<[boolean, string[]]>([
    [false, []],
    [false, ["goods 1 pending"]],
    [false, ["goods 1 succeeded", "shipping 1 pending"]],
    [true, ["goods 1 failed"]],
    [true, ["goods 1 failed", "goods 2 pending"]],
    [false, ["goods 1 failed", "goods 2 canceled"]],
    [false, ["goods 1 failed", "goods 2 succeeded"]],
    [true, ["goods 1 succeeded", "shipping 1 failed"]],
    [true, ["goods 1 failed", "goods 2 succeeded", "shipping 1 failed"]],
    [false, ["goods 1 succeeded", "refund 1 failed a"]],
    [true, ["shipping 1 succeeded", "shipping 2 failed"]],
    [false, ["shipping 1 succeeded", "shipping 2 failed", "shipping 3 succeeded"]],
    [true, ["shipping 1 failed", "shipping 2 canceled", "shipping 3 failed"]],
    [false, ["shipping 1 failed", "shipping 2 canceled", "shipping 3 pending"]],
    [false, ["goods 1 succeeded", "shipping 1 failed", "shipping 2 succeeded"]],
  ])("%s with %j", (held, words) => {
    expect(hasFailedCharge(ledgerOf(...words))).toBe(held);
  });
});

describe("the refunds of a canceled order", () => {
  it("are each charge that succeeded and has no refund, completely, at its gateway", () => {
    const goods = entry("goods 2 succeeded", "a");
    const shipping = entry("shipping 1 succeeded", "b");
    const refunds = refundsOwed([entry("goods 1 failed"), goods, shipping, entry("refund 1 failed a")], NOW);
    expect(refunds).toEqual([
      {
        kind: "refund",
        attempt: 1,
        refundOf: "b",
        refundId: null,
        amountMinor: 1_000n,
        dueAt: NOW,
        gateway: "stripe",
      },
    ]);
  });

  it("are not a charge that did not succeed, nor a refund of a refund", () => {
    expect(refundsOwed(ledgerOf("goods 1 canceled", "shipping 1 failed", "goods 2 pending"), NOW)).toEqual(
      [],
    );
    expect(refundsOwed([entry("goods 1 succeeded", "a"), entry("refund 1 succeeded a")], NOW)).toEqual([]);
  });
});

describe("what can still be refunded", () => {
  const charges = [entry("goods 1 succeeded", "a"), entry("shipping 1 succeeded", "b")];
  const refund = (words: string, amountMinor: bigint) => ({ ...entry(words), amountMinor });

  it.each<[bigint, string, ReturnType<typeof entry>[]]>([
    [2_000n, "all", []],
    [1_700n, "without pending refunds", [refund("refund 1 pending a r", 300n)]],
    [1_700n, "without made ones", [refund("refund 1 succeeded a r", 300n)]],
    [1_700n, "without declined ones, which are still owed", [refund("refund 1 failed a r", 300n)]],
    [2_000n, "with those that were never sent", [refund("refund 1 canceled a r", 300n)]],
    [1_700n, "counting the attempts of a refund once", [refund("refund 1 failed a r", 300n), refund("refund 2 pending a r", 300n)]], // biome-ignore format: one line reads as one ledger.
    [1_400n, "counting each refund", [refund("refund 1 failed a r", 300n), refund("refund 1 pending a s", 300n)]], // biome-ignore format: one line reads as one ledger.
    [0n, "nothing after a cancel", [entry("refund 1 pending a"), entry("refund 1 failed b")]],
  ])("is %s: %s", (leftMinor, _, refunds) => {
    expect(refundableMinor([...charges, ...refunds])).toBe(leftMinor);
  });

  it("does not include charges without success", () => {
    expect(refundableMinor(ledgerOf("goods 1 pending", "shipping 1 failed", "shipping 2 canceled"))).toBe(0n);
  });

  it("is returned from the oldest charge first, at its gateway", () => {
    const ledger = [...charges, refund("refund 1 succeeded a r", 300n)];
    const parts = (amountMinor: bigint) =>
      refundsFor(ledger, { id: "s", amountMinor }, NOW).map((part) => [part.refundOf, part.amountMinor]);
    expect(parts(1n)).toEqual([["a", 1n]]);
    expect(parts(700n)).toEqual([["a", 700n]]);
    expect(parts(701n)).toEqual([["a", 700n], ["b", 1n]]); // biome-ignore format: one line reads as one refund.
    expect(() => parts(1_701n)).toThrow("More would be refunded");
    const [part] = refundsFor(ledger, { id: "s", amountMinor: 1n }, NOW);
    expect(part).toMatchObject({ kind: "refund", attempt: 1, refundId: "s", dueAt: NOW, gateway: "stripe" });
  });

  it("is what a canceled order gets", () => {
    const owed = refundsOwed([...charges, refund("refund 1 pending a r", 300n)], NOW);
    expect(owed).toMatchObject([{ refundOf: "a", amountMinor: 700n, refundId: null }, { refundOf: "b", amountMinor: 1_000n }]); // biome-ignore format: one line reads as one ledger.
  });
});

describe("to pay again", () => {
  it.each<[string, boolean, string[], number, number]>([
    ["nothing has failed", false, ["goods 1 pending"], 0, 0],
    ["it is paid", false, ["goods 1 failed", "goods 2 succeeded"], 0, 0],
    ["an attempt waits", false, ["goods 1 failed", "goods 2 pending"], 1, 0],
    ["none waits", false, ["goods 1 failed", "goods 2 failed"], 0, 1],
    ["goods and shipping", false, ["goods 1 failed", "shipping 1 failed", "shipping 2 pending"], 1, 1],
    ["canceled: charges are owed no more", true, ["goods 1 failed", "goods 2 canceled"], 0, 0],
    ["canceled: also a charge that was declined just before", true, ["goods 1 failed"], 0, 0],
    ["canceled: refunds are", true, ["goods 1 succeeded", "refund 1 failed a"], 0, 1],
    ["not canceled: refunds by request are", false, ["goods 1 succeeded", "refund 1 failed a r"], 0, 1],
    ["each refund of a charge is its own", false, ["refund 1 failed a r", "refund 2 pending a r", "refund 1 failed a s"], 1, 1], // biome-ignore format: one line reads as one ledger.
  ])("when %s", (_, canceled, words, forward, added) => {
    const retries = retriesOf(ledgerOf(...words), canceled, NOW);
    expect(retries.bringForward).toHaveLength(forward);
    expect(retries.add).toHaveLength(added);
    for (const { dueAt } of retries.add) expect(dueAt).toEqual(NOW);
  });

  it("has the next number and the same amount; a charge can use another gateway, a refund cannot", () => {
    const goods = retriesOf(ledgerOf("goods 1 failed", "goods 2 failed"), false, NOW).add;
    expect(goods).toMatchObject([{ kind: "goods", attempt: 3, amountMinor: 1_000n, gateway: null }]);
    const refund = retriesOf([entry("goods 1 succeeded", "a"), entry("refund 1 failed a")], true, NOW).add;
    expect(refund).toMatchObject([{ kind: "refund", attempt: 2, refundOf: "a", gateway: "stripe" }]);
  });
});

describe("the canceled attempt that waives a declined charge", () => {
  it.each<[string, string[], [string, number][]]>([
    ["nothing that was not declined", ["goods 1 pending", "shipping 1 succeeded"], []],
    ["a charge whose last attempt was declined", ["goods 1 failed", "goods 2 failed"], [["goods", 3]]],
    ["each of them", ["goods 1 failed", "shipping 4 failed"], [["goods", 2], ["shipping", 5]]], // biome-ignore format: one line reads as one ledger.
    ["nothing that is waived already", ["goods 1 failed", "goods 2 canceled"], []],
    ["nothing that is paid", ["goods 1 failed", "goods 2 succeeded"], []],
    ["no refund", ["goods 1 succeeded", "refund 1 failed entry-1"], []],
  ])("is a further attempt: for %s", (_, words, added) => {
    const entries = waivers(ledgerOf(...words), NOW);
    expect(entries.map(({ kind, attempt }) => [kind, attempt])).toEqual(added);
    for (const each of entries)
      expect(each).toMatchObject({ refundOf: null, amountMinor: 1_000n, dueAt: NOW, gateway: null });
  });
});

describe("the newest attempt", () => {
  const charge = ["goods 1 failed", "goods 2 failed", "goods 3 pending"];

  it("counts, in whatever order the entries are read", () => {
    for (const words of [charge, charge.toReversed(), [charge[1], charge[2], charge[0]] as string[]]) {
      expect(failedCharges(ledgerOf(...words))).toMatchObject([{ attempt: 3, status: "pending" }]);
      expect(retriesOf(ledgerOf(...words), false, NOW).bringForward).toMatchObject([{ attempt: 3 }]);
    }
  });

  it("is one of the same charge, or of the refund of the same charge", () => {
    const asked = { canceled: true, payable: true, waitsMs: [], now: NOW };
    const refund = entry("refund 1 failed a");
    const ofOther = entry("refund 2 failed b");
    expect(attemptAfter(refund, [refund, ofOther], asked)).toMatchObject({ refundOf: "a", attempt: 2 });
    const goods = entry("goods 1 failed");
    const shipping = entry("shipping 2 failed");
    const open = { ...asked, canceled: false };
    expect(attemptAfter(goods, [goods, shipping], open)).toMatchObject({ kind: "goods", attempt: 2 });
    expect(attemptAfter(shipping, [goods, shipping], open)).toMatchObject({ kind: "shipping", attempt: 3 });
    expect(attemptAfter(goods, [goods, entry("goods 2 failed")], open)).toBeNull();
    expect(attemptAfter(refund, [refund, entry("refund 2 failed a")], asked)).toBeNull();
    expect(attemptAfter(goods, [goods, entry("refund 2 failed a")], open)).not.toBeNull();
    expect(attemptAfter(refund, [refund, entry("refund 2 failed a r")], asked)).not.toBeNull();
  });
});

describe("the schedule", () => {
  const waitsMs = [1_000, 60_000];
  const open = { canceled: false, payable: false, waitsMs };
  it.each<[string, boolean, number | null]>([
    ["goods 1 failed", false, 1_000],
    ["goods 1 failed", true, null],
    ["refund 1 failed a", true, 1_000],
  ])("after %s of an order (canceled: %s) waits %s ms", (words, canceled, waitMs) => {
    const declined = entry(words);
    const next = attemptAfter(declined, [declined], { ...open, canceled, now: NOW });
    expect(next === null ? null : next.dueAt.getTime() - NOW.getTime()).toBe(waitMs);
  });

  it("counts the attempts in turn at the same charge, and at the same refund", () => {
    const later = (ms: number) => new Date(NOW.getTime() + ms);
    for (const [first, second, other] of [
      ["goods 1 failed", "goods 2 failed", "shipping 1 failed"],
      ["refund 1 failed a s", "refund 2 failed a s", "refund 1 succeeded a r"],
    ] as const) {
      const declined = entry(second);
      const entries = [declined, entry(other), entry(first)];
      expect(attemptAfter(declined, entries, { ...open, now: later(999) })?.dueAt).toEqual(later(1_000));
      expect(attemptAfter(declined, entries, { ...open, now: later(1_000) })?.dueAt).toEqual(later(61_000));
    }
  });

  it("is left for an attempt at once, also after the last, when the charge can be paid by now", () => {
    const declined = entry("goods 9 failed");
    const asked = { canceled: false, payable: true, waitsMs, now: NOW };
    expect(attemptAfter(declined, [declined], asked)).toMatchObject({ attempt: 10, dueAt: NOW });
    expect(attemptAfter(declined, [declined], { ...asked, canceled: true })).toBeNull();
  });

  it("ends where a charge was waived during a request to the gateway", () => {
    const [declined, waived] = [entry("goods 2 failed"), entry("goods 3 canceled")];
    const asked = { canceled: false, payable: true, waitsMs, now: NOW };
    expect(attemptAfter(declined, [declined, waived], asked)).toBeNull();
  });
});

describe("the price of the shipping so far", () => {
  const priced = (...parts: [string, bigint][]) =>
    shippingChargedMinor(parts.map(([words, amountMinor]) => ({ ...entry(words), amountMinor })));

  it.each<[bigint | null, [string, bigint][]]>([
    [0n, []],
    [0n, [["goods 1 succeeded", 900n]]],
    [500n, [["shipping 1 succeeded", 500n]]],
    [
      500n,
      [
        ["shipping 1 failed", 500n],
        ["shipping 2 succeeded", 500n],
      ],
    ],
    [
      800n,
      [
        ["shipping 1 succeeded", 500n],
        ["shipping 2 succeeded", 300n],
      ],
    ],
    [
      500n,
      [
        ["shipping 1 failed", 500n],
        ["shipping 2 canceled", 500n],
      ],
    ], // Waived.
    [0n, [["shipping 1 canceled", 500n]]],
    [null, [["shipping 1 pending", 500n]]],
    [
      null,
      [
        ["shipping 1 succeeded", 500n],
        ["shipping 2 pending", 300n],
      ],
    ],
    [
      500n,
      [
        ["shipping 1 succeeded", 500n],
        ["goods 1 pending", 300n],
      ],
    ],
  ])("is %s", (price, parts) => {
    expect(priced(...parts)).toBe(price);
  });
});

describe("a further charge for shipping", () => {
  it("has a schedule of its own", () => {
    const [paid, first] = [entry("shipping 1 succeeded"), entry("shipping 2 failed")];
    const asked = { canceled: false, payable: false, waitsMs: [0, 60_000], now: NOW };
    expect(attemptAfter(first, [paid, first], asked)).toMatchObject({ attempt: 3, dueAt: NOW });
    const second = entry("shipping 3 failed");
    expect(attemptAfter(second, [paid, first, second], asked)).toMatchObject({
      dueAt: new Date(NOW.getTime() + 60_000),
    });
    const last = entry("shipping 4 failed");
    const now = new Date(NOW.getTime() + 60_000);
    const entries = [paid, first, second, { ...last, createdAt: NOW }];
    expect(attemptAfter(last, entries, { ...asked, now })).toBeNull();
  });
});
