import { describe, expect, it } from "vitest";
import { typedAmount } from "../../../web/src/text/amount.ts";

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
