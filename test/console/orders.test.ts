import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsOf, visit } from "../support/browser.ts";
import { anAddress, createPartner, placeOrder } from "../support/builders.ts";
import { routeAll } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import {
  operationApplied,
  operationsOf,
  placeAcceptedOrder,
  readDetail,
  requestOperation,
} from "../support/real-orders.ts";
import { startWorld, type World } from "./world.ts";

const FIRST_LOAD_BYTES_MAX = 300 * 1_024;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

/** An order that the warehouse can ship. */
async function placeReadyOrder(externalOrderId: string, fields: object = {}) {
  const order = await placeAcceptedOrder(world.service, world.partner, { externalOrderId, ...fields });
  await routeAll(world.service);
  return order;
}

describe("the list of orders", () => {
  it("loads less than 300 KiB at first, compressed, with the fields of all responses", async () => {
    const page = await world.open(world.people.operator);
    await page.goto("/orders");
    await page.getByRole("link", { name: "shop-1003" }).waitFor();
    const sizes: number[] = await page.evaluate(
      `performance.getEntries().flatMap(({ entryType, transferSize }) =>
        entryType === "resource" || entryType === "navigation" ? [transferSize] : [])`,
    );
    expect(sizes.length).toBeGreaterThan(5);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(FIRST_LOAD_BYTES_MAX);
  });

  it("keeps its filters in the address, and moves by j, k and Enter", async () => {
    const page = await world.open(world.people.operator);
    await page.goto("/orders?onHold=true");
    await page.getByRole("link", { name: "shop-1002" }).waitFor();
    expect(await page.getByRole("row").count(), "the head and one order").toBe(2);
    await page.getByLabel("Id, name, company or tracking number").fill("nothing of this name");
    await page.getByText("No order matches these filters.").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("link", { name: "shop-1002" }).waitFor();
    expect(page.url()).toBe(`${world.url}/orders?onHold=true`);
    await page.goto(`/orders?q=${"x".repeat(201)}`);
    await page.getByRole("listitem").filter({ hasText: "q must have at most 200 characters" }).waitFor();

    await page.goto("/orders");
    await page.getByRole("link", { name: "shop-1003" }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "shop-1002" }).waitFor();
  });

  it("does one action on all chosen orders: those that reject it stay chosen, with the reason", async () => {
    const first = await placeOrder(world.partner, { externalOrderId: "bulk-1" });
    const second = await placeOrder(world.partner, { externalOrderId: "bulk-2" });
    await operationApplied(world.service, second.id, "cancel");
    const page = await world.open(world.people.merchant);
    await visit(page, "/orders?q=bulk-", "Orders");
    await page.getByRole("checkbox", { name: "Select this page" }).check();
    await page.getByText("2 orders", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Hold", exact: true }).click();
    await page.getByRole("dialog", { name: "Hold" }).getByRole("button", { name: "Hold" }).click();
    const rejected = page.getByRole("alert").filter({ hasText: "1 order was not changed" });
    await rejected.waitFor();
    expect(await rejected.getByRole("listitem").allTextContents()).toEqual([
      expect.stringMatching(/^bulk-2: ./),
    ]);
    expect(await page.getByRole("checkbox", { name: "bulk-2" }).isChecked()).toBe(true);
    expect(await page.getByRole("checkbox", { name: "bulk-1" }).isChecked()).toBe(false);
    expect((await readDetail(world.service, first.id)).onHold).toBe(true);
  });

  it("is narrowed to days of the person's zone, and to a merchant that is found by its name", async () => {
    const other = await createPartner(world.service);
    const body = { name: "Paper Ltd" };
    await world.service.backOffice.request("PATCH", `/api/merchants/${other.merchantId}`, { body });
    await placeOrder(other, { externalOrderId: "paper-1" });
    const day = world.service.clock.now().toISOString().slice(0, 10);
    const page = await world.open(world.people.operator);
    await visit(page, "/orders", "Orders");
    await page.getByRole("button", { name: "More filters" }).click();
    await page.getByLabel("From", { exact: true }).fill(day);
    await page.getByLabel("To", { exact: true }).fill(day);
    await page.getByRole("combobox", { name: "Merchant" }).fill("paper");
    await page.getByRole("option", { name: "Paper Ltd" }).click();
    await page.getByRole("link", { name: "paper-1" }).waitFor();
    await page.getByRole("link", { name: "shop-1003" }).waitFor({ state: "detached" });
    const { searchParams } = new URL(page.url());
    const [since, until] = ["createdSince", "createdUntil"].map((name) => searchParams.get(name));
    const midnight = `${new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)}T23:00:00.000Z`;
    expect([since, until]).toEqual([midnight, `${day}T23:00:00.000Z`]);
    await page.getByRole("button", { name: "Remove the filter Paper Ltd" }).click();
    await page.getByRole("link", { name: "shop-1003" }).waitFor();
    await page.getByLabel("To", { exact: true }).fill("2020-01-01");
    await page.getByText("No order matches these filters.").waitFor();
  });

  it("is in German for a browser that asks for it, and stays in the chosen language", async () => {
    const page = await world.open(world.people.operator, { language: "de-DE" });
    await page.goto("/orders");
    await page.getByRole("heading", { level: 1, name: "Bestellungen" }).waitFor();
    await page.goto(`/orders?q=${"x".repeat(201)}`); // What the service says about a field, too.
    await page.getByRole("listitem").filter({ hasText: "q darf höchstens 200 Zeichen haben" }).waitFor();
    await page.goto("/orders");
    await page.getByRole("button", { name: "Olivia" }).click();
    await page.getByText("English").click();
    await page.getByRole("heading", { level: 1, name: "Orders" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Orders" }).waitFor();
    expect(await page.getAttribute("html", "lang")).toBe("en");
  });
});

it("a page of a list that does not exist any more offers the first one", async () => {
  const page = await world.open(world.people.operator);
  await page.goto("/orders?cursor=of-another-list");
  await page.getByText("This page of the list does not exist any more.").waitFor();
  await page.getByRole("button", { name: "To the first page" }).click();
  await page.getByRole("link", { name: "shop-1003" }).waitFor();
  expect(page.url()).not.toContain("cursor");
});

describe("the keyboard", () => {
  it("opens the palette, which finds pages, orders, connections and people, and lists the shortcuts", async () => {
    const page = await world.open(world.people.operator);
    await page.goto("/system");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    const search = page.getByRole("combobox", { name: "Search pages, orders, connections and people" });
    await search.fill("shop-1001");
    await page
      .getByRole("option", { name: /shop-1001/ })
      .or(page.getByRole("button", { name: /shop-1001/ }))
      .first()
      .waitFor();
    expect(await findingsOf(page)).toEqual([]);
    const selected = await search.getAttribute("aria-activedescendant");
    expect(await page.locator(`[id="${selected}"][aria-selected=true]`).textContent()).toContain("shop-1001");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "shop-1001" }).waitFor();
    await page.keyboard.press("Control+k");
    await search.fill("partn");
    await page.getByText("Partner", { exact: true }).first().waitFor();
    await search.fill("walter");
    await page.getByText("walter@example.com").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Shortcuts" }).waitFor({ state: "hidden" });
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await page.getByRole("heading", { level: 1, name: "Orders" }).waitFor();
  });
});

