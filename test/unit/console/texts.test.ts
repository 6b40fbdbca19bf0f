import { describe, expect, it } from "vitest";
import { de } from "../../../web/src/text/de/index.ts";
import { en } from "../../../web/src/text/en/index.ts";

/** All texts by their keys: `orders.title`. */
const textsOf = (texts: object, above = ""): Map<string, string> =>
  new Map(
    Object.entries(texts).flatMap(([key, value]) =>
      typeof value === "string"
        ? [[`${above}${key}`, value] as const]
        : [...textsOf(value, `${above}${key}.`)],
    ),
  );
const placeholders = (text: string): string[] =>
  [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = ""]) => name).sort();

describe("the texts of the console", () => {
  const english = textsOf(en);
  const german = textsOf(de);

  it("have the same keys in both languages", () =>
    expect([...german.keys()].sort()).toEqual([...english.keys()].sort()));

  it("have the same values to fill in, and none is empty", () => {
    for (const [key, text] of english) {
      expect(text.trim(), key).not.toBe("");
      expect(placeholders(german.get(key) ?? ""), key).toEqual(placeholders(text));
      expect(german.get(key)?.trim(), key).not.toBe("");
    }
  });
});
