import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWorld, type World } from "../../console/world.ts";
import { visit } from "../../support/browser.ts";
import { linkToken } from "../../support/people.ts";
import { placeAcceptedOrder, readDetail } from "../../support/real-orders.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const shows = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).waitFor();
const tokenOfOperator = () => linkToken(world.service, world.people.operator, "sign-in");

/** The merchant's page of an order, with a dialog that was opened and not sent. */
async function openDialog(externalOrderId: string): Promise<[page: Page, id: string]> {
  const { id } = await placeAcceptedOrder(world.service, world.partner, { externalOrderId });
  const page = await world.open(world.people.merchant);
  await visit(page, `/orders/${id}`, externalOrderId);
  await page.getByRole("button", { name: "Cancel order" }).click();
  return [page, id];
}

describe("a tab in whose browser another person signs in", () => {
  it("shows that person, once another tab does", async () => {
    const [page] = await openDialog("tab-1");
    const tab = await page.context().newPage();
    await tab.goto(`/sign-in#token=${await tokenOfOperator()}`);
    await tab.getByRole("button", { name: "Continue" }).click();
    await shows(tab, "Olivia");
    await shows(page, "Olivia");
  });

  it("sends nothing in that person's name, if it did not learn of it", async () => {
    const [page, id] = await openDialog("tab-2");
    const { request } = page.context();
    const signedIn = await request.post("/auth/sign-in/link", {
      data: { token: await tokenOfOperator() },
      headers: { origin: world.url },
    });
    expect(signedIn.status()).toBe(200);
    const dialog = page.getByRole("dialog", { name: "Cancel order" });
    await dialog.getByRole("button", { name: "Cancel order" }).click();
    await shows(page, "Olivia");
    expect(await readDetail(world.service, id)).toMatchObject({ status: "ACCEPTED" });
  });
});