describe("a page that opens", () => {
  it("has the focus on its heading, so that screen readers say where the person is", async () => {
    const page = await world.open(world.people.warehouse);
    // The link that was followed has the same text, and would take the key that is meant for the next one.
    const focused = () =>
      page.evaluate("document.activeElement.matches('h1') && document.activeElement.textContent");
    await visit(page, "/orders", "Orders");
    await page.getByRole("link", { name: "shop-1002" }).press("Enter");
    await expect.poll(focused).toBe("shop-1002");
    await page.getByRole("navigation").getByRole("link", { name: "Facilities" }).press("Enter");
    await expect.poll(focused).toBe("Facilities");
    await page.getByRole("navigation").getByRole("link", { name: "Orders" }).press("Enter");
    await expect.poll(focused).toBe("Orders");
    await page.getByRole("navigation").getByRole("link", { name: "Returns" }).press("Enter");
    await page.getByRole("heading", { level: 1, name: "Returns" }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("INPUT");
  });
});

describe("an order", () => {
  it("ships: the page shows the shipment, and the actions that are possible then", async () => {
    const { id } = await placeReadyOrder("to-ship");
    const page = await world.open(world.people.warehouse);
    await page.goto(`/orders/${id}`);
    await page.getByRole("button", { name: "Ship", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Ship" });
    await dialog.getByText("All lines ship, and the order is in progress.").waitFor();
    await dialog.getByLabel("Carrier").fill("DHL");
    await dialog.getByLabel("Tracking number").fill("JD01");
    await dialog.getByRole("button", { name: "Ship" }).click();
    await page.getByText("The shipment is recorded.").waitFor();
    await page.getByRole("link", { name: "JD01" }).waitFor();
    expect(await page.getByRole("button", { name: "Ship", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Record return" }).waitFor();
    const detail = await readDetail(world.service, id);
    expect(operationsOf(detail)).toContain("ship by warehouse");
  });

  it("has notes of the staff, which its partner does not see", async () => {
    const { id } = await placeReadyOrder("with-note");
    const page = await world.open(world.people.warehouse);
    await page.goto(`/orders/${id}`);
    await page.getByRole("button", { name: "Add note" }).click();
    const dialog = page.getByRole("dialog", { name: "Add note" });
    await dialog.getByRole("button", { name: "Add note" }).click();
    await dialog.getByText("This is needed.").waitFor();
    await dialog.getByLabel("Note").fill("The buyer moves on Friday.");
    await dialog.getByRole("button", { name: "Add note" }).click();
    await page.getByText("The note is added.").waitFor();
    const timeline = page.getByRole("region", { name: "Timeline" });
    await timeline.getByText("The buyer moves on Friday.").waitFor();
    await timeline.getByText("Note", { exact: true }).waitFor();
    const partner = await world.open(world.people.partner);
    await partner.goto(`/orders/${id}`);
    await partner.getByRole("heading", { level: 1, name: "with-note" }).waitFor();
    await partner.getByText("Created", { exact: true }).first().waitFor();
    expect(await partner.getByText("The buyer moves on Friday.").count()).toBe(0);
    expect(await partner.getByRole("button", { name: "Add note" }).count()).toBe(0);
  });

  it("gets tracking later: the shipment is with the carrier then, and is delivered when the warehouse says so", async () => {
    const { id } = await placeReadyOrder("tracked-later");
    await operationApplied(world.service, id, "ship");
    const page = await world.open(world.people.warehouse);
    await page.goto(`/orders/${id}`);
    const shipments = page.getByRole("table", { name: "Shipments" });
    await shipments.getByText("Pending").waitFor();
    await shipments.getByRole("button", { name: "Change" }).click();
    const dialog = page.getByRole("dialog", { name: "Change" });
    await dialog.getByLabel("Carrier").fill("DHL");
    await dialog.getByLabel("Tracking number").fill("JD02");
    await dialog.getByRole("button", { name: "Change" }).click();
    await page.getByText("The shipment is changed.").waitFor();
    await shipments.getByText("Shipped").waitFor();
    await shipments.getByRole("link", { name: "JD02" }).waitFor();
    await shipments.getByRole("button", { name: "Change" }).click();
    await dialog.getByRole("combobox", { name: "Status" }).click();
    await page.getByRole("option", { name: "Delivered" }).click();
    await dialog.getByRole("button", { name: "Change" }).click();
    await shipments.getByText("Delivered").waitFor();
    expect((await readDetail(world.service, id)).shipments).toMatchObject([
      { carrier: "DHL", trackingNumber: "JD02", status: "delivered" },
    ]);
    const merchant = await world.open(world.people.merchant);
    await merchant.goto(`/orders/${id}`);
    await merchant.getByRole("table", { name: "Shipments" }).waitFor();
    expect(await merchant.getByRole("button", { name: "Change" }).count()).toBe(0);
  });

  it("names its second shipment the same after the first has come back, and takes back a unit of it", async () => {
    const lines = world.partner.productIds.map((productId) => ({ productId, quantity: 2 }));
    const { id, lines: placed } = await placeReadyOrder("two-parcels", { lines });
    for (const line of placed) await operationApplied(world.service, id, "ship", { lineIds: [line.id] });
    const { shipments } = await readDetail(world.service, id);
    await operationApplied(world.service, id, "return", { shipmentId: shipments[0].id });
    const page = await world.open(world.people.warehouse);
    await page.goto(`/orders/${id}`);
    await page.getByRole("button", { name: "Record return" }).click();
    const dialog = page.getByRole("dialog");
    const shipment = dialog.getByRole("combobox", { name: "Shipment" });
    await expect.poll(() => shipment.inputValue()).toBe("Shipment 2");
    const units = dialog.getByLabel("Units of Product that came back, of 2");
    await dialog.getByText("The partner receives order.shipmentReturned.").waitFor();
    await units.fill("0");
    await dialog.getByRole("button", { name: "Record return" }).click();
    await dialog.getByText("Count one unit at least.").waitFor();
    await units.fill("9");
    await dialog.getByRole("button", { name: "Record return" }).click();
    await dialog.getByText("At most 2").waitFor();
    await units.fill("1");
    await dialog.getByText("The goods are recorded as returned.", { exact: true }).waitFor();
    await dialog.getByRole("combobox", { name: "Condition" }).click();
    await page.getByRole("option", { name: "Damaged" }).click();
    expect(await dialog.getByLabel("Add the goods to the stock again").isDisabled()).toBe(true);
    await dialog.getByRole("button", { name: "Record return" }).click();
    await page.getByText("The return is recorded.").waitFor();
    const { returns, status } = await readDetail(world.service, id);
    expect(returns[1].lines).toEqual([{ lineId: placed[1]?.id, quantity: 1 }]);
    expect(returns[1]).toMatchObject({ condition: "damaged", restocked: false });
    expect(status).toBe("IN_PROGRESS");
  });

  it("whose payment failed can be canceled until it succeeds, and says why it failed in words", async () => {
    const { service, partner } = world;
    const limit = { amount: "0.01", currency: "EUR" };
    await service.backOffice.request("PATCH", `/api/merchants/${partner.merchantId}`, {
      body: { creditLimit: limit },
    });
    const { id } = await placeOrder(partner, { externalOrderId: "not-paid" });
    await runJob(service, "process-payments");
    await service.backOffice.request("PATCH", `/api/merchants/${partner.merchantId}`, {
      body: { creditLimit: null },
    });
    const page = await world.open(world.people.operator);
    await page.goto(`/orders/${id}`);
    await page.getByText("Until its payment succeeds").waitFor();
    await page.getByRole("region", { name: "Money" }).getByText("Credit limit exceeded").waitFor();
    await page.getByRole("region", { name: "Timeline" }).getByText("Put on hold: Payment failed").waitFor();
  });

  it("that changed while its page was open: the rule is shown with the request's id, and the order is as it was", async () => {
    const { id } = await placeReadyOrder("changed");
    const page = await world.open(world.people.operator);
    // With updates, the page would show the change before the person could ask for what is not possible any more.
    await page.route("**/api/updates", (route) => route.abort());
    await page.goto(`/orders/${id}`);
    await page.getByRole("button", { name: "Ship", exact: true }).click();
    await requestOperation(world.service, id, "hold");
    const dialog = page.getByRole("dialog", { name: "Ship" });
    await dialog.getByRole("button", { name: "Ship" }).click();
    await dialog.getByText("Details", { exact: true }).click();
    await dialog.getByText("Request id for support:").waitFor();
    expect(await readDetail(world.service, id)).toMatchObject({ shipments: [], onHold: true });
  });

  it("shows beside its field what the service rejects, once, and the field has the focus", async () => {
    const page = await world.open(world.people.operator);
    await page.goto(`/orders/${world.orders.fresh}`);
    await page.getByRole("button", { name: "Correct address" }).click();
    const dialog = page.getByRole("dialog", { name: "Correct address" });
    await dialog.locator(":focus").and(dialog.getByLabel("First name")).waitFor();
    await dialog.getByLabel("Country code").fill("UK");
    await dialog.getByRole("button", { name: "Correct address" }).click();
    await dialog.locator(":focus").and(dialog.getByLabel("Country code")).waitFor();
    expect(await dialog.getByLabel("Country code").getAttribute("aria-invalid")).toBe("true");
    expect(await dialog.getByRole("alert").count(), "the same once more").toBe(0);
  });

  it.each([
    ["is replaced, and printed on the slip", "Bob Wrong", "Alice Right Ltd", "Alice Right Ltd"],
    ["is removed, and the other two names are printed", "Bob Wrong", "", "Alice Right"],
    ["that repeats the other two follows them", "Bob Smith", null, "Alice Right"],
  ])("has its recipient corrected: a full name of the partner %s", async (_words, sent, typed, printed) => {
    const { id } = await placeOrder(world.partner, {
      shippingAddress: anAddress({ firstName: "Bob", lastName: "Smith", name: sent }),
    });
    const page = await world.open(world.people.operator);
    await page.goto(`/orders/${id}`);
    await page.getByRole("button", { name: "Correct address" }).click();
    const dialog = page.getByRole("dialog", { name: "Correct address" });
    expect(await dialog.getByLabel("Full name").inputValue()).toBe(typed === null ? "" : sent);
    await dialog.getByLabel("First name").fill("Alice");
    await dialog.getByLabel("Last name").fill("Right");
    if (typed !== null) await dialog.getByLabel("Full name").fill(typed);
    await dialog.getByRole("button", { name: "Correct address" }).click();
    await page.getByText("The address is corrected.").waitFor();
    const { body } = await world.service.backOffice.get(`/api/orders/${id}/packing-slip`);
    expect(body.shippingAddress).toMatchObject({ firstName: "Alice", lastName: "Right", name: printed });
  });

  it("of another merchant is as missing, and staff who only read find no actions", async () => {
    const merchant = await world.open(world.people.merchant);
    await merchant.goto("/orders/ord_01m7y7np16fe68bxp4h91tdmdn");
    await merchant.getByRole("heading", { level: 1, name: "Nothing found" }).waitFor();
    await merchant.getByText("There is nothing at this address, or it is not yours to see.").waitFor();
    expect(await merchant.getByRole("button", { name: "Try again" }).count(), "it would change nothing").toBe(
      0,
    );
    const support = await world.open(world.people.support);
    await support.goto(`/orders/${world.orders.fresh}`);
    await support.getByRole("heading", { level: 1, name: "shop-1003" }).waitFor();
    expect(await support.getByRole("button", { name: /^(Hold|Ship|Cancel order|Refund)$/ }).count()).toBe(0);
  });
});
