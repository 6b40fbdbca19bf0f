import { afterAll, beforeAll, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

it("the audit log shows changes by names in words, and finds them by a part of these", async () => {
  const page = await world.open(world.people.operator);
  const rows = page.locator("tbody tr");
  await visit(page, `/orders/${world.orders.fresh}`, "shop-1003");
  await visit(page, "/audit-log", "Audit log");
  await page.getByText("Hold order", { exact: true }).waitFor();
  expect(await page.getByText("Read an order", { exact: true }).count()).toBe(0);
  await page.getByRole("combobox", { name: "Changes, reads, sign-ins" }).click();
  await page.getByRole("option", { name: "Reads" }).click();
  await page.getByText("Read an order", { exact: true }).first().waitFor();
  expect(await page.getByText("Hold order", { exact: true }).count()).toBe(0);
  await page.getByRole("combobox", { name: "Changes, reads, sign-ins" }).click();
  await page.getByRole("option", { name: "All" }).click();
  await page.getByText("Hold order", { exact: true }).waitFor();
  await page.getByLabel("Operation", { exact: true }).fill("hold");
  await expect.poll(() => rows.count()).toBe(1);
  await rows.getByRole("button").last().click();
  const dialog = page.getByRole("dialog", { name: "Hold order" });
  await dialog.getByText("holdOrder").waitFor();
  await dialog.getByText(world.orders.held).waitFor();
});

it("the audit log speaks German, also when one searches", async () => {
  const page = await world.open(world.people.operator, { language: "de-DE" });
  await visit(page, "/audit-log?action=anhalten", "Protokoll");
  await page.getByText("Bestellung anhalten", { exact: true }).waitFor();
  await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
});
