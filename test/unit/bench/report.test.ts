import { expect, it } from "vitest";
import { pairedTable } from "../../../bench/against.ts";
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

it("pairs the rounds of two checkouts, by the median of their ratios", () => {
  const round = (there: number, here: number) => ({
    there: [
      { name: "create", perSecond: there, p99Ms: 10 },
      { name: "gone", perSecond: 1 },
    ],
    here: [
      { name: "create", perSecond: here, p99Ms: 12 },
      { name: "new", count: 1 },
    ],
  });
  const [, ...rows] = rowsOf(pairedTable([round(1_000, 1_100), round(500, 600), round(2_000, 1_800)]));
  expect(rows).toEqual([["create", "1,000", "1,100", "1.10", "0.90", "1.20", "10", "12"]]);
});

it("says of a count whether it stays below its limit", () => {
  const [title, ...rows] = rowsOf(
    table([
      { name: "entries", count: 59.6, countMax: 60 },
      { name: "bytes", count: 15_001, countMax: 15_000 },
    ]),
  );
  expect(title).toEqual(["measured", "count", "at most"]);
  expect(rows).toEqual([
    ["entries", "59.6", "60", "ok"],
    ["bytes", "15,001", "15,000", "NOT REACHED"],
  ]);
});
