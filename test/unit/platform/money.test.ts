import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatMoney,
  fractionDigits,
  isAmount,
  isCurrency,
  parseMoney,
} from "../../../src/platform/money.ts";

const minorOf = (amount: string, currency: string) => parseMoney({ amount, currency })?.minor ?? null;
const shown = (minor: bigint, currency: string) => formatMoney({ minor, currency }).amount;

/** The currencies that do not have two decimals. */
const WITHOUT_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF".split(" ");
const WITH_THREE = "BHD IQD JOD KWD LYD OMR TND".split(" ");
const digitsOf = (currency: string) =>
  WITHOUT_DECIMALS.includes(currency) ? 0 : WITH_THREE.includes(currency) ? 3 : 2;
const CURRENCIES = Intl.supportedValuesOf("currency").filter(isCurrency);

describe("currencies", () => {
  it("are also those of Node", () => {
    expect(CURRENCIES.length).toBeGreaterThan(150);
  });

  it("have the decimals of ISO 4217, also where Node's data differ", () => {
    for (const currency of [...CURRENCIES, ...WITHOUT_DECIMALS, ...WITH_THREE])
      expect(`${currency} ${fractionDigits(currency)}`).toBe(`${currency} ${digitsOf(currency)}`);
    for (const currency of ["EUR", "USD", "HUF", "IDR", "COP", "ALL", "MGA", "ZWL"])
      expect(fractionDigits(currency)).toBe(2);
  });

  it.each(["", "EURO", "eur", "EU", "XXQ", "EUR ", "\n", "toString", null, 978, ["EUR"]])(
    "do not include %j",
    (value) => {
      expect(isCurrency(value)).toBe(false);
    },
  );

  it("that are not known are an error", () => {
    expect(() => fractionDigits("XXQ")).toThrow(new RangeError("XXQ is not a known currency."));
  });
});

describe("an amount on the wire", () => {
  it.each(["0", "1", "12.5", "12.50", "007", "999999999999999", "0.123456", "123456789012345.123456"])(
    "is %s",
    (text) => {
      expect(isAmount(text)).toBe(true);
    },
  );

  it.each([
    "",
    ".5",
    "5.",
    "-1",
    "+1",
    "1e3",
    "1,50",
    "1 000",
    " 1",
    "1 ",
    "1\n",
    "a1",
    "1.2.3",
    "1.1234567",
    "1234567890123456",
    "٣",
    "Infinity",
  ])("is not %j", (text) => {
    expect(isAmount(text)).toBe(false);
    expect(minorOf(text, "EUR")).toBeNull();
  });
});

describe("parseMoney", () => {
  it.each<[string, string, bigint | null]>([
    ["12.50", "EUR", 1_250n],
    ["12.5", "EUR", 1_250n],
    ["12", "EUR", 1_200n],
    ["0", "EUR", 0n],
    ["0.01", "EUR", 1n],
    ["00012.50", "EUR", 1_250n],
    ["12.345", "EUR", null],
    ["12.340", "EUR", null], // Also when the decimal that it does not have is a zero.
    ["12", "JPY", 12n],
    ["12.0", "JPY", null],
    ["1.005", "KWD", 1_005n],
    ["1.5", "KWD", 1_500n],
    ["1.0005", "KWD", null],
  ])("reads %s %s as %s minor units", (amount, currency, minor) => {
    expect(minorOf(amount, currency)).toBe(minor);
  });

  it("keeps the currency", () => {
    expect(parseMoney({ amount: "1.00", currency: "CHF" })).toEqual({ minor: 100n, currency: "CHF" });
  });

  it.each<[string, string, string, string]>([
    ["EUR", "999999999.99", "1000000000.00", "1000000000.01"],
    ["JPY", "99999999999", "100000000000", "100000000001"],
    ["KWD", "99999999.999", "100000000.000", "100000000.001"],
  ])("accepts up to 10^11 minor units of %s", (currency, below, at, above) => {
    expect(minorOf(below, currency)).toBe(99_999_999_999n);
    expect(minorOf(at, currency)).toBe(100_000_000_000n);
    expect(minorOf(above, currency)).toBeNull();
    expect(minorOf("999999999999999", currency)).toBeNull();
  });

  it("keeps the largest order within a 64-bit integer: the highest price, 100 000 units, 100 lines", () => {
    const price = minorOf("1000000000.00", "EUR") ?? 0n;
    expect(price * 100_000n * 100n).toBeLessThan(2n ** 63n);
  });
});

describe("formatMoney", () => {
  it.each<[bigint, string, string]>([
    [0n, "EUR", "0.00"],
    [1n, "EUR", "0.01"],
    [10n, "EUR", "0.10"],
    [99n, "EUR", "0.99"],
    [100n, "EUR", "1.00"],
    [1_250n, "EUR", "12.50"],
    [-1n, "EUR", "-0.01"],
    [-1_250n, "EUR", "-12.50"],
    [0n, "JPY", "0"],
    [5n, "JPY", "5"],
    [-500n, "JPY", "-500"],
    [0n, "KWD", "0.000"],
    [1_005n, "KWD", "1.005"],
    [-5n, "KWD", "-0.005"],
    [2n ** 63n, "EUR", "92233720368547758.08"], // More than a JSON number can hold exactly.
  ])("shows %s minor units of %s as %s", (minor, currency, amount) => {
    expect(formatMoney({ minor, currency })).toEqual({ amount, currency });
  });

  it("has the decimals of each currency, and parses as the same amount", () => {
    for (const currency of CURRENCIES) {
      const digits = digitsOf(currency);
      expect(shown(1_234n, currency)).toBe(["1234", "123.4", "12.34", "1.234"][digits]);
      fc.assert(
        fc.property(fc.bigInt(0n, 100_000_000_000n), (minor) => {
          expect(minorOf(shown(minor, currency), currency)).toBe(minor);
          expect(shown(-minor - 1n, currency)).toBe(`-${shown(minor + 1n, currency)}`);
        }),
        { numRuns: 5 },
      );
    }
  });
});
