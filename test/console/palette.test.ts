import { afterAll, beforeAll, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

it("the palette opens what was typed, not what was found for an older text, however fast Enter follows", async () => {
  const page = await world.open(world.people.operator);
  await visit(page, "/system", "System");
  await page.keyboard.press("Control+k");
  const search = page.getByRole("combobox", { name: "Search pages, orders, connections and people" });
  await search.fill("shop-1001");
  await page.getByRole("option", { name: /shop-1001/ }).waitFor();
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
