import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  activateEndpoints,
  addBacklog,
  addEndpoints,
  countDeliveries,
  emptyWebhooks,
} from "../../bench/backlog.ts";
import { ACCEPT, CHARGE, countFinished, DEFER, ROUTE } from "../../bench/connections/connections.ts";
import { addSmallPartners } from "../../bench/connections/small-partners.ts";
import { countJobs } from "../../bench/order-jobs.ts";
import { preloadOrders } from "../../bench/preload.ts";
import { countOrders, emptyOrders, type Site } from "../../bench/site.ts";
import { makePartitions } from "../../src/maintenance/make-partitions.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createPartner } from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { startServiceForTest } from "../support/test-service.ts";

async function openSite(): Promise<Pick<Site, "db" | "partner">> {
  const test = await startServiceForTest();
  await makePartitions({ ...test.context, clock: systemClock }); // PostgreSQL makes the ids, by its own clock.
  const { key, productIds, ...partner } = await createPartner(test);
  return { db: test.context.db, partner: { key, productIds, connection: connectionKey(partner) } };
}

it("the benchmark's own statements fit the schema", async ({ skip }) => {
  const site = await openSite();
  const [server] = await site.db.query<{ has_uuidv7: boolean }>({
    name: "has-uuidv7",
    text: "select to_regprocedure('uuidv7()') is not null as has_uuidv7",
    values: [],
  });
  skip(
    server?.has_uuidv7 !== true,
    "The benchmark runs on the embedded PostgreSQL, which is newer than this one.",
  );
  await preloadOrders(site.db, { ...site.partner, state: "due" }, 3, () => undefined);
  expect(await countOrders(site)).toBe(3);
  expect(await countJobs(site)).toMatchObject({ orders: 3, accepted: 0 });

  const insertOrders = await readFile("bench/insert-orders.sql", "utf8");
  const { merchantId, connectionId } = site.partner.connection;
  const [product_1, product_2] = site.partner.productIds;
  const variables: Record<string, string | undefined> = {
    merchant_id: merchantId,
    connection_id: connectionId,
    product_1,
    product_2,
    orders: "1",
  };
  await site.db.runScript(insertOrders.replace(/(?<!:):(\w+)/g, (_, name: string) => `'${variables[name]}'`));
  expect(await countOrders(site)).toBe(4);
  await emptyOrders(site);
  expect(await countOrders(site)).toBe(0);

  await addEndpoints(site, ["https://one.example/", "https://two.example/"]);
  await addBacklog(site, 5, "{}");
  await activateEndpoints(site);
  expect(await countDeliveries(site)).toEqual({ due: 10, delivered: 0 });
  await emptyWebhooks(site);
  expect(await countDeliveries(site)).toEqual({ due: 0, delivered: 0 });

  const file = join(await mkdtemp(join(tmpdir(), "partner-orders-test-")), "partners.json");
  await addSmallPartners(site, { count: 2, url: "https://three.example/", file });
  expect(JSON.parse(await readFile(file, "utf8"))).toHaveLength(2);
  for (const script of [DEFER, ACCEPT, ROUTE, CHARGE]) await site.db.runScript(script);
  expect(await countFinished(site)).toEqual({ delivered: 0, accepted: 0, routed: 0, charged: 0 });
});
