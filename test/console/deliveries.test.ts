import { afterAll, beforeAll, expect, it } from "vitest";
import { findingsOf } from "../support/browser.ts";
import { runJob } from "../support/jobs.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

it("are found over all connections, chosen, and sent again with progress, until a person stops it", async () => {
  const page = await world.open(world.people.merchant);
  await page.goto("/deliveries?status=pending");
  await page.getByRole("checkbox", { name: "Choose all on this page" }).check();
  const [first] = await page.getByRole("checkbox", { name: /^Choose order\.created/ }).all();
  await first?.uncheck();
  const count = (await page.getByRole("row").count()) - 2;
  await page.getByText(new RegExp(`^${count} deliver(y is|ies are) chosen`)).waitFor();
  await page.getByRole("button", { name: `Send ${count} again` }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Receivers ignore an id that they know.").waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Send again" }).click();
  const progress = page.getByRole("region", { name: "Being sent again" });
  await progress.getByText(`0 of ${count} done`).waitFor();
  await runJob(world.service, "resend-deliveries");
  await progress.getByText(`${count} on the way`).waitFor();
  await progress.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
  await progress.getByText("Canceled").waitFor();
});

it("of a period are sent again with the filters of the log, and a wrong period says why not", async () => {
  const page = await world.open(world.people.partner);
  await page.goto(`/connections/${world.partner.connectionId}/deliveries?status=pending`);
  await page.getByRole("button", { name: "Send a period again" }).click();
  const dialog = page.getByRole("dialog", { name: "Send a period again" });
  await dialog.getByLabel("First day").fill("2025-01-01");
  await dialog.getByLabel("Last day").fill("2026-03-02");
  await dialog.getByRole("button", { name: "Send again" }).click();
  await dialog.locator("[aria-invalid=true]").first().waitFor();
  await dialog.getByLabel("First day").fill("2026-03-01");
  await dialog.getByRole("button", { name: "Send again" }).click();
  await page.getByText("The deliveries are being sent again.").waitFor();
});

it("are read by support, which finds nothing to choose and nothing to send", async () => {
  const page = await world.open(world.people.support);
  await page.goto("/deliveries");
  await page.getByRole("link", { name: "order.created" }).first().waitFor();
  expect(await page.getByRole("checkbox").count()).toBe(0);
  await page.goto(`/connections/${world.partner.connectionId}/deliveries`);
  await page.getByRole("link", { name: "order.created" }).first().waitFor();
  expect(await page.getByRole("button", { name: /again/ }).count()).toBe(0);
});

it("keep saved views of the list of orders for their owner only", async () => {
  const page = await world.open(world.people.operator);
  await page.goto("/orders?onHold=true");
  await page.getByRole("link", { name: "shop-1002" }).waitFor();
  await page.getByRole("button", { name: "Saved views" }).click();
  await page.getByLabel("Name", { exact: true }).fill("On hold");
  await page.getByRole("button", { name: "Save this view" }).click();
  await page.getByText("The view was saved.").waitFor();
  await page.getByRole("button", { name: "Saved views" }).click();
  await page.getByLabel("Name", { exact: true }).fill("On hold ");
  await page.getByRole("button", { name: "Save this view" }).click();
  await page.getByText("Another of your views has this name.").waitFor();
  await page.goto("/orders");
  await page.getByRole("button", { name: "Saved views" }).click();
  expect(await findingsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "On hold" }).click();
  await expect.poll(() => page.url()).toBe(`${world.url}/orders?onHold=true`);
  await page.goto("/orders?status=NEW");
  await page.getByRole("button", { name: "Saved views" }).click();
  await page.getByRole("button", { name: "Replace “On hold” by the present filters" }).click();
  await page.getByText("The view has the present filters now.").waitFor();
  await page.getByRole("button", { name: "Rename “On hold”" }).click();
  await page.getByLabel("New name of “On hold”").fill("Fresh");
  expect(await findingsOf(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.getByText("The view was renamed.").waitFor();
  await page.goto("/orders");
  await page.getByRole("button", { name: "Saved views" }).click();
  await page.getByRole("link", { name: "Fresh" }).click();
  await expect.poll(() => page.url()).toBe(`${world.url}/orders?status=NEW`);
  const other = await world.open(world.people.merchant);
  await other.goto("/orders");
  await other.getByRole("button", { name: "Saved views" }).click();
  await other.getByText("You have saved no views yet.").waitFor();
  await page.getByRole("button", { name: "Saved views" }).click();
  await page.getByRole("button", { name: "Delete the view “Fresh”" }).click();
  await page.getByText("The view was deleted.").waitFor();
});
