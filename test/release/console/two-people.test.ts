import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toTypeId } from "../../../src/platform/ids.ts";
import { startWorld, type World } from "../../console/world.ts";
import { visit } from "../../support/browser.ts";
import { createProduct, placeOrder } from "../../support/builders.ts";
import { aRate, createFacility, routeAll } from "../../support/facilities.ts";
import { createPerson } from "../../support/people.ts";
import { operationApplied, placeAcceptedOrder, readDetail } from "../../support/real-orders.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const OVERTAKEN = "Another person has changed this since you opened it.";

/** Both have the page open before one of them changes anything. */
async function openTwice(path: string, heading: string): Promise<[first: Page, second: Page]> {
  const first = await world.open(world.people.operator);
  const second = await first.context().newPage();
  for (const page of [first, second]) await visit(page, path, heading);
  return [first, second];
}

it("who edits rates that another person has changed sees the new ones, keeps what was typed, and undoes nothing", async () => {
  const { service } = world;
  const rates = [aRate(), aRate({ country: "JP", amount: "700", currency: "JPY" })];
  const path = `/facilities/${await createFacility(service, { rates })}`;
  const [first, second] = await openTwice(path, "Facility");
  for (const page of [first, second]) await page.getByRole("button", { name: "Edit rates" }).click();
  const price = (page: Page, row: number) =>
    page.getByRole("group", { name: `Rate ${row}` }).getByRole("textbox", { name: "Price" });
  const save = (page: Page) => page.getByRole("button", { name: "Save rates" }).click();
  const storedPrices = async () => {
    const { body } = await service.backOffice.get(`/api${path}/rates`);
    return body.rates.map((rate: { price: { amount: string } }) => rate.price.amount);
  };
  await price(first, 1).fill("9.99");
  await save(first);
  await first.getByText("The rates are saved.").waitFor();

  await price(second, 2).fill("750");
  await save(second);
  await second.getByText(OVERTAKEN).waitFor();
  const stored = second.getByRole("region", { name: "Stored now" });
  await stored.getByText("9.99").waitFor();
  expect(await price(second, 2).inputValue()).toBe("750");
  expect(await storedPrices()).toEqual(["9.99", "700"]);

  await price(second, 1).fill("9.99");
  await save(second);
  await second.getByText("The rates are saved.").waitFor();
  expect(await storedPrices()).toEqual(["9.99", "750"]);
});

it("who changes the access of a person gives back no role that was just taken away", async () => {
  const { service } = world;
  const person = await createPerson(service, {
    name: "Ruth",
    grants: [{ role: "monitoring" }, { role: "support" }],
  });
  const path = `/people/${toTypeId("per", person.id)}`;
  const [first, second] = await openTwice(path, "Ruth");
  const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Change access" });
  const confirm = (page: Page) => dialogOf(page).getByRole("button", { name: "Change access" }).click();
  for (const page of [first, second]) await page.getByRole("button", { name: "Change access" }).click();
  await dialogOf(first).getByLabel("Support").uncheck();
  await confirm(first);
  await first.getByText("The access was changed.").waitFor();

  await dialogOf(second).getByLabel("Warehouse").check();
  await confirm(second);
  await dialogOf(second).getByText(OVERTAKEN).waitFor();
  const stored = dialogOf(second).getByRole("region", { name: "Stored now" });
  await expect.poll(() => stored.getByText("Support").count()).toBe(0);
  expect(await dialogOf(second).getByLabel("Warehouse").isChecked()).toBe(true);
  const { grants } = (await service.backOffice.get(`/api${path}`)).body;
  expect(grants).toMatchObject([{ role: "monitoring" }]);
});

it("who changes a review policy does not undo the limit of another person", async () => {
  const { service, partner } = world;
  const path = `/connections/${partner.connectionId}`;
  const { name, reviewPolicy } = (await service.backOffice.get(`/api${path}`)).body;
  expect(reviewPolicy.maxQuantity).toBeNull();
  const [first, second] = await openTwice(path, name);
  const section = (page: Page) => page.getByRole("region", { name: "Review policy" });
  for (const page of [first, second]) await section(page).getByRole("button", { name: "Change" }).click();
  const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Change" });
  const confirm = (page: Page) => dialogOf(page).getByRole("button", { name: "Change" }).click();
  await dialogOf(first).getByLabel("Units in an order").fill("7");
  await confirm(first);
  await first.getByText("The review policy was changed.").waitFor();

  await dialogOf(second).getByLabel("Countries").fill("DE");
  await confirm(second);
  await dialogOf(second).getByText(OVERTAKEN).waitFor();
  await dialogOf(second).getByRole("region", { name: "Stored now" }).getByText("7").waitFor();
  const stored = (await service.backOffice.get(`/api${path}`)).body.reviewPolicy;
  expect(stored).toMatchObject({ maxQuantity: 7, countries: null });
});

