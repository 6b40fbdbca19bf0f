import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Rate } from "../../../src/fulfilment/facilities-sql.ts";
import {
  chooseFacilities,
  chooseFacility,
  type RatedFacility,
  type RoutableOrder,
} from "../../../src/fulfilment/routing/plan-routes.ts";
import type { Availability } from "../../../src/stock/stock-sql.ts";

const rate = (countryCode: string, maxWeightGrams: number, price: number, currency = "EUR"): Rate => ({
  countryCode,
  currency,
  maxWeightGrams,
  priceMinor: BigInt(price),
});
const facility = (id: string, countryCode: string, ...rates: Rate[]): RatedFacility => ({
  id,
  countryCode,
  rates,
});
const order = (
  countryCode: string,
  lines: [productId: string, quantity: number, weightGrams: number | null][],
): RoutableOrder => ({
  countryCode,
  currency: "EUR",
  lines: lines.map(([productId, quantity, weightGrams]) => ({ productId, quantity, weightGrams })),
});
/** Units by product and facility. */
const stock = (units: Record<string, Record<string, number>>): Availability =>
  new Map(Object.entries(units).map(([id, byFacility]) => [id, new Map(Object.entries(byFacility))]));

const MADE_TO_ORDER = stock({});
const unserviceable = { outcome: "held", reason: "address_unserviceable" };
const outOfStock = { outcome: "held", reason: "out_of_stock" };
const routed = (facilityId: string, price: number) => ({
  outcome: "routed",
  facilityId,
  shippingMinor: BigInt(price),
});

describe("chooseFacility", () => {
  const one = order("DE", [["p", 1, 100]]);

  it.each<[string, RoutableOrder, RatedFacility[], Availability, object]>([
    ["without any facility, nothing is chosen", one, [], MADE_TO_ORDER, { outcome: "unrouted" }],
    ["a facility without rates serves no order", one, [facility("a", "DE")], MADE_TO_ORDER, unserviceable],
    [
      "a rate to another country does not count",
      one,
      [facility("a", "DE", rate("FR", 1_000, 5))],
      MADE_TO_ORDER,
      unserviceable,
    ],
    [
      "a rate in another currency does not count",
      one,
      [facility("a", "DE", rate("DE", 1_000, 5, "USD"))],
      MADE_TO_ORDER,
      unserviceable,
    ],
    [
      "a product without any stock record is made to order",
      one,
      [facility("a", "DE", rate("DE", 1_000, 5))],
      MADE_TO_ORDER,
      routed("a", 5),
    ],
    [
      "a product that is stocked elsewhere only is missing here",
      one,
      [facility("a", "DE", rate("DE", 1_000, 5))],
      stock({ p: { b: 7 } }),
      outOfStock,
    ],
    [
      "stock of just enough is enough",
      order("DE", [["p", 3, null]]),
      [facility("a", "DE", rate("DE", 1_000, 5))],
      stock({ p: { a: 3 } }),
      routed("a", 5),
    ],
    [
      "one unit too few is not",
      order("DE", [["p", 3, null]]),
      [facility("a", "DE", rate("DE", 1_000, 5))],
      stock({ p: { a: 2 } }),
      outOfStock,
    ],
    [
      "lines of one product are counted together",
      order("DE", [["p", 2, null], ["p", 2, null]]), // biome-ignore format: one line reads as one order.
      [facility("a", "DE", rate("DE", 1_000, 5))],
      stock({ p: { a: 3 } }),
      outOfStock,
    ],
    [
      "an order is not split over facilities",
      order("DE", [["p", 1, null], ["q", 1, null]]), // biome-ignore format: one line reads as one order.
      [facility("a", "DE", rate("DE", 1_000, 5)), facility("b", "DE", rate("DE", 1_000, 5))],
      stock({ p: { a: 1 }, q: { b: 1 } }),
      outOfStock,
    ],
    [
      "neither rate nor stock: unserviceable, since stock would be waited for in vain",
      one,
      [facility("a", "DE")],
      stock({ p: { a: 0 } }),
      unserviceable,
    ],
    [
      "a rate here and stock there: it waits for stock",
      one,
      [facility("a", "DE", rate("DE", 1_000, 5)), facility("b", "DE")],
      stock({ p: { b: 1 } }),
      outOfStock,
    ],
    [
      "the own country comes before a cheaper one abroad",
      one,
      [facility("a", "FR", rate("DE", 1_000, 1)), facility("b", "DE", rate("DE", 1_000, 900))],
      MADE_TO_ORDER,
      routed("b", 900),
    ],
    [
      "but not without stock",
      one,
      [facility("a", "FR", rate("DE", 1_000, 1)), facility("b", "DE", rate("DE", 1_000, 900))],
      stock({ p: { a: 1, b: 0 } }),
      routed("a", 1),
    ],
    [
      "then the cheapest",
      one,
      [facility("a", "DE", rate("DE", 1_000, 7)), facility("b", "DE", rate("DE", 1_000, 6))],
      MADE_TO_ORDER,
      routed("b", 6),
    ],
    [
      "then the oldest, at any position in the list",
      one,
      [facility("b", "DE", rate("DE", 1_000, 6)), facility("a", "DE", rate("DE", 1_000, 6))],
      MADE_TO_ORDER,
      routed("a", 6),
    ],
  ])("%s", (_title, wanted, facilities, available, choice) => {
    expect(chooseFacility(wanted, facilities, available)).toEqual(choice);
    expect(chooseFacility(wanted, facilities.toReversed(), available)).toEqual(choice);
  });

  it("does not depend on the order of the facilities: own country, then price, then age", () => {
    const price = (value: number) => rate("DE", 1_000, value);
    const inOrder = [
      facility("c", "DE", price(1)),
      facility("d", "DE", price(1)),
      facility("a", "DE", price(2)),
      facility("f", "AT", price(0)),
      facility("b", "FR", price(3)),
      facility("e", "FR", price(3)),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(inOrder, { minLength: 1 }), (some) => {
        const best = inOrder.find((each) => some.includes(each));
        expect(chooseFacility(one, some, MADE_TO_ORDER)).toMatchObject({ facilityId: best?.id });
      }),
    );
  });

  it.each<[string, number | null, number, object]>([
    ["below a rate bracket", 499, 1, routed("a", 1)],
    ["at the limit of a bracket", 500, 1, routed("a", 1)],
    ["above it: the next one", 501, 1, routed("a", 2)],
    ["at the last one", 1_000, 2, routed("a", 3)],
    ["above the last one", 1_001, 2, unserviceable],
    ["without a weight: the lightest bracket", null, 100_000, routed("a", 1)],
    ["as heavy as an order can be", 2_000_000_000, 100_000, unserviceable],
  ])("prices by the lightest bracket that covers the order: %s", (_title, weight, quantity, choice) => {
    const brackets = facility("a", "DE", rate("DE", 2_000, 3), rate("DE", 500, 1), rate("DE", 1_000, 2));
    expect(chooseFacility(order("DE", [["p", quantity, weight]]), [brackets], MADE_TO_ORDER)).toEqual(choice);
  });

  it("uses the lightest bracket, even if a heavier one costs less", () => {
    const brackets = facility("a", "DE", rate("DE", 500, 9), rate("DE", 1_000, 2));
    expect(chooseFacility(one, [brackets], MADE_TO_ORDER)).toEqual(routed("a", 9));
  });
});

