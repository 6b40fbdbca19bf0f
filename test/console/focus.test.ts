import { afterAll, beforeAll, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { routeAll } from "../support/facilities.ts";
import { placeAcceptedOrder } from "../support/real-orders.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

it("the focus stays on the page of an order when an action removes its button, and a return begins with a field", async () => {
  const { service, partner } = world;
  const { id } = await placeAcceptedOrder(service, partner, { externalOrderId: "by-keyboard" });
  await routeAll(service);
  const page = await world.open(world.people.warehouse);
  await visit(page, `/orders/${id}`, "by-keyboard");
  const focused = () => page.evaluate("document.activeElement.tagName");
  await page.getByRole("button", { name: "Ship", exact: true }).press("Enter");
  await page.getByRole("dialog", { name: "Ship" }).getByLabel("Carrier").press("Enter");
  await page.getByRole("button", { name: "Record return" }).waitFor();
  await expect.poll(focused).toBe("H1");
  await page.getByRole("button", { name: "Record return" }).press("Enter");
  await page.getByRole("dialog", { name: "Record return" }).waitFor();
  await expect.poll(focused).toBe("INPUT");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Record return");
});
