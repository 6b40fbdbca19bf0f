import { afterAll, beforeAll, expect, it } from "vitest";
import { startWorld, type World } from "../../console/world.ts";
import { visit } from "../../support/browser.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

it("leaves out what an address names that its page cannot read or does not know, from the address too", async () => {
  const page = await world.open(world.people.operator);
  await page.clock.setFixedTime(world.service.clock.now()); // The account begins with the month of the browser.
  const account = `/merchants/${world.partner.merchantId}/account`;
  const rejected: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 422) rejected.push(response.url());
  });
  for (const [address, heading, kept] of [
    ["/orders?status=SHIPPED", "Orders", "/orders"],
    ["/orders?utm_source=newsletter&status=NEW", "Orders", "/orders?status=NEW"],
    ["/orders?limit=1", "Orders", "/orders"],
    ["/orders?createdSince=yesterday", "Orders", "/orders"],
    ["/orders?createdSince=2026-02-30T00:00:00Z", "Orders", "/orders"],
    ["/merchants?fbclid=1", "Merchants", "/merchants"],
    ["/work?x=1", "Work list", "/work"],
    [`${account}?from=abc`, /^Account of/, account],
    [`${account}?from=2026-13-45&to=2026-02-30`, /^Account of/, account],
    [`${account}?from=2026-02-28`, /^Account of/, `${account}?from=2026-02-28`],
  ] as const) {
    await visit(page, address, heading);
    const { pathname, search } = new URL(page.url());
    expect.soft(`${pathname}${search}`, address).toBe(kept);
    expect.soft(await page.getByRole("alert").count(), address).toBe(0);
    if (heading === "Orders") await page.getByRole("link", { name: "shop-1003" }).waitFor();
  }
  expect(rejected).toEqual([]);
});

it("says that a list is empty, not that its filters match nothing, if the address has none that it knows", async () => {
  const page = await world.open(world.people.operator);
  await visit(page, "/tokens?utm_source=newsletter", "Tokens");
  await page.getByText("There are no tokens yet.").waitFor();
});