describe("chooseFacilities", () => {
  it("gives the last unit to the first order, and to later ones what is left elsewhere", () => {
    const facilities = [facility("a", "DE", rate("DE", 1_000, 1)), facility("b", "FR", rate("DE", 1_000, 2))];
    const orders = [1, 2, 3].map(() => order("DE", [["p", 1, 10]]));
    const available = stock({ p: { a: 1, b: 1 } });
    const choices = chooseFacilities(orders, facilities, available).map(({ choice }) => choice);
    expect(choices).toEqual([routed("a", 1), routed("b", 2), outOfStock]);
    expect(available).toEqual(stock({ p: { a: 1, b: 1 } })); // Only planned so far.
  });

  const anyId = fc.constantFrom("a", "b", "c");
  const anyCountry = fc.constantFrom("DE", "FR");
  const anyProduct = fc.constantFrom("p", "q", "made");
  const anyFacility = fc.record({
    id: anyId,
    countryCode: anyCountry,
    rates: fc.array(
      fc.record({
        countryCode: anyCountry,
        currency: fc.constantFrom("EUR", "USD"),
        maxWeightGrams: fc.constantFrom(5, 10, 20),
        priceMinor: fc.bigInt(0n, 3n),
      }),
      { maxLength: 4 },
    ),
  });
  const anyOrder = fc.record({
    countryCode: anyCountry,
    currency: fc.constant("EUR"),
    lines: fc.array(
      fc.record({
        productId: anyProduct,
        quantity: fc.integer({ min: 1, max: 3 }),
        weightGrams: fc.constantFrom(null, 1, 4),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  });
  const anyStock = fc.record({
    p: fc.dictionary(anyId, fc.nat(5)),
    q: fc.dictionary(anyId, fc.nat(5)),
  });

  it("never reserves more than is available, and holds an order only if no facility could send it", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(anyFacility, { selector: ({ id }) => id, minLength: 1, maxLength: 3 }),
        fc.array(anyOrder, { maxLength: 6 }),
        anyStock,
        (facilities, orders, units) => {
          const left = structuredClone(units) as Record<string, Record<string, number>>;
          const canSend = ({ id, rates }: RatedFacility, wanted: RoutableOrder): [boolean, boolean] => {
            const grams = wanted.lines.reduce(
              (sum, line) => sum + line.quantity * (line.weightGrams ?? 0),
              0,
            );
            const priced = rates.some(
              (r) =>
                r.countryCode === wanted.countryCode && r.currency === "EUR" && r.maxWeightGrams >= grams,
            );
            const there = Object.keys(left).every((productId) => {
              const needed = wanted.lines
                .filter((line) => line.productId === productId)
                .reduce((sum, { quantity }) => sum + quantity, 0);
              return needed === 0 || (left[productId]?.[id] ?? 0) >= needed;
            });
            return [priced, there];
          };
          for (const { order: wanted, choice } of chooseFacilities(orders, facilities, stock(units))) {
            const could = facilities.map((each) => canSend(each, wanted));
            if (choice.outcome === "held") {
              expect(could.some(([priced, there]) => priced && there)).toBe(false);
              const reason = could.some(([priced]) => priced) ? "out_of_stock" : "address_unserviceable";
              expect(choice.reason).toBe(reason);
            } else if (choice.outcome === "routed") {
              const at = facilities.findIndex(({ id }) => id === choice.facilityId);
              expect(could[at]).toEqual([true, true]);
              for (const { productId, quantity } of wanted.lines) {
                const byFacility = left[productId];
                if (byFacility !== undefined)
                  byFacility[choice.facilityId] = (byFacility[choice.facilityId] ?? 0) - quantity;
              }
            }
          }
          for (const byFacility of Object.values(left))
            for (const each of Object.values(byFacility)) expect(each).toBeGreaterThanOrEqual(0);
        },
      ),
      { numRuns: 500 },
    );
  });
});
