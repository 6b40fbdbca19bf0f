import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openSignalChannel } from "../../src/platform/signals.ts";
import { placeOrder } from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { requestOperation } from "../support/real-orders.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const place = (externalOrderId: string) => placeOrder(world.partner, { externalOrderId });
const rows = (page: Page) => page.getByRole("row").count();
const waiting = (page: Page, count: number) => page.getByRole("button", { name: `${count} new: show` });

/** Opens a page, and waits until its stream is ready. */
async function openLive(page: Page, path: string): Promise<void> {
  const [stream] = await Promise.all([
    page.waitForResponse((response) => response.url().endsWith("/api/updates")),
    page.goto(path),
  ]);
  expect(stream.status()).toBe(200);
}

it("shows on two tabs a changed order where it is, and counts new ones until the person asks for them", async () => {
  const first = await world.open(world.people.operator);
  const second = await first.context().newPage();
  for (const page of [first, second]) {
    await openLive(page, "/orders");
    await page.getByRole("link", { name: "shop-1003" }).waitFor();
  }
  const before = await rows(first);
  await place("live-1");
  await place("live-2");
  for (const page of [first, second]) {
    await waiting(page, 2).waitFor();
    expect(await rows(page)).toBe(before);
  }
  await requestOperation(world.service, world.orders.fresh, "hold", { reasons: ["merchant_request"] });
  await first.getByRole("row", { name: /shop-1003.*Merchant/ }).waitFor();
  expect(await rows(first), "the row changed in its place").toBe(before);
  await waiting(first, 2).click();
  await first.getByRole("link", { name: "live-2" }).waitFor();
  expect(await rows(first)).toBe(before + 2);
});

it("shows on the page of an order what happens to it, with the actions that are possible then", async () => {
  const { id } = await place("live-3");
  const page = await world.open(world.people.operator);
  await openLive(page, `/orders/${id}`);
  await page.getByRole("button", { name: "Hold", exact: true }).waitFor();
  await requestOperation(world.service, id, "hold", { reasons: ["merchant_request"] });
  await page.getByRole("button", { name: "Release hold" }).waitFor();
});

it("counts on the overview what happens", async () => {
  const { id } = await place("live-4");
  const page = await world.open(world.people.merchant);
  await openLive(page, "/");
  const holds = page.getByRole("region", { name: "To do" });
  await holds.getByText("Merchant's request").waitFor();
  expect(await holds.getByText("Address cannot be served").count()).toBe(0);
  await requestOperation(world.service, id, "hold", { reasons: ["address_unserviceable"] });
  await holds.getByText("Address cannot be served").waitFor();
});

it("stays usable while a thousand orders change within a second, and reads little", async () => {
  const { service, partner } = world;
  const { context } = service;
  const { signals } = context;
  const channel = openSignalChannel(service.db, context.log, "here");
  Object.assign(context, { signals: channel });
  const page = await world.open(world.people.operator);
  const read: string[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/orders") read.push(request.url());
  });
  await openLive(page, "/orders");
  await page.getByRole("link", { name: "shop-1003" }).waitFor();
  const key = connectionKey(partner);
  for (let part = 0; part < 20; part += 1)
    channel.sendOrders(Array.from({ length: 50 }, () => ({ ...key, id: context.newId(), testMode: false })));
  await page.getByLabel("Id, name, company or tracking number").fill("shop-1001");
  await expect.poll(() => rows(page)).toBe(2);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByRole("link", { name: "shop-1003" }).waitFor();
  await place("after-the-thousand");
  await page.getByRole("button", { name: "new: show" }).click();
  await page.getByRole("link", { name: "after-the-thousand" }).waitFor();
  expect(read.length, "two lists, and a few readings of both").toBeLessThan(8);
  Object.assign(context, { signals });
});

it("reads again when the network is back", async () => {
  const page = await world.open(world.people.operator);
  await openLive(page, "/orders");
  await page.getByRole("link", { name: "shop-1003" }).waitFor();
  await page.context().setOffline(true);
  const { id } = await place("while-offline");
  expect(id).toMatch(/^ord_/);
  await page.context().setOffline(false);
  await waiting(page, 1).waitFor();
});

it("says that a list may be old if its updates stay away, and not if they are back at once", async () => {
  const page = await world.open(world.people.operator);
  await page.clock.install();
  await openLive(page, "/orders");
  await page.getByRole("link", { name: "shop-1003" }).waitFor();
  const notice = page.getByText("The connection to the service is lost.");
  await page.route("**/api/updates", (route) => route.abort());
  const aborted = page.waitForRequest("**/api/updates");
  await page.evaluate("dispatchEvent(new Event('online'))");
  await aborted;
  await page.clock.fastForward("00:05");
  expect(await notice.count(), "a deploy").toBe(0);
  await page.clock.fastForward("00:06");
  await notice.waitFor();
  await page.unroute("**/api/updates");
  await page.clock.fastForward("01:20"); // Longer than between two attempts.
  await notice.waitFor({ state: "detached" });
});

it("says that more orders may be new than a page shows", async () => {
  const page = await world.open(world.people.operator);
  await openLive(page, "/orders");
  await page.getByRole("link", { name: "shop-1003" }).waitFor();
  const openStreamAgain = () => page.evaluate("dispatchEvent(new Event('online'))");
  await page.route("**/api/updates", (route) => route.abort());
  await openStreamAgain();
  for (let number = 0; number < 52; number += 1) await place(`many-${number}`);
  await page.unroute("**/api/updates");
  await openStreamAgain();
  await page.getByRole("button", { name: "50 or more new: show" }).click();
  await page.getByRole("link", { name: "many-51" }).waitFor();
});

it("asks a person to sign in whose session was ended elsewhere, and shows nothing new before that", async () => {
  await place("live-newest"); // Other tests place so many that none of the world is on the first page.
  const page = await world.open(world.people.support);
  await openLive(page, "/orders");
  await page.getByRole("link", { name: "live-newest" }).waitFor();
  await world.service.db.query({
    name: "end-sessions-in-test",
    text: "delete from person_sessions where person_id = $1",
    values: [world.people.support.id],
  });
  await page.getByRole("dialog").waitFor();
  await place("not-for-strangers");
  expect(await page.getByText("new: show").count()).toBe(0);
});

it("shows operators on each page that no worker runs any more, and that one runs again", async () => {
  const { service } = world;
  const seenAt = (interval: string) =>
    service.db.query({
      name: "test-worker-seen",
      text: `
        insert into processes as p (id, roles, version, key_ids, host, pid, started_at, seen_at)
        values ('00000000-0000-0000-0000-000000000009', '{worker}', '0.0.9', '{}', 'other', 7, $1::timestamptz, $1::timestamptz - $2::interval)
        on conflict (id) do update set seen_at = excluded.seen_at`,
      values: [service.clock.now(), interval],
    });
  await seenAt("0 s");
  const page = await world.open(world.people.operator);
  await page.clock.install();
  await page.goto("/products");
  await page.getByRole("heading", { level: 1 }).waitFor();
  const banner = page.getByText("No worker runs");
  expect(await banner.count()).toBe(0);
  await seenAt("21 s");
  await page.clock.fastForward("00:09");
  await banner.waitFor();
  await seenAt("0 s");
  await page.clock.fastForward("00:09");
  await banner.waitFor({ state: "detached" });
  await seenAt("21 s");
  const merchant = await world.open(world.people.merchant);
  await merchant.goto("/orders");
  await merchant.getByRole("heading", { level: 1 }).waitFor();
  expect(await merchant.getByText("No worker runs").count()).toBe(0);
});
