import { expect, it } from "vitest";
import { SeenValues } from "../../../src/products/import/check-file.ts";

it("finds each value of a column that an earlier row has, also after it has grown often", () => {
  const seen = new SeenValues();
  const values = Array.from({ length: 30_000 }, (_, n) => `SKU-${n}`);
  expect(values.filter((value) => seen.add("sku", value) !== null)).toEqual([]);
  expect(values.filter((value) => seen.add("sku", value) !== false)).toEqual([]);
  expect(values.filter((value) => seen.add("barcode", value) !== null)).toEqual([]);
});

it("keeps the mark that any earlier row has set", () => {
  const seen = new SeenValues();
  for (let n = 0; n < 2_000; n += 1) seen.add("sku", `SKU-${n}`, n % 2 === 0);
  expect(seen.add("sku", "SKU-0")).toBe(true);
  expect(seen.add("sku", "SKU-0")).toBe(true);
  expect(seen.add("sku", "SKU-1", true)).toBe(false);
  expect(seen.add("sku", "SKU-1")).toBe(true);
});
