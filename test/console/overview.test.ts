import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Person } from "../../src/people/person.ts";
import { visit } from "../support/browser.ts";
import { createProduct } from "../support/builders.ts";
import { createPerson } from "../support/people.ts";
import { uuidIn } from "../support/webhooks.ts";
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
  it("leads from each task to the list of exactly these orders, with the age of the oldest", async () => {
    const page = await world.open(world.people.operator);
    await visit(page, "/", "Overview");
    const task = region(page, "To do").getByRole("listitem").filter({ hasText: "Merchant's request" });
    expect(await task.textContent()).toMatch(/^1 on hold: Merchant's request.* agoOpen$/);
    await task.getByRole("link", { name: "Open" }).click();
    expect(await rowsOf(page)).toEqual(["shop-1002"]);
    await page.getByRole("button", { name: "Remove the filter Merchant's request" }).click();
    await page.waitForURL((url) => !url.search.includes("holdReason"));
  });

  it("counts beside the navigation what waits, of the pages that the person has", async () => {
    const page = await world.open(world.people.operator);
    await visit(page, "/orders", "Orders");
    const navigation = page.getByRole("navigation", { name: "Navigation" });
    const orders = navigation.getByRole("link", { name: "Orders" });
    await orders.filter({ hasText: /^Orders2$/ }).waitFor();
    expect(await orders.getAttribute("title")).toBe("Orders: 1 on hold, 1 in review");
    const tabs = page.getByRole("navigation", { name: "Orders" }).getByRole("link");
    expect(await tabs.allTextContents()).toEqual(["Orders1", "Review queue1", "Returns"]);
    const merchant = await world.open(world.people.merchant);
    await visit(merchant, "/", "Overview");
    await merchant.getByRole("navigation", { name: "Navigation" }).getByText(/^1$/).waitFor();
    expect(await merchant.getByTitle("Orders: 1 on hold").count()).toBe(1);
  });

  it("names what keeps the service from its work before all else, to its operators alone", async () => {
    const page = await world.open(world.people.operator);
    await visit(page, "/", "Overview");
    // The clock of this test is behind that of the database.
    const first = region(page, "To do").getByRole("listitem").first();
    await first.filter({ hasText: /^Clock: / }).waitFor();
    await first.getByRole("link", { name: "System" }).click();
    await page.getByRole("heading", { level: 1, name: "System" }).waitFor();
    const merchant = await world.open(world.people.merchant);
    await visit(merchant, "/", "Overview");
    await region(merchant, "To do").getByRole("listitem").first().waitFor();
    expect(
      await region(merchant, "To do")
        .getByText(/^Clock: /)
        .count(),
    ).toBe(0);
  });

  it("shows today beside yesterday, in the days of the person, without prices to a partner's developer", async () => {
    const figuresOf = async (person: Person) => {
      const page = await world.open(person);
      await visit(page, "/", "Overview");
      const figures = page.getByLabel("Today", { exact: true });
      await figures.waitFor();
      return (await figures.getByRole("term").allTextContents()).slice(0, 5);
    };
    expect(await figuresOf(world.people.merchant)).toEqual([
      ...["Orders today", "Shipped", "Late", "Value", "Returned"],
    ]);
    expect((await figuresOf(world.people.partner)).slice(0, 3)).toEqual([
      ...["Orders today", "Shipped", "Returned"],
    ]);
  });

  it("leads a new merchant to its first order", async () => {
    const { service } = world;
    const { body } = await service.backOffice.post("/api/merchants", {
      name: "Nora's",
      accountEmail: "nora@example.com",
    });
    const merchant: string = body.id;
    const owner = await createPerson(service, {
      name: "Nora",
      email: "nora@example.com",
      grants: [{ role: "merchant", merchantIds: [uuidIn("mer", merchant)] }],
    });
    const page = await world.open(owner);
    await visit(page, "/", "Overview");
    const steps = region(page, "First steps").getByRole("listitem");
    await expect
      .poll(() => steps.getByRole("link").allTextContents())
      .toEqual(["Add products", "Create a connection", "Expose products"]);
    const boxes = await Promise.all((await steps.all()).map((step) => step.boundingBox()));
    expect(new Set(boxes.map((box) => box?.x)).size, "they are below each other").toBe(1);
    await createProduct(service, merchant, { sku: "FIRST" });
    await page.reload();
    await steps.first().getByRole("img", { name: "Done" }).waitFor();
    await steps.nth(1).getByRole("link").click();
    await page.getByRole("button", { name: "Create connection" }).waitFor();
    await visit(page, "/connections", "Connections");
    await page.getByText("There are no connections yet. Create one for each partner.").waitFor();
    await page.getByRole("button", { name: "Create connection" }).waitFor();
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
    // A part is a few pixels high, and the page may still move while a mouse is pressed on it.
    await bar.locator("[data-status=NEW]").dispatchEvent("click");
    await rowsOf(page);
    const { searchParams } = new URL(page.url());
    expect(searchParams.get("createdSince")).toMatch(/T2[23]:00:00.000Z$/); // Midnight in Berlin.
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
    await region(page, "To do")
      .getByRole("listitem")
      .filter({ hasText: "Merchant's request" })
      .getByRole("link")
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
    await page
      .getByLabel("Today", { exact: true })
      .getByRole("link", { name: / waits?$/ })
      .click();
    await page.getByRole("heading", { level: 1, name: "Webhook endpoints" }).waitFor();
    expect((await page.request.get("/api/work-list/overview")).status()).toBe(403);
  });
});
