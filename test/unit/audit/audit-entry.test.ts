import { describe, expect, it } from "vitest";
import { boundedDetails, cutText } from "../../../src/audit/audit-sql.ts";

describe("the details of an audit entry", () => {
  it("are texts, and absent ones are left out", () => {
    const details = {
      text: "t",
      number: 1,
      money: 12n,
      none: null,
      absent: undefined,
      time: new Date(0),
      list: ["a", 1],
      object: { money: 1n },
    };
    expect(boundedDetails(details)).toEqual({
      text: "t",
      number: "1",
      money: "12",
      none: "null",
      time: "1970-01-01T00:00:00.000Z",
      list: "a, 1",
      object: '{"money":"1"}',
    });
  });

  it("are limited in number and length, whatever a caller sends", () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`field ${index}`, "x".repeat(10_000)]),
    );
    const bounded = boundedDetails(many);
    expect(Object.keys(bounded)).toHaveLength(20);
    for (const text of Object.values(bounded)) expect(text).toHaveLength(200);
    expect(cutText("x".repeat(200))).toHaveLength(200);
  });

  it("contain no half of a character", () => {
    const text = boundedDetails({ text: "😀".repeat(200) })["text"] ?? "";
    expect(text.isWellFormed()).toBe(true);
  });
});
