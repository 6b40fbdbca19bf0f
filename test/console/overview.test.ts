import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { type Floor, openFloor } from "./floor.ts";
import { startWorld, type World } from "./world.ts";

let world: World & Floor;
beforeAll(async () => {
  const started = await startWorld();
  world = { ...started, ...(await openFloor(started)) };
});
afterAll(() => world.close());

const region = (page: Page, name: string) => page.getByRole("region", { name });
const rowsOf = async (page: Page): Promise<string[]> => {
  await page.getByRole("heading", { level: 1, name: "Orders" }).waitFor();
  const links = page.locator("tbody [data-row-link]");
  await links.first().waitFor();
  return links.allTextContents();
};

describe("the overview", () => {
  it("leads from each figure to the list of exactly these orders", async () => {
    const page = await world.open(world.people.operator);
    await visit(page, "/", "Overview");
    await region(page, "Needs attention")
      .getByRole("link", { name: /1.*Merchant's request/ })
      .click();
    expect(await rowsOf(page)).toEqual(["shop-1002"]);
    await page.goBack();
    await region(page, "On hold")
      .getByRole("link", { name: /Merchant's request/ })
      .click();
    expect(await rowsOf(page)).toEqual(["shop-1002"]);
    await page.getByRole("button", { name: "Remove the filter Merchant's request" }).click();
    await page.waitForURL((url) => !url.search.includes("holdReason"));
  });

  it("shows the numbers of its chart as a table, whose numbers are links too", async () => {
    const page = await world.open(world.people.merchant);
    await visit(page, "/?days=7", "Overview");
    await page.getByRole("group", { name: /^Bar chart of the orders/ }).waitFor();
    await page.getByText("Table", { exact: true }).click();
    const table = page.getByRole("table", { name: "Orders by day" });
    const total = table.getByRole("row").last().getByRole("link").first();
    await total.click();
    expect((await rowsOf(page)).toSorted()).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((number) => `shop-100${number}`),
    );
    await page.getByRole("button", { name: /^Remove the filter Created since/ }).waitFor();
  });

  it("opens the orders of a status and a day from a part of a bar", async () => {
    const page = await world.open(world.people.operator);
    await visit(page, "/", "Overview");
    const bar = page
      .getByRole("group", { name: /^Bar chart/ })
      .getByRole("link", { name: /orders?$/ })
      .last();
    await bar.locator("[data-status=NEW]").click();
    await rowsOf(page);
    const { searchParams } = new URL(page.url());
    expect(searchParams.get("createdSince")).toMatch(/T00:00:00.000Z$/);
    expect(searchParams.get("status")).toBe("NEW");
  });

  it("shows the warehouse what waits at a facility, and leads to its lists", async () => {
    const page = await world.open(world.people.warehouse);
    await visit(page, "/", "Overview");
    const hall = region(page, "Hall one");
    await hall.getByText("To pack").waitFor();
    expect(await hall.getByRole("term").allTextContents()).toEqual([
      ...["To pack", "Oldest, ordered", "On hold here", "Orders shipped", "Orders returned"],
    ]);
    expect(await hall.getByRole("definition").first().textContent()).toMatch(/^3/);
    await region(page, "Needs attention")
      .getByRole("link", { name: /1.*Merchant's request/ })
      .click();
    expect(await rowsOf(page)).toEqual(["shop-1002"]);
    await page.goBack();
    await hall.getByRole("link", { name: "Open the work list" }).click();
    await page.getByRole("heading", { level: 1, name: "Work list" }).waitFor();
    expect(new URL(page.url()).searchParams.get("facilityId")).toBe(world.facilityId);
    await page.getByRole("link", { name: "shop-1004" }).waitFor();
    expect((await page.request.get("/api/overview")).status()).toBe(403);
  });

  it("shows a partner's developer its connection", async () => {
    const page = await world.open(world.people.partner);
    await visit(page, "/", "Overview");
    await region(page, "Webhooks, last 24 hours")
      .getByRole("link", { name: /^Pending/ })
      .click();
    await page.getByRole("heading", { level: 1, name: "Webhook endpoints" }).waitFor();
    expect((await page.request.get("/api/work-list/overview")).status()).toBe(403);
  });
});
