import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { SeenValues } from "../../../src/platform/tables/import-file.ts";

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

it("keeps none of the values: 300,000 long ones fit into a heap of 64 MB", async () => {
  const module = new URL("../../../src/platform/tables/import-file.ts", import.meta.url).href;
  const worker = new Worker(
    `import(${JSON.stringify(module)}).then(({ SeenValues }) => {
      const seen = new SeenValues();
      for (let n = 0; n < 300_000; n += 1) seen.add("sku", String(n).padEnd(255, "x"));
      require("node:worker_threads").parentPort.postMessage("done");
    });`,
    { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 } },
  );
  expect(await once(worker, "message")).toEqual(["done"]);
});
