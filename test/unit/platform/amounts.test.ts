import { expect, it } from "vitest";
import { amountOfCell, wholeNumberOfCell } from "../../../src/platform/tables/amounts.ts";

const read = (cell: string, currency = "EUR", hasDecimalComma = false) =>
  amountOfCell(cell, currency, hasDecimalComma)?.text ?? null;

it.each([
  ["12", "12"],
  ["12.50", "12.50"],
  ["12,50", "12.50"],
  ["12,5", "12.5"],
  ["1.234,50", "1234.50"],
  ["1,234.50", "1234.50"],
  ["1.234.567", "1234567"],
  ["1,234,567", "1234567"],
  ["1.234.567,8", "1234567.8"],
  ["1 234,50", "1234.50"],
  ["1\u00a0234\u202f567.5", "1234567.5"],
  ["1'234.50", "1234.50"],
  ["1\u2019234", "1234"],
  ["1\u00b4234.50", "1234.50"],
  ["1,23,456.00", "123456.00"],
  ["12,-", "12.0"],
  ["1.234,--", "1234.0"],
  ["12.\u2013 \u20ac", "12.0"],
  ["12,50 \u20ac", "12.50"],
  ["\u20ac 12.50", "12.50"],
  ["\u20ac1.234,50", "1234.50"],
  ["EUR 12.50", "12.50"],
  ["12,50\u00a0eur", "12.50"],
])("%s is %s EUR", (cell, amount) => {
  expect(read(cell)).toBe(amount);
});

it.each([
  ...["1,250", "1,2345.00", "1.23,456,7", "12,34,567", "1 23", "12 50", "1,234.567,8", "1.234,5,6", "1..5"],
  ...["$ 12.50", "USD 12.50", "12.50 GBP", "\u20ac", "EUR", "", "-1,50", "(1,50)", "12,", ",50", "1e5", "a"],
  ...["\u20ac 12 \u20ac", "12.50 / 13.50", "-", ",-", "12-", "1.234,50.", "EUREKA 1"],
])("%j is no amount in EUR, or has two meanings", (cell) => {
  expect(read(cell)).toBeNull();
  expect(read(cell, "EUR", true)).toBeNull();
});

it("a point before three digits is the decimal point of the API, and is never a thousand", () => {
  for (const currency of ["KWD", "EUR", "JPY"]) expect(read("1.250", currency, true)).toBe("1.250");
  expect(read("KWD 1.250", "KWD")).toBe("1.250");
  expect(read("1,234.500", "KWD")).toBe("1234.500");
});

it("a comma before three digits is decimal in a file with decimal commas, of a currency with three decimals", () => {
  expect([read("1,250", "KWD", true), read("1,250", "KWD"), read("1,250", "JPY", true)]).toEqual([
    ...["1.250", null, null],
  ]);
});

it("the sign of a currency belongs to the merchant's one", () => {
  expect([read("$5", "USD"), read("$5", "CAD"), read("5 z\u0142", "PLN"), read("kr 5", "SEK")]).toEqual([
    ...["5", "5", "5", "5"],
  ]);
  expect([read("\u00a35", "USD"), read("$5", "GBP")]).toEqual([null, null]);
});

it.each([
  ["5", 5],
  [" 5 ", 5],
  ["5.0", 5],
  ["5,00", 5],
  ["1 250", 1250],
  ["1'250", 1250],
  ["1.250,00", 1250],
  ["1.250.000", 1_250_000],
  ["+5", 5],
  ["-5", -5],
  ["\u22125", -5],
])("%j is the whole number %d", (cell, number) => {
  expect(wholeNumberOfCell(cell)).toBe(number);
});

it.each(["1.250", "1,250", "1.000", "5.5", "5,5", "1e3", "5 pcs", "", "-", "(5)", "1".repeat(16)])(
  "%j is no whole number, or has two meanings",
  (cell) => {
    expect(wholeNumberOfCell(cell)).toBeNull();
  },
);
