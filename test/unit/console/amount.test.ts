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
  ])("%j is sent as %j", (typed, sent) => expect(typedAmount(typed, "en-GB")).toBe(sent));

  it.each([
    ["1,234.50", "en-US", "1234.50"],
    ["1,234,567", "en-US", "1234567"],
    ["12,345,678.9", "en-GB", "12345678.9"],
    ["1.234,50", "de-DE", "1234.50"],
    ["1.234.567", "de-DE", "1234567"],
    ["1 234,50", "fr-FR", "1234.50"],
    ["1\u202f234,50", "fr-FR", "1234.50"],
    ["1 234", "fr-FR", "1234"],
    ["1'234.50", "de-CH", "1234.50"],
    ["12,34,567.50", "en-IN", "1234567.50"],
    ["1.234,50", "es-ES", "1234.50"],
  ])("%j with the groups of %s is sent as %j", (typed, locale, sent) =>
    expect(typedAmount(typed, locale)).toBe(sent),
  );

  it.each([
    // It may be 1.234 as well.
    ["1,234", "en-US"],
    ["1.234", "de-DE"],
    // Groups of another locale.
    ["1.234,50", "en-US"],
    ["1,234.50", "de-DE"],
    ["12,34,567.50", "en-US"],
    // No groups of three.
    ["1,23.50", "en-US"],
    ["12345,678.50", "en-US"],
    ["0,123.50", "en-US"],
    ["1,234.", "en-US"],
    ["1,234.5.6", "en-US"],
    ["1,234.50 EUR", "en-US"],
    ["1,,234.50", "en-US"],
    ["-1,234.50", "en-US"],
  ])("%j is left to the service in %s", (typed, locale) => expect(typedAmount(typed, locale)).toBe(typed));
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
    expect(typedAmount(shown, locale)).toBe(amount);
  });
});
