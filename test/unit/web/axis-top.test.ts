import fc from "fast-check";
import { expect, it } from "vitest";
import { axisTop } from "../../../web/src/pages/overview/scale.ts";

it("gives an axis a round top that its greatest value reaches at least to a fifth", () => {
  expect([0, 1, 2, 3, 5, 11, 39, 41, 400, 12_345].map(axisTop)).toEqual([
    2, 2, 2, 4, 10, 20, 40, 100, 400, 20_000,
  ]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), (greatest) => {
      const top = axisTop(greatest);
      return top >= greatest && top <= Math.max(2, greatest * 5) && Number.isInteger(top / 2);
    }),
  );
});
