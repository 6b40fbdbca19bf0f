import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { needsReview, type ReviewPolicy, withDefaults } from "../../../src/merchants/connection.ts";

const NO_LIMITS: ReviewPolicy = { maxQuantity: null, maxOrderValueMinor: null, countries: null };
const order = (fields: Partial<Parameters<typeof needsReview>[1]> = {}) => ({
  quantity: 1,
  goodsMinor: 1n,
  countryCode: "DE",
  ...fields,
});

describe("an order is reviewed if it exceeds its connection's policy", () => {
  it.each<[string, Partial<ReviewPolicy>, Partial<ReturnType<typeof order>>, boolean]>([
    ["fewer units than the limit", { maxQuantity: 10 }, { quantity: 9 }, false],
    ["as many units as the limit", { maxQuantity: 10 }, { quantity: 10 }, false],
    ["a unit more", { maxQuantity: 10 }, { quantity: 11 }, true],
    ["a limit of no units", { maxQuantity: 0 }, { quantity: 1 }, true],
    ["less value than the limit", { maxOrderValueMinor: 10_000n }, { goodsMinor: 9_999n }, false],
    ["as much value as the limit", { maxOrderValueMinor: 10_000n }, { goodsMinor: 10_000n }, false],
    ["a minor unit more", { maxOrderValueMinor: 10_000n }, { goodsMinor: 10_001n }, true],
    ["no value allowed, and none there", { maxOrderValueMinor: 0n }, { goodsMinor: 0n }, false],
    ["no value allowed, and some there", { maxOrderValueMinor: 0n }, { goodsMinor: 1n }, true],
    [
      "more value than a number holds exactly",
      { maxOrderValueMinor: 2n ** 53n },
      { goodsMinor: 2n ** 53n + 1n },
      true,
    ],
    ["the only country", { countries: ["DE"] }, { countryCode: "DE" }, false],
    ["one of the countries", { countries: ["FR", "DE"] }, { countryCode: "DE" }, false],
    ["another country", { countries: ["FR", "AT"] }, { countryCode: "DE" }, true],
    ["no country at all", { countries: [] }, { countryCode: "DE" }, true],
    ["two limits, the first exceeded", { maxQuantity: 1, maxOrderValueMinor: 9n }, { quantity: 2 }, true],
    [
      "two limits, the second exceeded",
      { maxQuantity: 1, maxOrderValueMinor: 9n },
      { goodsMinor: 10n },
      true,
    ],
    ["within all limits", { maxQuantity: 1, maxOrderValueMinor: 1n, countries: ["DE"] }, {}, false],
  ])("%s", (_, limits, fields, reviewed) => {
    expect(needsReview({ ...NO_LIMITS, ...limits }, order(fields))).toBe(reviewed);
  });

  it("never without limits", () => {
    fc.assert(
      fc.property(fc.nat(), fc.bigInt(0n, 2n ** 63n), fc.string(), (quantity, goodsMinor, countryCode) => {
        expect(needsReview(NO_LIMITS, { quantity, goodsMinor, countryCode })).toBe(false);
      }),
    );
  });
});

describe("a limit that a connection does not have is the service's", () => {
  const defaults = { maxQuantity: 100, maxOrderValueMinor: 1_000n };

  it.each<[string, Partial<ReviewPolicy>, Partial<ReviewPolicy>]>([
    ["no limit of its own", {}, defaults],
    ["a lower quantity", { maxQuantity: 1 }, { ...defaults, maxQuantity: 1 }],
    ["a higher quantity", { maxQuantity: 101 }, { ...defaults, maxQuantity: 101 }],
    ["a value of zero", { maxOrderValueMinor: 0n }, { ...defaults, maxOrderValueMinor: 0n }],
    ["a higher value", { maxOrderValueMinor: 9_999n }, { ...defaults, maxOrderValueMinor: 9_999n }],
    ["countries", { countries: ["DE"] }, { ...defaults, countries: ["DE"] }],
  ])("%s", (_, own, limits) => {
    expect(withDefaults({ ...NO_LIMITS, ...own }, defaults)).toEqual({ ...NO_LIMITS, ...limits });
  });

  it("unless the service has none either", () => {
    expect(withDefaults(NO_LIMITS, NO_LIMITS)).toEqual(NO_LIMITS);
  });
});
