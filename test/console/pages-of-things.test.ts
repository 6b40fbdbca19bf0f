import { afterAll, beforeAll, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { placeAcceptedOrder } from "../support/real-orders.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

it("what was begun on the page of an order ends with it, and the next page begins at its heading", async () => {
  const { service, partner } = world;
  const first = await placeAcceptedOrder(service, partner, { externalOrderId: "page-first" });
  await placeAcceptedOrder(service, partner, { externalOrderId: "page-second" });
  const page = await world.open(world.people.operator);
  await visit(page, `/orders/${first.id}`, "page-first");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search" }).fill("page-second");
  await page.getByRole("option", { name: /^page-second/ }).click();
  await visit(page, null, "page-second");
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("page-second");
  await page.getByRole("button", { name: "Cancel order" }).click();
  await page.getByRole("dialog", { name: "Cancel order" }).waitFor();
  await page.goBack();
  await visit(page, null, "page-first");
  expect(await page.getByRole("dialog").count()).toBe(0);
});
