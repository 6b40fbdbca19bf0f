import { expect, it } from "vitest";
import { comparison, type Figure, table } from "../../../bench/report.ts";

const rowsOf = (text: string) => text.split("\n").map((line) => line.split(/ {2,}/));

it("says of each figure whether it reaches its ratio and its time", () => {
  const figures: Figure[] = [
    { name: "fast", perSecond: 12_345, ratio: 0.7, ratioMin: 0.7 },
    { name: "slow", ratio: 0.69, ratioMin: 0.7 },
    { name: "late", ratio: 1, ratioMin: 0.7, p99Ms: 26, p99MaxMs: 25 },
    { name: "on time", p99Ms: 25, p99MaxMs: 25 },
    { name: "noted", note: "no requirement" },
  ];
  const [, ...rows] = rowsOf(table(figures));
  expect(rows.map((row) => [row[0], row.at(-1)])).toEqual([
    ["fast", "ok"],
    ["slow", "NOT REACHED"],
    ["late", "NOT REACHED"],
    ["on time", "ok"],
    ["noted", "no requirement"],
  ]);
});

it("compares figures of the same name with an earlier run, and leaves out the others", () => {
  const before: Figure[] = [
    { name: "create", perSecond: 4_000, ratio: 0.4, p99Ms: 30 },
    { name: "gone", perSecond: 1 },
  ];
  const now: Figure[] = [
    { name: "create", perSecond: 5_000, ratio: 0.5, p99Ms: 20 },
    { name: "new", perSecond: 1 },
  ];
  expect(rowsOf(comparison(now, before)).slice(1)).toEqual([
    ["create", "4,000", "5,000", "+25 %", "0.40", "0.50", "30", "20"],
  ]);
});
