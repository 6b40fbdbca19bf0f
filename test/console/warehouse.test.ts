import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { createExposedProduct, createPartner, type Partner } from "../support/builders.ts";
import { createFacility, routeAll, setStock } from "../support/facilities.ts";
import { createPerson } from "../support/people.ts";
import { placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { uuidIn } from "../support/webhooks.ts";
import { startWorld, type World } from "./world.ts";

const BARCODE = "4006381333931";
const OTHER_BARCODE = "4012345678901";

let world: World;
let partner: Partner;
let facility: string;
let pens: string;
beforeAll(async () => {
  world = await startWorld();
  partner = await createPartner(world.service);
  facility = await createHall("Hall one");
  const other = await stocked("Ink", OTHER_BARCODE, 50);
  expect(other).not.toBe("");
  pens = await stocked("Fineliner", BARCODE, 50);
});
afterAll(() => world.close());

async function createHall(name: string): Promise<string> {
  const id = await createFacility(world.service);
  await world.service.backOffice.request("PATCH", `/api/facilities/${id}`, { body: { name } });
  return id;
}

/** A product with a barcode and stock. */
async function stocked(name: string, barcode: string, onHand: number): Promise<string> {
  const { service } = world;
  const id = await createExposedProduct(service, partner.merchantId, partner.connectionId);
  const body = { name, barcode, weightGrams: 100 };
  await service.backOffice.request("PATCH", `/api/products/${id}`, { body });
  await setStock(service, facility, id, onHand);
  return id;
}

/** An order of pens that can be shipped. */
async function placeReady(externalOrderId: string, quantity = 2): Promise<string> {
  const lines = [{ productId: pens, quantity }];
  const { id } = await placeAcceptedOrder(world.service, partner, { externalOrderId, lines });
  await routeAll(world.service);
  return id;
}

/** As a scanner does it: all keys at once, and Enter. Wherever the focus is. */
async function scan(page: Page, ...codes: string[]): Promise<void> {
  for (const code of codes) {
    await page.keyboard.type(code, { delay: 0 });
    await page.keyboard.press("Enter");
  }
}

const detailOf = (id: string) => readDetail(world.service, id);

describe("the packing table", () => {
  it("packs an order by scanner alone, however fast it types, and continues with the next", async () => {
    const [first, second] = [await placeReady("pack-1"), await placeReady("pack-2", 1)];
    const page = await world.open(world.people.warehouse);
    await visit(page, "/work/pack", "Packing table");
    // In one go: what comes while the order is looked up waits in line.
    await scan(page, first, BARCODE, BARCODE, "0.25 kg", "DHL", "JD0146");
    await page.getByText("pack-1 has shipped. Next order.").waitFor();
    // A SKU-less second parcel: the carrier of the first is kept by Enter.
    await scan(page, second, BARCODE, "", "", "JD0147");
    await page.getByText("pack-2 has shipped. Next order.").waitFor();
    expect((await detailOf(first)).shipments).toMatchObject([
      { carrier: "DHL", trackingNumber: "JD0146", weightGrams: 250, status: "shipped" },
    ]);
    expect((await detailOf(second)).shipments).toMatchObject([
      { carrier: "DHL", trackingNumber: "JD0147", weightGrams: null },
    ]);
  });

  it("reports a wrong item, too many, and what is no code, and records nothing of it", async () => {
    const id = await placeReady("pack-3", 1);
    const page = await world.open(world.people.warehouse);
    await visit(page, "/work/pack", "Packing table");
    const alert = page.getByRole("alert");
    await scan(page, "no-such-code");
    await alert.getByText("Nothing has the code no-such-code.").waitFor();
    await scan(page, "pack-3", OTHER_BARCODE);
    await alert.getByText(`${OTHER_BARCODE} is not in this order. Take it out.`).waitFor();
    await scan(page, `2*${BARCODE}`);
    await alert.getByText("Too many: only 1 of Fineliner. Take it out.").waitFor();
    await scan(page, "ord_00000000000000000000000000");
    await alert.getByText("Another order is open.").waitFor();
    await scan(page, BARCODE, BARCODE);
    await alert.getByText(`${BARCODE} is not a weight.`).waitFor();
    await scan(page, "40");
    await page.getByText("Lighter than its goods, which weigh 100 g.").waitFor();
    await scan(page, "DHL", BARCODE);
    await alert.getByText(`${BARCODE} is not a tracking number.`).waitFor();
    expect((await detailOf(id)).shipments).toEqual([]);
    await page.getByRole("button", { name: "Put aside" }).click();
    await page.getByText("Put aside. Nothing was recorded.").waitFor();
  });

  it("never loses the focus, nor gives a letter to a shortcut", async () => {
    await placeReady("go-7", 1); // `g` and `o` open the orders elsewhere.
    const page = await world.open(world.people.warehouse);
    await visit(page, "/work/pack", "Packing table");
    await page.getByRole("heading", { level: 1 }).click();
    await scan(page, "go-7");
    await page.getByText("go-7: scan the goods").waitFor();
    await page.getByRole("button", { name: "+1 Fineliner" }).click();
    await page.getByText("All goods are in.").waitFor();
    await page.getByRole("link", { name: "Packing and return slip" }).focus();
    await scan(page, "130");
    await page.getByText("Now the carrier.").waitFor();
    expect(page.url()).toBe(`${world.url}/work/pack`);
    expect(await page.evaluate("document.activeElement.tagName")).toBe("INPUT");
  });

  it("opens an order that is scanned on the work list or on a pick list, whatever letters its code has", async () => {
    const id = await placeReady("pack-list");
    const page = await world.open(world.people.warehouse);
    // All keys in one task of the browser, as fast as a scanner. Codes with "gh" and "go" would open other pages.
    const scanFast = (code: string) =>
      page.evaluate(
        `for (const key of [...${JSON.stringify(code)}, "Enter"])
          document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))`,
      );
    await visit(page, "/work", "Work list");
    await scanFast("ghgo-no-order");
    await page.getByText("Nothing has the code ghgo-no-order.").waitFor();
    await visit(page, "/work", "Work list");
    await scanFast(id);
    await page.getByRole("heading", { level: 1, name: "Packing table" }).waitFor();
    await page.getByText("pack-list: scan the goods").waitFor();
    expect(page.url()).toBe(`${world.url}/work/pack`);
    await scan(page, BARCODE, BARCODE, "", "", "");
    await page.getByText("pack-list has shipped. Next order.").waitFor();
  });

  it("ships once at two tables, and says so at the second", async () => {
    const id = await placeReady("pack-5", 1);
    const [one, two] = [await world.open(world.people.warehouse), await world.open(world.people.operator)];
    for (const page of [one, two]) {
      await visit(page, "/work/pack", "Packing table");
      await scan(page, "pack-5", BARCODE, "", "DHL");
      await page.getByText("Now the tracking number.").waitFor();
    }
    await scan(one, "TABLE-1");
    await one.getByText("pack-5 has shipped.").waitFor();
    await scan(two, "TABLE-2");
    await two.getByRole("alert").waitFor();
    expect((await detailOf(id)).shipments).toMatchObject([{ trackingNumber: "TABLE-1" }]);
  });

  it("does not ship twice when the response was lost", async () => {
    const id = await placeReady("pack-6", 1);
    const page = await world.open(world.people.warehouse);
    await visit(page, "/work/pack", "Packing table");
    let isLost = false;
    await page.route("**/ship", async (route) => {
      if (isLost) return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await scan(page, "pack-6", BARCODE, "", "DHL", "LOST-1");
    await page.getByRole("alert").getByText("The service cannot be reached.").waitFor();
    await scan(page, "LOST-1");
    await page.getByText("pack-6 has shipped.").waitFor();
    expect((await detailOf(id)).shipments).toMatchObject([{ trackingNumber: "LOST-1" }]);
  });
});

describe("the work list", () => {
  it("gives a batch to one person, on paper with its barcodes, and takes it back", async () => {
    const id = await placeReady("batch-1", 1);
    const page = await world.open(world.people.warehouse);
    await visit(page, `/work?facilityId=${facility}`, "Work list");
    await page.getByLabel("Your name or table").fill("Table 3");
    await page.getByRole("button", { name: "Take the oldest" }).click();
    await page.getByRole("heading", { level: 1, name: "Pick list of Table 3" }).waitFor();
    await page.getByRole("img", { name: id }).waitFor();
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("heading", { level: 1 }).isVisible()).toBe(false);
    expect(await page.getByRole("navigation").first().isVisible()).toBe(false);
    expect(await page.getByRole("region", { name: "Pick list" }).isVisible()).toBe(true);
    await page.emulateMedia({ media: "screen" });
    await page.getByRole("link", { name: "All slips" }).click();
    await page.getByRole("region", { name: "Packing slip: batch-1" }).getByText("Fineliner").waitFor();
    await page.getByRole("region", { name: "Return slip: batch-1" }).getByRole("img", { name: id }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Give back" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Give back" }).click();
    await page.getByText("Its orders are free again.").waitFor();
  });

  it("prints the packing slip and the return slip without prices", async () => {
    const id = await placeReady("paper-1");
    const page = await world.open(world.people.warehouse);
    await visit(page, `/work/slips/${id}`, "Slips of paper-1");
    const slip = page.getByRole("region", { name: "Packing slip" });
    await slip.getByRole("cell", { name: "Fineliner" }).waitFor();
    expect(
      await page.getByRole("region", { name: "Return slip" }).getByRole("img", { name: id }).count(),
    ).toBe(1);
    expect(await page.getByRole("main").innerText()).not.toMatch(/€|EUR/);
  });
});

describe("returns at the door", () => {
  it("finds the parcel by its tracking number, and restocks what came back", async () => {
    const id = await placeReady("back-1", 3);
    const page = await world.open(world.people.warehouse);
    await visit(page, "/work/pack", "Packing table");
    await scan(page, "back-1", `3*${BARCODE}`, "", "DHL", "BACK-TRACK");
    await page.getByText("back-1 has shipped.").waitFor();
    await visit(page, "/returns", "Returns");
    await scan(page, "nothing-1");
    await page.getByRole("alert").getByText("No order has the code nothing-1.").waitFor();
    await scan(page, "BACK-TRACK");
    await page.getByLabel("Units of Fineliner that came back, of 3").fill("2");
    expect(await page.getByLabel("Refund the merchant").count(), "only the operator refunds").toBe(0);
    await page.getByRole("button", { name: "Record return" }).click();
    await page.getByText("The return of back-1 is recorded.").waitFor();
    const order = await detailOf(id);
    expect(order.returns).toMatchObject([{ restocked: true, lines: [{ quantity: 2 }] }]);
    expect(order.returns[0].reference).toMatch(/^door-/);
  });
});

describe("stock", () => {
  it("is found by a barcode, adjusted with a reason, and counted only as it was seen", async () => {
    const glue = await stocked("Glue", "9501101530003", 3);
    const page = await world.open(world.people.warehouse);
    await visit(page, `/facilities/${facility}/stock?availableBelow=5`, "Stock of Hall one");
    await page.getByRole("row", { name: /Glue/ }).waitFor();
    expect(await page.getByRole("row", { name: /Ink/ }).count()).toBe(0);
    await visit(page, `/facilities/${facility}/stock?q=9501101530003`, "Stock of Hall one");
    await page.getByRole("row", { name: /Glue/ }).getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "Glue" }).waitFor();
    await page.getByRole("button", { name: "Adjust" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Difference").fill("-1");
    await dialog.getByRole("button", { name: "Adjust" }).click();
    await page.getByText("The stock is adjusted.").waitFor();
    await page.getByRole("row", { name: /Received.*-1/ }).waitFor();
    await page.getByRole("button", { name: "Count" }).click();
    await setStock(world.service, facility, glue, 9); // Another person is faster.
    await dialog.getByLabel("On hand").fill("1");
    await dialog.getByRole("button", { name: "Count" }).click();
    await dialog.getByText("The stock has moved: 9 units are on hand.").waitFor();
  });

  it("is not counted as 0 when the field of a count is empty", async () => {
    const tape = await stocked("Tape", "9501101530010", 4);
    const page = await world.open(world.people.warehouse);
    await visit(page, `/facilities/${facility}/stock/${tape}`, "Tape");
    await page.getByRole("button", { name: "Count" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("On hand").fill("");
    await dialog.getByRole("button", { name: "Count" }).click();
    await dialog.getByText("This is needed.").waitFor();
    const { body } = await world.service.backOffice.get(`/api/facilities/${facility}/stock/${tape}`);
    expect(body.onHand).toBe(4);
  });
});

describe("what others must not see", () => {
  it("merchants and partners find no warehouse, and staff of another facility none of its orders", async () => {
    await placeReady("hidden-1", 1);
    for (const person of [world.people.merchant, world.people.partner]) {
      const page = await world.open(person);
      await page.goto("/work");
      await page.getByText("Your role does not allow this.").first().waitFor();
      for (const name of ["Work list", "Review queue", "Returns", "Facilities"])
        expect(await page.getByRole("navigation").getByRole("link", { name }).count()).toBe(0);
    }
    const elsewhere = await createHall("Hall two");
    const visitor = await createPerson(world.service, {
      name: "Vera",
      email: "vera@example.com",
      grants: [{ role: "warehouse", facilityIds: [uuidIn("fac", elsewhere)] }],
    });
    const page = await world.open(visitor);
    await visit(page, "/work/pack", "Packing table");
    await scan(page, "hidden-1");
    await page.getByRole("alert").getByText("Nothing has the code hidden-1.").waitFor();
    await visit(page, "/review", "Review queue");
    await page.getByText("You see the orders of your facilities.").waitFor();
    await visit(page, "/facilities", "Facilities");
    await page.getByRole("link", { name: "Hall two" }).waitFor();
    expect(await page.getByText("Hall one").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Create facility" }).count()).toBe(0);
  });
});
