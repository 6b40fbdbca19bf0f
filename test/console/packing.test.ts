import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { operationApplied } from "../support/real-orders.ts";
import { BARCODE, type Hall, OTHER_BARCODE, scan, startHall } from "./hall.ts";
import type { World } from "./world.ts";

let world: World;
let hall: Hall;
beforeAll(async () => {
  hall = await startHall();
  world = hall.world;
});
afterAll(() => world.close());

describe("the packing table", () => {
  it("packs an order by scanner alone, however fast it types, and continues with the next", async () => {
    const [first, second] = [await hall.placeReady("pack-1"), await hall.placeReady("pack-2", 1)];
    const page = await hall.openTable();
    // In one go: what comes while the order is looked up waits in line.
    await scan(page, first, BARCODE, BARCODE, "0.25 kg", "DHL", "JD0146");
    await page.getByText("pack-1 has shipped. Next order.").waitFor();
    // A SKU-less second parcel: the carrier of the first is kept by Enter.
    await scan(page, second, BARCODE, "", "", "JD0147");
    await page.getByText("pack-2 has shipped. Next order.").waitFor();
    expect((await hall.detailOf(first)).shipments).toMatchObject([
      { carrier: "DHL", trackingNumber: "JD0146", weightGrams: 250, status: "shipped" },
    ]);
    expect((await hall.detailOf(second)).shipments).toMatchObject([
      { carrier: "DHL", trackingNumber: "JD0147", weightGrams: null },
    ]);
  });

  it("reports a wrong item, too many, and what is no code, and records nothing of it", async () => {
    const id = await hall.placeReady("pack-3", 1);
    const page = await hall.openTable();
    const alert = page.getByRole("alert");
    await scan(page, "no-such-code");
    await alert.getByText("Nothing has the code no-such-code.").waitFor();
    await scan(page, "pack-3", OTHER_BARCODE);
    await alert.getByText(`${OTHER_BARCODE} is not in this order. Take it out.`).waitFor();
    await scan(page, `2*${BARCODE}`);
    await alert.getByText("Too many: only 1 of Fineliner. Take it out.").waitFor();
    await scan(page, "ord_00000000000000000000000000");
    await alert.getByText("Another order is open.").waitFor();
    await scan(page, "999-1", BARCODE); // The second message takes the place of the first one at once.
    await page.getByText("All goods are in.").waitFor();
    await page.getByText("Before that: 999-1 is not in this order. Take it out.").waitFor();
    await scan(page, BARCODE);
    await alert.getByText("Too many: only 1 of Fineliner. Take it out.").waitFor();
    await scan(page, "pack-3");
    await alert.getByText("pack-3 is not a weight.").waitFor();
    await scan(page, "40");
    await page.getByText("Lighter than its goods, which weigh 100 g.").waitFor();
    await scan(page, "pack-3");
    await alert.getByText("pack-3 is none of these carriers.").waitFor();
    await scan(page, "DHL", "pack-3");
    await alert.getByText("pack-3 is not a tracking number.").waitFor();
    expect((await hall.detailOf(id)).shipments).toEqual([]);
    await page.getByRole("button", { name: "Put aside" }).click();
    await page.getByRole("button", { name: "Something else" }).click();
    await page.getByText("pack-3 is put aside: Something else.").waitFor();
  });

  it("never loses the focus, nor gives a letter to a shortcut", async () => {
    await hall.placeReady("go-7", 1); // `g` and `o` open the orders elsewhere.
    const page = await hall.openTable();
    await page.getByRole("heading", { level: 1 }).click();
    await scan(page, "go-7");
    await page.getByText("go-7: scan the goods").waitFor();
    await page.getByRole("button", { name: "+1 Fineliner" }).click();
    await page.getByText("All goods are in.").waitFor();
    await page.getByRole("button", { name: "Print slips" }).focus();
    await scan(page, "130");
    await page.getByText("Now the carrier.").waitFor();
    expect(page.url()).toBe(`${world.url}/work/pack`);
    expect(await page.evaluate("document.activeElement.tagName")).toBe("INPUT");
  });

  it("opens an order that is scanned on the work list or on a pick list, whatever letters its code has", async () => {
    const id = await hall.placeReady("pack-list");
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
    const id = await hall.placeReady("pack-5", 1);
    const [one, two] = [await world.open(world.people.warehouse), await world.open(world.people.operator)];
    for (const page of [one, two]) {
      await visit(page, "/work/pack", "Packing table");
      await scan(page, "pack-5", BARCODE, "", "DHL");
      await page.getByText("Now the tracking number.").waitFor();
    }
    await scan(one, "TABLE-1");
    await one.getByText("pack-5 has shipped.").waitFor();
    await scan(two, "TABLE-2");
    await two.getByRole("alert").getByText("pack-5 cannot ship.").waitFor();
    expect((await hall.detailOf(id)).shipments).toMatchObject([{ trackingNumber: "TABLE-1" }]);
  });

  it("does not ship twice when the response was lost", async () => {
    const id = await hall.placeReady("pack-6", 1);
    const page = await hall.openTable();
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
    expect((await hall.detailOf(id)).shipments).toMatchObject([{ trackingNumber: "LOST-1" }]);
  });
});

