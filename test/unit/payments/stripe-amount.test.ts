import { describe, expect, it } from "vitest";
import { toStripeAmount } from "../../../src/payments/stripe/stripe-amount.ts";

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
    [2n ** 60n, "EUR", null],
  ])("of %s minor units of %s is %s", (minor, currency, amount) => {
    expect(toStripeAmount(minor, currency)).toBe(amount);
  });
});
