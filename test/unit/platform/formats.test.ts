import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OWN_FORMATS } from "../../../src/platform/wire/validation.ts";

const VALID: Readonly<Record<string, readonly string[]>> = {
  text: ["", "Ada", "line\nline", "😀"],
  "path-segment": ["web-1001", "...", ".a", "..a", "a.", "😀"],
  "web-address": ["https://merchant.example/mug.jpg", "HTTP://a", "https://a/ü"],
  "country-code": ["GB", "de"],
  barcode: ["4006381333931", "A-1 b", "!"],
  "header-name": ["x-api-key", "!#$%&'*+.^_`|~0aZ"],
  "header-value": ["a", "Bearer a b", "~", "••••"],
  amount: ["0", "12.50", "123456789012345.123456"],
  currency: ["EUR", "JPY"],
};

const INVALID: Readonly<Record<string, readonly string[]>> = {
  text: ["\u0000", "a\u0000b"],
  "path-segment": [".", "..", "a\u0000"],
  "web-address": ["javascript:alert(1)", "ftp://a", "https://", "https://a b"],
  "country-code": ["G", "GBR", "1A", "UK"],
  barcode: ["", " 1", "1 ", "1\n2", "é"],
  "header-name": ["", "a b", "a:", "é", "a\n"],
  "header-value": ["", " a", "a ", "a\nb", "é", "•••••"],
  amount: ["", "-1", "1.", ".5", "1e3", "1,5"],
  currency: ["eur", "EURO", "E"],
};

const SIGNS = fc.constantFrom("a", "G", "1", ".", "/", ":", " ", "\n", "\u0000", "é", "😀", "\ud800");

/** What is wrong with these is found by a URL parser, and by the list of countries. */
const NEEDS_CODE = ["https://", "UK"];

describe.each(Object.entries(OWN_FORMATS))("the pattern of the format %s", (name, { isValid, pattern }) => {
  const matches = (text: string) => new RegExp(pattern, "u").test(text);

  it("matches what is valid, and rejects what a pattern can reject", () => {
    for (const text of VALID[name] ?? [])
      expect([text, isValid(text), matches(text)]).toEqual([text, true, true]);
    for (const text of INVALID[name] ?? []) {
      expect(isValid(text), text).toBe(false);
      if (!NEEDS_CODE.includes(text)) expect(matches(text), text).toBe(false);
    }
    expect(VALID[name]?.length).toBeGreaterThan(0);
    expect(INVALID[name]?.length).toBeGreaterThan(0);
  });

  it("matches every valid text, so that no client rejects one", () =>
    fc.assert(fc.property(fc.string({ unit: SIGNS }), (text) => !isValid(text) || matches(text))));

  it("is understood in all languages: it has no look-around", () => expect(pattern).not.toMatch(/\(\?/));
});