/** How many units of a product are in the box, as the table shows it. */
const units = (page: Page, product: string, counted: string) =>
  page.getByRole("listitem", { name: product }).getByText(counted).waitFor();

/** A page on which the parcel of an order needs only its tracking number. */
async function packToTracking(externalOrderId: string, units: number): Promise<Page> {
  const page = await hall.openTable();
  await scan(page, externalOrderId, `${units}*${BARCODE}`, "450", "DHL");
  await page.getByText("Now the tracking number.").waitFor();
  return page;
}

describe("an order that another person changes while it lies on the packing table", () => {
  it("is counted again if units have shipped elsewhere", async () => {
    const id = await hall.placeReady("pack-7", 4);
    const page = await packToTracking("pack-7", 4);
    const [{ id: lineId }] = (await hall.detailOf(id)).lines;
    await operationApplied(world.service, id, "ship", { lines: [{ lineId, quantity: 1 }] });
    await scan(page, "");
    await page.getByRole("alert").getByText("The lines to ship of pack-7 have changed").waitFor();
    await units(page, "Fineliner", "0 / 3");
    expect((await hall.detailOf(id)).shipments).toMatchObject([{ carrier: null, weightGrams: null }]);
    await scan(page, `3*${BARCODE}`, "350", "", "");
    await page.getByText("pack-7 has shipped.").waitFor();
    expect((await hall.detailOf(id)).shipments).toMatchObject([
      { carrier: null },
      { carrier: "DHL", weightGrams: 350 },
    ]);
  });

  it("is not said to have shipped by this table if another table has shipped it, be it at the last moment", async () => {
    const ids = [await hall.placeReady("pack-8"), await hall.placeReady("pack-9")];
    const ups = (id: string) => operationApplied(world.service, id, "ship", { carrier: "UPS" });
    const before = await packToTracking("pack-8", 2);
    await ups(ids[0] ?? "");
    await scan(before, "");
    await before.getByRole("alert").getByText("pack-8 cannot ship.").waitFor();
    await before.getByRole("alert").getByText("All of it has shipped already.").waitFor();
    const between = await packToTracking("pack-9", 2);
    await between.route("**/ship", async (route) => {
      await ups(ids[1] ?? "");
      await route.continue();
    });
    await scan(between, "");
    await between.getByRole("alert").getByText("pack-9 cannot ship.").waitFor();
    for (const id of ids)
      expect((await hall.detailOf(id)).shipments).toMatchObject([{ carrier: "UPS", weightGrams: null }]);
  });

  it("is not said to have shipped if another table ships it after a request was lost on its way", async () => {
    const id = await hall.placeReady("pack-10");
    const page = await packToTracking("pack-10", 2);
    await page.route("**/ship", (route) => route.abort());
    await scan(page, "");
    await page.getByRole("alert").getByText("The service cannot be reached.").waitFor();
    await operationApplied(world.service, id, "ship", { carrier: "UPS" });
    await scan(page, "");
    await page.getByRole("alert").getByText("pack-10 cannot ship.").waitFor();
  });

  it("ships only after its corrected address was shown, and takes no later scan for its tracking number", async () => {
    const id = await hall.placeReady("pack-11");
    const page = await packToTracking("pack-11", 2);
    const { status } = await world.service.backOffice.request("PATCH", `/api/orders/${id}/shipping-address`, {
      body: { address2: "Back door", zip: "SW1Y 4JX" },
    });
    expect(status).toBe(200);
    const isTyped = Promise.withResolvers<void>();
    await page.route("**/api/work-list/scan**", async (route) => {
      await isTyped.promise;
      await route.continue();
    });
    await scan(page, "LABEL-1", "pack-12");
    isTyped.resolve();
    await page
      .getByRole("alert")
      .getByText("The address of pack-11 has changed since you opened it.")
      .waitFor();
    await page.getByText("SW1Y 4JX").waitFor();
    await page.getByText("Back door").waitFor();
    expect((await hall.detailOf(id)).shipments).toEqual([]);
    await scan(page, "LABEL-2");
    await page.getByText("pack-11 has shipped.").waitFor();
    expect((await hall.detailOf(id)).shipments).toMatchObject([
      { trackingNumber: "LABEL-2", weightGrams: 450 },
    ]);
  });
});
