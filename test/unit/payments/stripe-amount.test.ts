import { describe, expect, it } from "vitest";
import { toStripeAmount } from "../../../src/payments/stripe/stripe-gateway.ts";

describe("an amount at Stripe", () => {
  it.each([
    [1_250n, "EUR", 1_250],
    [500n, "JPY", 500],
    [500n, "ISK", 50_000],
    [500n, "UGX", 50_000],
    [1_230n, "KWD", 1_230],
    [1_234n, "KWD", null],
    [1_230n, "LYD", 123],
    [1_234n, "LYD", null],
    [1_200n, "MGA", 12],
    [1_250n, "MGA", null],
    [1_250n, "HUF", 1_250],
    [0n, "EUR", 0],
    [2n ** 53n - 1n, "EUR", Number.MAX_SAFE_INTEGER],
    [2n ** 53n, "EUR", null],
    [2n ** 60n, "EUR", null],
  ])("of %s minor units of %s is %s", (minor, currency, amount) => {
    expect(toStripeAmount(minor, currency)).toBe(amount);
  });

  it.each<[string, string, bigint, number]>([
    ["whole units", "BIF CLP DJF GNF JPY KMF KRW PYG RWF VND VUV XAF XOF XPF", 7n, 7],
    ["hundredths", "ISK UGX", 7n, 700],
    ["thousandths", "BHD JOD KWD OMR TND", 70n, 70],
    ["hundredths of three decimals", "IQD LYD", 70n, 7],
    ["hundredths", "EUR USD GBP CHF HUF TWD", 7n, 7],
  ])("counts %s of %s", (_, currencies, minor, amount) => {
    for (const currency of currencies.split(" "))
      expect(toStripeAmount(minor, currency), currency).toBe(amount);
  });
});
