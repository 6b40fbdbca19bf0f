import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { DatabaseUsage, openDatabase } from "../../src/platform/database/database.ts";
import { toTypeId } from "../../src/platform/ids.ts";
import { addPoolMetrics, createPools } from "../../src/service/open-service.ts";
import { createDatabase } from "../support/test-service.ts";

const uuid = (number: number): string => `01900000-0000-7000-8000-${String(number).padStart(12, "0")}`;

it("shows the use of each pool that is open, and the five connections that used most", async () => {
  const url = await createDatabase();
  const pools = createPools((options) => openDatabase({ ...options, url, onIdleError: () => undefined }));
  const usage = new DatabaseUsage();
  const registry = new Registry();
  addPoolMetrics(registry, pools, usage);
  for (let number = 1; number <= 7; number += 1) usage.spent(uuid(number), 1_000 * number);
  usage.spent(uuid(1), 9_000);
  usage.addQueue("lists", () => 3);

  await pools.get("lists").transaction(async () => {
    const text = await registry.metrics();
    expect(text).toContain('partner_orders_database_calls_in_use{pool="lists"} 1');
    expect(text).toContain('partner_orders_database_calls_waiting{pool="lists"} 3');
    expect(text).not.toContain("partners");
    const shown = [...text.matchAll(/connection="(\w+)"} (\d+)/g)].map(([, id, seconds]) => [id, seconds]);
    expect(shown).toEqual([1, 7, 6, 5, 4].map((n) => [toTypeId("con", uuid(n)), String(n === 1 ? 10 : n)]));
  });
  expect(await registry.metrics()).toMatch(/partner_orders_database_seconds_total\{pool="lists"} 0\.\d+/);
  await pools.close();
});
