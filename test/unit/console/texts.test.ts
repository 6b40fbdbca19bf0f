import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { de } from "../../../web/src/text/texts.de.ts";
import { en } from "../../../web/src/text/texts.en.ts";

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

  it("are all used: by their keys, or by a key that a page completes", () => {
    const pages = globSync("web/src/**/*.{ts,tsx}").filter((file) => !/\.(en|de)\.ts$/.test(file));
    const source = pages.map((file) => readFileSync(file, "utf8")).join("\n");
    const named = new Set([...source.matchAll(/["'`]([\w-]+(?:\.[\w-]+)+)["'`]/g)].map(([, key]) => key));
    const begun = [...source.matchAll(/`([\w.-]+\.)\$\{/g)].map(([, start = ""]) => start);
    const unused = [...english.keys()]
      .map((key) => key.replace(/_(one|other)$/, ""))
      .filter((key) => !named.has(key) && !begun.some((start) => key.startsWith(start)));
    expect(unused).toEqual([]);
  });
});
