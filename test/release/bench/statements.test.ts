import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import {
  activateEndpoints,
  addBacklog,
  addEndpoints,
  countDeliveries,
  emptyWebhooks,
} from "../../../bench/backlog.ts";
import { ACCEPT, CHARGE, countFinished, DEFER, ROUTE } from "../../../bench/connections/connections.ts";
import { addSmallPartners } from "../../../bench/connections/small-partners.ts";
import { readBacklogs } from "../../../bench/life/life.ts";
import { countUnsentMails } from "../../../bench/life/staff.ts";
import { countJobs } from "../../../bench/order-jobs.ts";
import { preloadOrders } from "../../../bench/preload.ts";
import { openReference, ROWS } from "../../../bench/reference/reference.ts";
import { countOrders, emptyOrders, type Site } from "../../../bench/site.ts";
import { makePartitions } from "../../../src/operations/partitions.ts";
import { systemClock } from "../../../src/platform/time.ts";
import { createPartner } from "../../support/builders.ts";
import { connectionKey } from "../../support/orders.ts";
import { startServiceForTest } from "../../support/test-service.ts";

async function openSite(): Promise<Pick<Site, "db" | "partner">> {
  const test = await startServiceForTest();
  await makePartitions({ ...test.context, clock: systemClock }); // PostgreSQL makes the ids, by its own clock.
  const { key, productIds, ...partner } = await createPartner(test);
  return {
    db: test.context.db,
    partner: { key, productIds, connection: connectionKey(partner), merchantToken: "" },
  };
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
  expect(await countUnsentMails(site)).toBe(0);
  expect(await readBacklogs(site)).toEqual({ unaccepted: 3, unrouted: 0, unpaid: 0, undelivered: 0 });

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

it("the frozen reference of creation stores two lines and an event for each order", async ({ skip }) => {
  const [url = ""] = inject("databaseUrls");
  const reference = await openReference({ url }, `reference_${process.pid}`);
  const [server] = await reference.db.query<{ version: number }>({
    name: "server-version",
    text: "select current_setting('server_version_num')::integer as version",
    values: [],
  });
  const isOlder = (server?.version ?? 0) < 180_000;
  if (isOlder) await reference.db.close();
  skip(isOlder, "The benchmark runs on the embedded PostgreSQL, which makes UUIDs of version 7.");
  const statement = await readFile("bench/reference/insert-orders.sql", "utf8");
  const values: Record<string, string> = { ...ROWS, orders: "3" };
  await reference.db.runScript(statement.replace(/(?<!:):(\w+)/g, (_, name: string) => `'${values[name]}'`));
  expect(await countOrders(reference)).toBe(3);
  await reference.db.close();
});
