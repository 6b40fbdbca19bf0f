import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsOf, visit } from "../support/browser.ts";
import { createFacility, setStock } from "../support/facilities.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

describe("what was created can be changed", () => {
  it("a merchant: its name, its mail address and who completes its orders", async () => {
    const { merchantId } = world.partner;
    const page = await world.open(world.people.operator);
    await visit(page, `/merchants/${merchantId}`, "Merchant");
    await page.getByRole("button", { name: "Change", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Change" });
    await dialog.getByLabel("Name").fill("Acme Ltd");
    await dialog.getByLabel("Mail address").fill("orders@example.com");
    await dialog.getByLabel("Orders are completed by the service").check();
    expect(await findingsOf(page), "the dialog").toEqual([]);
    await dialog.getByRole("button", { name: "Change" }).click();
    await page.getByRole("heading", { level: 1, name: "Acme Ltd" }).waitFor();
    const { body } = await world.service.backOffice.get(`/api/merchants/${merchantId}`);
    expect(body).toMatchObject({
      ...{ name: "Acme Ltd", accountEmail: "orders@example.com", completeWhenShipped: true },
    });
    const own = await world.open(world.people.merchant);
    await visit(own, `/merchants/${merchantId}`, "Acme Ltd");
    expect(await own.getByRole("button", { name: "Change", exact: true }).count()).toBe(0);
  });

  it("a connection: its name, by its merchant too", async () => {
    const page = await world.open(world.people.merchant);
    await visit(page, `/connections/${world.partner.connectionId}`, "Partner");
    await page.getByRole("button", { name: "Rename" }).click();
    const dialog = page.getByRole("dialog", { name: "Rename" });
    await dialog.getByLabel("Name").fill("Corner shop");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { level: 1, name: "Corner shop" }).waitFor();
  });
});

describe("a merchant", () => {
  it("sees its own stock, by facility", async () => {
    const { service, partner, people } = world;
    const facility = await createFacility(service);
    await setStock(service, facility, partner.productIds[0], 7);
    const page = await world.open(people.merchant);
    await visit(page, `/merchants/${partner.merchantId}/stock`, /^Stock of/);
    const row = page.getByRole("row").filter({ hasText: "Facility: 7" });
    await row.waitFor();
    expect(await findingsOf(page), "the stock").toEqual([]);
  });
});

describe("an order", () => {
  it("leads to its merchant, its connection and its products, as far as the person sees them", async () => {
    const { partner, people, orders } = world;
    const linksFor = async (person: keyof World["people"]) => {
      const page = await world.open(people[person]);
      await visit(page, `/orders/${orders.fresh}`, "shop-1003");
      const main = page.locator("main");
      const counts = [
        `/merchants/${partner.merchantId}`,
        `/connections/${partner.connectionId}`,
        `/products/${partner.productIds[0]}`,
      ].map((path) => main.locator(`a[href="${path}"]`).count());
      return Promise.all(counts);
    };
    expect(await linksFor("merchant")).toEqual([1, 1, 1]);
    expect(await linksFor("partner")).toEqual([0, 1, 0]);
  });
});
