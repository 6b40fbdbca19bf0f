import { describe, expect, it } from "vitest";
import { isShippingPending, refundableGoodsMinor } from "../../../src/ledger/ledger.ts";
import { ledgerOf } from "../../support/ledger-entries.ts";

describe("what can be refunded of the goods", () => {
  it.each<[bigint | null, string[]]>([
    [0n, ["shipping 1 succeeded"]],
    [1_000n, ["goods 1 succeeded", "shipping 1 succeeded"]],
    [1_000n, ["shipping 1 succeeded", "goods 1 failed", "goods 2 succeeded"]],
    [0n, ["goods 1 succeeded", "shipping 1 succeeded", "refund 1 failed entry-1"]],
    [1_000n, ["goods 1 succeeded", "shipping 1 succeeded", "refund 1 succeeded entry-2"]],
    [1_000n, ["goods 1 succeeded", "shipping 1 failed", "shipping 2 pending"]],
    [0n, ["goods 1 failed", "goods 2 canceled"]],
    [null, ["goods 1 pending"]],
    [null, ["goods 1 failed"]],
    [null, ["goods 1 failed", "goods 2 pending", "shipping 1 succeeded"]],
  ])("is %s with %j", (leftMinor, words) => {
    expect(refundableGoodsMinor(ledgerOf(...words))).toBe(leftMinor);
  });
});

describe("the price of the shipping can change", () => {
  it.each<[boolean, string[]]>([
    [true, []],
    [true, ["goods 1 pending", "shipping 1 succeeded"]],
    [false, ["goods 1 succeeded", "shipping 1 pending"]],
    [false, ["goods 1 failed", "goods 2 pending", "shipping 1 pending"]],
    [true, ["shipping 1 failed"]],
    [true, ["shipping 1 failed", "shipping 2 pending"]],
    [false, ["shipping 1 failed", "shipping 2 succeeded", "shipping 3 pending"]],
    [false, ["shipping 1 failed", "shipping 2 pending", "shipping 3 canceled"]], // Waived during the attempt.
  ])("%s with %j", (can, words) => {
    expect(isShippingPending(ledgerOf(...words))).toBe(!can);
  });
});
