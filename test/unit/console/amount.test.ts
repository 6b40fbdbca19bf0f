import { describe, expect, it } from "vitest";
import { fieldAmount, typedAmount } from "../../../web/src/text/amount.ts";

describe("an amount that a person types", () => {
  it.each([
    ["12.50", "12.50"],
    [" 12,50 ", "12.50"],
    ["7,9", "7.9"],
    ["3", "3"],
    ["1,250", "1,250"],
    ["1.250,00", "1.250,00"],
    ["", ""],
  ])("%j is sent as %j", (typed, sent) => expect(typedAmount(typed)).toBe(sent));
});

describe("an amount of the API in a field", () => {
  it.each([
    ["34.00", "en-GB", "34.00"],
    ["34.00", "de-DE", "34,00"],
    ["1250.5", "de-DE", "1250,5"],
    ["3", "de-DE", "3"],
    // With a comma, it could be 1250.
    ["1.250", "de-DE", "1.250"],
  ])("%j is for %s %j, and is sent as it was", (amount, locale, shown) => {
    expect(fieldAmount(amount, locale)).toBe(shown);
    expect(typedAmount(shown)).toBe(amount);
  });
});
