import { describe, expect, it } from "vitest";
import {
  damageInColumn,
  damageOf,
  damageOfStored,
  hasWrongCheckDigit,
  possibleDamageOf,
  spellingsOf,
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
    ["\u200fA1", "invisible"],
    ["A\n1", "invisible"],
    ["10-DEC-26", "date"],
    ["10-d\u00e9c", "date"],
    ["set-26", "date"],
    ["Mar 1", "date"],
    ["2026/03/01", "date"],
    ["12:30:00", "date"],
    ["TRUE", "boolean"],
    ["WAHR", "boolean"],
    ["NaN", "error_value"],
    ["None", "error_value"],
    ["M\u00c3\u0152-1", "letters"],
    ["'00123", "quotes"],
    ["\u201cA1\u201d", "quotes"],
    ['"A1"', "quotes"],
  ])("%j is %s", (text, damage) => {
    expect(damageOf(text)).toBe(damage);
  });

  it.each([
    ..."1E5 MAR1 MAR-A 12-10 10-12-A DEC10 00123 4006381333931 #12 A#REF! SEPT-RED 1.2 1.2.3 1E+5X +1 @x".split(
      " ",
    ),
    ...["01-03-26", "12.0", "2.0", "1234.5", "12.Oktan", "##", "#1", "A?", "WHY?", "01-03-1826"],
    ...[
      "SET-10",
      "SET 2",
      "MAR-10",
      "Set-10",
      "True",
      "NONE",
      "12:30",
      "'quoted",
      "L'eau",
      '5"',
      "\u042d\u0442\u043e-1",
    ],
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
    ["A\u20131", "look_alike"],
    ["A\u04101", "look_alike"],
  ])("%j may be %s, and may be meant so", (text, damage) => {
    expect([damageOf(text), possibleDamageOf(text)]).toEqual([null, damage]);
  });

  it.each([
    "00-03-26",
    "41-03-26",
    "A-01-03-26",
    "12-10",
    "12.5",
    "1234567890123450",
    "-2.0",
    "A",
    "\u0422\u041e\u0420\u0422-1",
  ])("%j is not even doubtful", (text) => {
    expect(possibleDamageOf(text)).toBeNull();
  });

  it.each([
    ["123", "00123", "zeros"],
    ["A\u20131", "A-1", "look_alike"],
    ["A\u20111", "A-1", "look_alike"],
    ["\u0410-1", "A-1", "look_alike"],
    ["\u0391-1", "A-1", "look_alike"],
    ["\uff21\uff0d\uff11", "A-1", "look_alike"],
    ["E\u0301-1", "\u00c9-1", "look_alike"],
    ["L\u2019eau", "L'eau", "look_alike"],
    ["A-1\u00a0", "A-1", "invisible"],
    ["A-1 ", "A-1", "invisible"],
    ["A\u200b-1", "A-1", "invisible"],
    ["'00123", "00123", "quotes"],
  ])("%j was %s before it was %s", (text, stored, damage) => {
    expect(spellingsOf(text)).toContain(stored);
    expect(damageOfStored(text, stored)).toBe(damage);
  });

  it("is another one where nothing is the same", () => {
    for (const [text, stored] of [
      ...[
        ["123", "123"],
        ["123", "00124"],
        ["A", "0A"],
        ["0123", "00123"],
        ["a-1", "A-1"],
        ["", "0"],
      ],
    ] as [string, string][])
      expect(damageOfStored(text, stored), text).toBeNull();
    expect([spellingsOf("0123"), spellingsOf("A1"), spellingsOf("")]).toEqual([[], [], []]);
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

  it.each([
    ["36000291452", "zeros"],
    ["36000291453", null],
    ["036000291452", null],
    ["4 006381 333931", "groups"],
    ["4.006.381.333.931", "groups"],
    ["4006-3813-33931", "groups"],
    ["4 006381 333932", null],
    ["12-34", null],
    ["4.00638E+12", "exponent"],
  ])("%s is damaged: %s", (barcode, damage) => {
    expect(damageInColumn("barcode", barcode)).toBe(damage);
  });
});
