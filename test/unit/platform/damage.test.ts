import { describe, expect, it } from "vitest";
import {
  damageOf,
  hasLostZeros,
  hasWrongCheckDigit,
  isGtinWithoutZeros,
  possibleDamageOf,
  withZeros,
} from "../../../src/platform/tables/damage.ts";

describe("an identifier that a spreadsheet has damaged", () => {
  it.each([
    ["4.00638E+12", "exponent"],
    ["4,00638E+12", "exponent"],
    ["1.00E+05", "exponent"],
    ["1E+05", "exponent"],
    ["4.00638133393e+19", "exponent"],
    ["10-Dec", "date"],
    ["1-Mar", "date"],
    ["Mar-01", "date"],
    ["Dez 10", "date"],
    ["10. Dez", "date"],
    ["01. M\u00e4r", "date"],
    ["1-Mrz-26", "date"],
    ["10.12.2026", "date"],
    ["12/10/26", "date"],
    ["2026-12-10T00:00:00.000Z", "date"],
    ["#N/A", "error_value"],
    ["#NV", "error_value"],
    ["#REF!", "error_value"],
    ["#WERT!", "error_value"],
    ["#DIV/0!", "error_value"],
    ["#NAME?", "error_value"],
    ["12.Okt", "date"],
    ["12.Okt.26", "date"],
    ["Oct-12", "date"],
    ["1/3/2026", "date"],
    ["01-03-2026", "date"],
    ["#####", "error_value"],
    ["Err:502", "error_value"],
    ["M\ufffdLLER-1", "letters"],
    ["M??LLER-1", "letters"],
    ["123.0", "decimals"],
    ["4006381333931.00", "decimals"],
    ["123,0", "decimals"],
    ["123456789012345000", "rounded"],
    ["94001112010808000000", "rounded"],
    ["A\u200b1", "invisible"],
    ["A\u00a01", "invisible"],
    ["A\u00ad1", "invisible"],
    ["\ufeffA1", "invisible"],
  ])("%j is %s", (text, damage) => {
    expect(damageOf(text)).toBe(damage);
  });

  it.each([
    ..."1E5 MAR1 MAR-A 12-10 10-12-A DEC10 00123 4006381333931 #12 A#REF! SEPT-RED 1.2 1.2.3 1E+5X +1 @x".split(
      " ",
    ),
    ...["01-03-26", "12.0", "2.0", "1234.5", "12.Oktan", "##", "#1", "A?", "WHY?", "01-03-1826"],
    ...["1234567890123450", "12345678901234500", "ABC456789012345000", "123456789012345600"],
    "10 Decor",
    "May contain nuts",
    "M\u00fcsli",
    "\u8336",
  ])("%j is none", (text) => {
    expect(damageOf(text)).toBeNull();
  });

  it.each([
    ["01-03-26", "date"],
    ["1-3-26", "date"],
    ["12.0", "decimals"],
    ["12345678901234500", "rounded"],
  ])("%j may be %s, and may be meant so", (text, damage) => {
    expect([damageOf(text), possibleDamageOf(text)]).toEqual([null, damage]);
  });

  it.each(["00-03-26", "41-03-26", "A-01-03-26", "12-10", "12.5", "1234567890123450", "-2.0", "A"])(
    "%j is not even doubtful",
    (text) => {
      expect(possibleDamageOf(text)).toBeNull();
    },
  );

  it("has lost its zeros if a number is left of what was stored", () => {
    expect(withZeros("123")).toContain("00123");
    expect(withZeros("123")).toHaveLength(11);
    expect([withZeros("0123"), withZeros("A1"), withZeros("")]).toEqual([[], [], []]);
    expect(hasLostZeros("123", "00123")).toBe(true);
    expect([hasLostZeros("123", "123"), hasLostZeros("123", "00124"), hasLostZeros("A", "0A")]).toEqual([
      ...[false, false, false],
    ]);
  });
});

describe("a barcode", () => {
  it.each([
    ["4006381333931", false],
    ["4006381333932", true],
    ["96385074", false],
    ["96385075", true],
    ["036000291452", false],
    ["036000291453", true],
    ["12345", false],
    ["ABC", false],
  ])("%s with a wrong check digit: %s", (barcode, isWrong) => {
    expect(hasWrongCheckDigit(barcode)).toBe(isWrong);
  });

  it("of eleven digits is a GTIN without its zero if its check digit fits", () => {
    expect(isGtinWithoutZeros("36000291452")).toBe(true);
    expect(isGtinWithoutZeros("36000291453")).toBe(false);
    expect(isGtinWithoutZeros("036000291452")).toBe(false);
  });
});
