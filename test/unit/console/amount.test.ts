import { describe, expect, it, vi } from "vitest";
import { fractionDigits, isCurrency } from "../../../src/platform/money.ts";
import { decimalsOf, fieldAmount, typedAmount } from "../../../web/src/text/amount.ts";
import { formatMoney, setFormatLanguage, shortPeriod } from "../../../web/src/text/format.ts";

describe("an amount that a person types", () => {
  it.each([
    ["12.50", "12.50"],
    [" 12,50 ", "12.50"],
    ["7,9", "7.9"],
    ["3", "3"],
    ["1,250", "1,250"],
    ["1.250,00", "1.250,00"],
    ["", ""],
  ])("%j is sent as %j", (typed, sent) => expect(typedAmount(typed, "en-GB", "EUR")).toBe(sent));

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
    expect(typedAmount(typed, locale, "EUR")).toBe(sent),
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
  ])("%j is left to the service in %s", (typed, locale) =>
    expect(typedAmount(typed, locale, "EUR")).toBe(typed),
  );
});

describe("an amount of a currency with other decimals", () => {
  it.each([
    ["12,500", "de-DE", "KWD", "12.500"],
    ["12,500", "en-US", "KWD", "12,500"],
    ["1.234,500", "de-DE", "KWD", "1234.500"],
    ["1,234", "en-US", "JPY", "1234"],
    ["1.234", "de-DE", "JPY", "1234"],
    ["1.234", "de-DE", "HUF", "1.234"],
  ])("%j in %s and %s is sent as %j", (typed, locale, currency, sent) =>
    expect(typedAmount(typed, locale, currency)).toBe(sent),
  );

  it("is read back from its field", () => {
    expect(fieldAmount("12.500", "de-DE", "KWD")).toBe("12,500");
    expect(fieldAmount("1200", "de-DE", "JPY")).toBe("1200");
  });

  it("has the decimals of the service", () => {
    for (const currency of Intl.supportedValuesOf("currency").filter(isCurrency))
      expect(decimalsOf(currency), currency).toBe(fractionDigits(currency));
  });
});

describe("an amount that is shown", () => {
  it.each([
    ["1234.50", "HUF", "HUF 1,234.50"],
    ["1200", "JPY", "¥1,200"],
    ["1.500", "KWD", "KWD 1.500"],
    ["-39779.21", "EUR", "−€39,779.21"],
    ["90071992547409.93", "EUR", "€90,071,992,547,409.93"],
  ])("%s %s is %s: with its decimals, and a true minus", (amount, currency, shown) => {
    setFormatLanguage("en");
    vi.stubGlobal("navigator", { languages: ["en-US"] });
    expect(formatMoney({ amount, currency }).replace(/\s/g, " ")).toBe(shown);
  });

  it("of a period names each day once", () => {
    setFormatLanguage("en");
    vi.stubGlobal("navigator", { languages: ["en-US"] });
    const period = (from: Date, to: Date) => shortPeriod(from, to).replace(/\s/g, " ");
    expect(period(new Date(2026, 10, 1), new Date(2026, 11, 1))).toBe("Nov 1 – 30, 2026");
    expect(period(new Date(2026, 10, 1), new Date(2026, 10, 1, 12, 30))).toMatch(/12:30/);
  });
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
    expect(fieldAmount(amount, locale, "EUR")).toBe(shown);
    expect(typedAmount(shown, locale, "EUR")).toBe(amount);
  });
});
