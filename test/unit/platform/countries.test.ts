import { describe, expect, it } from "vitest";
import { countryCodeError, isCountryCode } from "../../../src/platform/wire/countries.ts";
import { sentenceOf } from "../../../src/platform/wire/rules.ts";

const LETTERS = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
const PAIRS = LETTERS.flatMap((one) => LETTERS.map((other) => one + other));

describe("country codes", () => {
  it("are the 249 assigned codes of ISO 3166-1 and XK", () => {
    expect(PAIRS.filter(isCountryCode)).toHaveLength(250);
    const regions = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
    const nameless = PAIRS.filter((code) => isCountryCode(code) && regions.of(code) === undefined);
    expect(nameless).toEqual([]);
  });

  it.each(["GB", "gb", "Gb", "US", "DE", "XK", "SS", "AX", "BQ", "CW", "UM", "ZW"])("include %s", (code) => {
    expect(isCountryCode(code)).toBe(true);
  });

  it.each([
    "UK",
    "EL",
    "ZZ",
    "XX",
    "AA",
    "QM",
    "XA",
    "EU",
    "UN",
    "AN",
    "CS",
    "YU",
    "SU",
    "TP",
    "ZR",
    "DD",
    "FX",
    "AC",
    "",
    "G",
    "GBR",
    "G1",
    "GB\n",
    " G",
    "ß",
    "ﬁ",
    "ĳ",
  ])("do not include %j", (code) => {
    expect(isCountryCode(code)).toBe(false);
  });

  it.each([
    ["uk", "must be an assigned ISO 3166-1 country code, or XK; use GB instead of UK"],
    ["EL", "must be an assigned ISO 3166-1 country code, or XK; use GR instead of EL"],
    ["ZZ", "must be an assigned ISO 3166-1 country code, or XK"],
    ["GBR", "must be a two-letter country code"],
    ["ß", "must be a two-letter country code"],
  ])("have a hint for %s", (code, detail) => {
    expect(sentenceOf(countryCodeError(code))).toBe(detail);
  });

  it("have hints that lead to other codes, and for no assigned code", () => {
    for (const code of PAIRS) {
      const [, hint = ""] = sentenceOf(countryCodeError(code)).split("; use ");
      const meant = hint.split(" instead")[0]?.match(/[A-Z]{2}/g) ?? [];
      expect(meant.every(isCountryCode), code).toBe(true);
      if (isCountryCode(code)) expect(hint, code).toBe("");
    }
  });
});