it("who renames a person leaves the address that another person has changed", async () => {
  const { service } = world;
  const person = await createPerson(service, { name: "Rita", email: "rita@example.com" });
  const path = `/people/${toTypeId("per", person.id)}`;
  const page = await world.open(world.people.operator);
  await visit(page, path, "Rita");
  await page.getByRole("button", { name: "Change name or mail" }).click();
  await service.backOffice.request("PATCH", `/api${path}`, { body: { email: "rita@example.org" } });
  await page.getByRole("dialog").getByLabel("Name").fill("Rita R.");
  await page.getByRole("dialog").getByRole("button", { name: "Change name or mail" }).click();
  await page.getByRole("heading", { level: 1, name: "Rita R." }).waitFor();
  const { body } = await service.backOffice.get(`/api${path}`);
  expect(body).toMatchObject({ name: "Rita R.", email: "rita@example.org" });
});

async function openOrder(orderId: string): Promise<Page> {
  const page = await world.open(world.people.operator);
  await page.goto(`/orders/${orderId}`);
  return page;
}

/** A stream of updates that opens again makes the page of an order read it again. */
const readAgain = (page: Page) => page.evaluate("dispatchEvent(new Event('online'))");

it("who says that a shipment was delivered leaves the tracking number that another person has entered", async () => {
  const { service, partner } = world;
  const order = await placeAcceptedOrder(service, partner);
  await routeAll(service);
  const { shipments } = await operationApplied(service, order.id, "ship");
  const path = `/api/shipments/${shipments[0].id}`;
  const page = await openOrder(order.id);
  await page.getByRole("button", { name: "Change", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Change" });
  await dialog.getByRole("combobox", { name: "Status" }).click();
  await page.getByRole("option", { name: "Delivered" }).click();
  await service.backOffice.request("PATCH", path, {
    body: { carrier: "DHL", trackingNumber: "COLLEAGUE-1" },
  });
  await readAgain(page);
  await page.getByText("COLLEAGUE-1").waitFor();
  await dialog.getByRole("button", { name: "Change" }).click();
  await page.getByText("The shipment is changed.").waitFor();
  const stored = (await readDetail(service, order.id)).shipments;
  expect(stored).toMatchObject([{ status: "delivered", carrier: "DHL", trackingNumber: "COLLEAGUE-1" }]);
});

it("who corrects an address sees first what another person has corrected, and then changes only what was typed", async () => {
  const { service, partner } = world;
  const { id } = await placeOrder(partner);
  const page = await openOrder(id);
  await page.getByRole("button", { name: "Correct address" }).click();
  const dialog = page.getByRole("dialog", { name: "Correct address" });
  const confirm = () => dialog.getByRole("button", { name: "Correct address" }).click();
  await dialog.getByLabel("Phone").fill("+44 20 7946 0000");
  const correction = { city: "Leeds", zip: "LS1 1AA", address2: "Flat 7" };
  await service.backOffice.request("PATCH", `/api/orders/${id}/shipping-address`, { body: correction });
  await readAgain(page);
  await page.getByText("Flat 7").waitFor();
  await confirm();
  await dialog.getByText(OVERTAKEN).waitFor();
  await dialog.getByRole("region", { name: "Stored now" }).getByText("Leeds").waitFor();
  expect((await readDetail(service, id)).shippingAddress).toMatchObject({ ...correction, phone: null });
  await confirm();
  await page.getByText("The address is corrected.").waitFor();
  const stored = (await readDetail(service, id)).shippingAddress;
  expect(stored).toMatchObject({ ...correction, phone: "+44 20 7946 0000" });
});

it("who edits a product keeps what was typed when the page shows the change of another person", async () => {
  const { service, partner } = world;
  const id = await createProduct(service, partner.merchantId, { name: "Teapot" });
  const page = await world.open(world.people.operator);
  await page.clock.install();
  await visit(page, `/products/${id}`, "Teapot");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Edit" });
  await dialog.getByLabel("Description").fill("For two cups.");
  service.clock.advance({ ms: 1 });
  await service.backOffice.request("PATCH", `/api/products/${id}`, { body: { name: "Small teapot" } });
  await page.clock.fastForward("00:11"); // What the page has read is old by now, so it reads again when it is looked at.
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
  await page.getByText("Small teapot").first().waitFor();
  await dialog.getByRole("button", { name: "Edit" }).click();
  await page.getByText("The product was changed.").waitFor();
  const { body } = await service.backOffice.get(`/api/products/${id}`);
  expect(body).toMatchObject({ name: "Small teapot", description: "For two cups." });
});

it("who looks at the name of a facility, and saves it as it is, does not undo another person's", async () => {
  const { service } = world;
  const path = `/facilities/${await createFacility(service)}`;
  const page = await world.open(world.people.operator);
  await visit(page, path, "Facility");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await service.backOffice.request("PATCH", `/api${path}`, { body: { name: "Hall 7" } });
  await page.getByRole("dialog").getByRole("button", { name: "Edit" }).click();
  await page.getByRole("heading", { level: 1, name: "Hall 7" }).waitFor();
});
