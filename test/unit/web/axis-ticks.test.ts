import fc from "fast-check";
import { expect, it } from "vitest";
import { axisTicks } from "../../../web/src/pages/overview/scale.ts";

it("gives an axis round values, and a last one that its greatest value reaches at least to a half", () => {
  expect([0, 1, 2, 5, 38, 42, 61, 400].map(axisTicks)).toEqual([
    [0, 1],
    [0, 1],
    [0, 1, 2],
    [0, 2, 4, 6],
    [0, 20, 40],
    [0, 20, 40, 60],
    [0, 50, 100],
    [0, 200, 400],
  ]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), (greatest) => {
      const ticks = axisTicks(greatest);
      const top = ticks.at(-1) ?? 0;
      return top >= greatest && top <= greatest * 2 && ticks.length >= 2 && ticks.length <= 4;
    }),
  );
});
