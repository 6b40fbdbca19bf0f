import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const FIELD = "Search pages, orders, connections and people";

describe("the palette", () => {
  it("keeps every key from the first on while its code is loaded, and none of them is a shortcut", async () => {
    const page = await world.open(world.people.operator);
    const mayLoad = Promise.withResolvers<void>();
    await page.route("**/palette-found*.js", async (route) => {
      await mayLoad.promise;
      await route.continue();
    });
    await visit(page, "/system", "System");
    await page.keyboard.press("Control+k");
    // `g o` would open the orders, and `?` the list of shortcuts.
    await page.keyboard.type("go shop-1002?");
    await page.keyboard.press("Backspace");
    const field = page.getByRole("combobox", { name: FIELD });
    expect(await field.inputValue()).toBe("go shop-1002");
    await field.fill("shop-1002");
    await page.keyboard.press("Enter");
    mayLoad.resolve();
    await page.getByRole("heading", { level: 1, name: "shop-1002" }).waitFor();
    expect(await page.getByRole("dialog").allTextContents()).toEqual([]);
  });

  it("opens what was typed, not what was found for an older text, however fast Enter follows", async () => {
    const page = await world.open(world.people.operator);
    await visit(page, "/system", "System");
    await page.keyboard.press("Control+k");
    const search = page.getByRole("combobox", { name: FIELD });
    await search.fill("shop-1001");
    await page.getByRole("option", { name: /^shop-1001/ }).waitFor();
    const pressed = Promise.withResolvers<void>();
    await page.route("**/api/search?q=shop-1002", async (route) => {
      await pressed.promise;
      await route.continue();
    });
    await search.fill("shop-1002");
    await page.keyboard.press("Enter");
    pressed.resolve();
    await page.getByRole("heading", { level: 1, name: "shop-1002" }).waitFor();
    expect(await search.count()).toBe(0);
  });

  it("shows the recipient, the state and the age of an order, and finds it by a tracking number", async () => {
    const page = await world.open(world.people.merchant);
    await visit(page, "/", "Overview");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: FIELD }).fill("JD014600003RS");
    const option = page.getByRole("group", { name: "Orders" }).getByRole("option");
    expect(await option.textContent()).toMatch(/^shop-1001Ada Lovelace · PartnerIn progress.* ago$/);
  });

  it("finds a delivery by its id and by that of its event", async () => {
    const page = await world.open(world.people.partner);
    await visit(page, "/", "Overview");
    const { partner, deliveryId } = world;
    const { eventId } = await (
      await page.request.get(`/api/connections/${partner.connectionId}/deliveries/${deliveryId}`)
    ).json();
    for (const id of [eventId, deliveryId]) {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: FIELD }).fill(id);
      await page.getByRole("group", { name: "Deliveries" }).getByRole("option").first().click();
      await page.getByRole("heading", { level: 1, name: "order.created" }).waitFor();
    }
  });

  it("does what the role may do with an order, by the button of its page", async () => {
    const page = await world.open(world.people.merchant);
    await visit(page, "/", "Overview");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: FIELD }).fill("hold shop-1003");
    await page.getByRole("option", { name: /^Hold shop-1003/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Hold" }).waitFor();
    await page.keyboard.press("Escape");
    const support = await world.open(world.people.support);
    await visit(support, "/", "Overview");
    await support.keyboard.press("Control+k");
    await support.getByRole("combobox", { name: FIELD }).fill("hold shop-1003");
    await support.getByRole("option", { name: /^shop-1003/ }).waitFor();
    expect(await support.getByRole("group", { name: "Actions" }).count()).toBe(0);
  });

  it("speaks German, and takes the German word for an action", async () => {
    const page = await world.open(world.people.operator, { language: "de-DE" });
    await page.goto("/");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("shop-1003 anhalten");
    await page
      .getByRole("group", { name: "Aktionen" })
      .getByRole("option", { name: /shop-1003/ })
      .waitFor();
    await page.getByRole("combobox").fill("anlegen");
    await page.getByRole("option", { name: "Händler anlegen…" }).click();
    await page.getByRole("dialog", { name: "Händler anlegen" }).waitFor();
  });
});

it("a letter presses the button of the page that has it, but not as a part of a scan", async () => {
  const page = await world.open(world.people.operator);
  await visit(page, `/orders/${world.orders.fresh}`, "shop-1003");
  await page.keyboard.type("hx");
  await page.keyboard.press("h");
  await page.getByRole("dialog", { name: "Hold" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(1);
});
