import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHOICE, COMMANDS, type Command } from "../../web/src/pages/packing/packing.ts";
import { commandCode } from "../../web/src/ui/scan/read-scan.ts";
import { findingsOf, visit } from "../support/browser.ts";
import { routeAll } from "../support/facilities.ts";
import { processDuePayments } from "../support/payments.ts";
import { placeAcceptedOrder } from "../support/real-orders.ts";
import { BARCODE, type Hall, OTHER_BARCODE, scan, startHall } from "./hall.ts";
import type { World } from "./world.ts";

// A day at a packing table: what happens beside the orders that are complete.

let world: World;
let hall: Hall;
let ink: string;
let pens: string;
beforeAll(async () => {
  hall = await startHall();
  world = hall.world;
  const { data } = (await world.service.backOffice.get(`/api/facilities/${hall.facility}/stock`)).body;
  const idOf = (name: string) => data.find((each: { name: string }) => each.name === name).productId;
  [ink, pens] = [idOf("Ink"), idOf("Fineliner")];
});
afterAll(() => world.close());

const command = (page: Page, name: Command) => scan(page, commandCode(COMMANDS[name]));
const choose = (page: Page, number: number) => scan(page, commandCode(CHOICE + number));
const units = (page: Page, product: string, counted: string) =>
  page.getByRole("listitem", { name: product }).getByText(counted).waitFor();
const onHand = async (productId: string): Promise<number> =>
  (await world.service.backOffice.get(`/api/facilities/${hall.facility}/stock/${productId}`)).body.onHand;

/** An order of pens and ink. */
async function placeBoth(
  externalOrderId: string,
  quantities: { pens: number; ink: number },
): Promise<string> {
  const lines = [
    { productId: pens, quantity: quantities.pens },
    { productId: ink, quantity: quantities.ink },
  ];
  const { id } = await placeAcceptedOrder(world.service, hall.partner, { externalOrderId, lines });
  await routeAll(world.service);
  return id;
}

describe("what lies on the packing table", () => {
  it("is there after a reload, with each unit, and ships once", async () => {
    const id = await hall.placeReady("day-reload", 3);
    const page = await hall.openTable();
    await scan(page, "day-reload", BARCODE, BARCODE);
    await units(page, "Fineliner", "2 / 3");
    await page.reload();
    await page.getByText("day-reload continues: 2 units are in the box.").waitFor();
    await units(page, "Fineliner", "2 / 3");
    await scan(page, BARCODE, "320", "UPS");
    await page.getByText("Now the tracking number.").waitFor();
    await page.reload();
    await page.getByText("day-reload continues").waitFor();
    await scan(page, "DAY-1");
    await page.getByText("day-reload has shipped.").waitFor();
    expect((await hall.detailOf(id)).shipments).toMatchObject([
      { carrier: "UPS", weightGrams: 320, trackingNumber: "DAY-1" },
    ]);
    await page.reload();
    await page.getByText("Scan the order on a pick list or a packing slip to begin.").waitFor();
  });

  it("stays while its slips are printed, and the slips of a part have the goods of that parcel", async () => {
    await hall.placeReady("day-print", 3);
    const page = await hall.openTable();
    await page.evaluate(
      "window.print = () => { window.printed = document.querySelector('[data-papers]').innerText; }",
    );
    await scan(page, "day-print", BARCODE);
    await units(page, "Fineliner", "1 / 3");
    await page.getByRole("button", { name: "Print slips" }).click();
    await expect.poll(() => page.evaluate("window.printed")).toMatch(/Packing slip.*day-print.*Fineliner3/);
    await units(page, "Fineliner", "1 / 3");
    await command(page, "close-parcel");
    await page.evaluate("window.printed = undefined");
    await command(page, "print");
    await expect.poll(() => page.evaluate("window.printed")).toMatch(/Fineliner1/);
    await page.getByText("Weigh the parcel (g)").waitFor();
    expect(page.url()).toBe(`${world.url}/work/pack`);
  });

  it("is packed in one tab: the second says so, takes it over if told, and finds it after a crash", async () => {
    await hall.placeReady("day-tabs", 3);
    const first = await hall.openTable();
    await scan(first, "day-tabs", BARCODE);
    await units(first, "Fineliner", "1 / 3");
    const second = await first.context().newPage();
    await visit(second, "/work/pack", "Packing table");
    await scan(second, "day-tabs");
    await second.getByRole("alert").getByText("day-tabs is open in another tab.").waitFor();
    await second.getByRole("button", { name: "Pack it here" }).click();
    await units(second, "Fineliner", "1 / 3");
    await first.getByText("day-tabs is packed in another tab now.").waitFor();
    await second.close();
    const third = await first.context().newPage();
    await visit(third, "/work/pack", "Packing table");
    await third.getByText("day-tabs continues: 1 unit is in the box.").waitFor();
    await third.close();
  });

  it("is not lost with the network, and a scan that was dropped is said", async () => {
    const id = await hall.placeReady("day-network", 2);
    const page = await hall.openTable();
    await scan(page, "day-network", BARCODE, BARCODE, "", "DHL");
    await page.getByText("Now the tracking number.").waitFor();
    const isTyped = Promise.withResolvers<void>();
    await page.route("**/api/work-list/scan**", async (route) => {
      await isTyped.promise;
      await route.abort();
    });
    await scan(page, "NET-1", "day-other");
    isTyped.resolve();
    await page.getByRole("alert").getByText("The service cannot be reached.").waitFor();
    await page.getByText("1 scan after it was not taken.").waitFor();
    await page.unroute("**/api/work-list/scan**");
    await scan(page, "NET-1");
    await page.getByText("day-network has shipped.").waitFor();
    expect((await hall.detailOf(id)).shipments).toMatchObject([{ trackingNumber: "NET-1" }]);
  });

  it("is closed with a reason if it was canceled in the meantime", async () => {
    const id = await hall.placeReady("day-canceled", 2);
    const page = await hall.openTable();
    await scan(page, "day-canceled", BARCODE);
    await units(page, "Fineliner", "1 / 2");
    await world.service.backOffice.post(`/api/orders/${id}/cancel`, {});
    await page.reload();
    await page.getByRole("alert").getByText("day-canceled cannot ship.").waitFor();
    expect(await page.getByText("Begun at this table").count()).toBe(0);
  });
});

describe("a scanner at the packing table", () => {
  it("may send Tab or nothing, capitals, and may be slow", async () => {
    const id = await hall.placeReady("day-scanner", 3);
    const page = await hall.openTable();
    await page.keyboard.type(id.toUpperCase());
    await page.keyboard.press("Tab");
    await page.getByText("day-scanner: scan the goods").waitFor();
    await page.keyboard.type(BARCODE, { delay: 70 });
    await page.keyboard.press("Tab");
    await units(page, "Fineliner", "1 / 3");
    await page.keyboard.type(BARCODE);
    await units(page, "Fineliner", "2 / 3");
    await page.keyboard.type(`0${BARCODE}`);
    await page.keyboard.press("Enter");
    await page.getByText("All goods are in.").waitFor();
  });

  it("works the whole table by printed commands, which are on a page", async () => {
    const id = await hall.placeReady("day-commands", 2);
    const page = await hall.openTable();
    await page.getByRole("link", { name: "Command barcodes" }).click();
    await page.getByRole("img", { name: "Close this parcel" }).waitFor();
    await visit(page, "/work/pack", "Packing table");
    await command(page, "close-parcel");
    await page.getByRole("alert").getByText("No order is open. Scan one first.").waitFor();
    await scan(page, "day-commands", BARCODE, BARCODE);
    await page.getByText("All goods are in.").waitFor();
    await command(page, "undo");
    await units(page, "Fineliner", "1 / 2");
    await command(page, "take-out");
    await scan(page, BARCODE);
    await units(page, "Fineliner", "0 / 2");
    await page.keyboard.press("Escape");
    await units(page, "Fineliner", "1 / 2");
    await scan(page, BARCODE);
    await command(page, "continue");
    await page.getByText("Now the carrier.").waitFor();
    await choose(page, 2);
    await page.getByText("Now the tracking number.").waitFor();
    await command(page, "continue");
    await page.getByText("day-commands has shipped.").waitFor();
    expect((await hall.detailOf(id)).shipments[0].carrier).toMatch(/\p{L}/u);
  });
});

describe("an order that is not complete", () => {
  it("ships what is there, and is held for what is missing", async () => {
    const id = await placeBoth("day-short", { pens: 2, ink: 2 });
    const page = await hall.openTable();
    await scan(page, "day-short", `2*${BARCODE}`, OTHER_BARCODE);
    await command(page, "missing");
    await page.getByText("1 unit of Ink is missing. What becomes of it?").waitFor();
    await scan(page, BARCODE);
    await page.getByRole("alert").getByText(`${BARCODE} is no answer.`).waitFor();
    await page.getByRole("button", { name: "Ship the rest, and hold the order" }).click();
    await page.getByText("The parcel is closed.").waitFor();
    await scan(page, "", "", "SHORT-1");
    await page.getByText("day-short has shipped.").waitFor();
    await page.getByText("1 unit is missing: the order is on hold.").waitFor();
    const order = await hall.detailOf(id);
    expect(order.onHoldReasons).toEqual(["out_of_stock"]);
    expect(order.shipments).toMatchObject([{ trackingNumber: "SHORT-1" }]);
    const left = order.lines.filter(({ shipmentId }: { shipmentId: string | null }) => shipmentId === null);
    expect(left).toMatchObject([{ productId: ink, quantity: 1 }]);
  });

  it("leaves in two parcels, each with its units, weight and number", async () => {
    const id = await hall.placeReady("day-two", 3);
    const page = await hall.openTable();
    await scan(page, "day-two", BARCODE, BARCODE);
    await page.getByRole("button", { name: "Close this parcel" }).click();
    await page.getByText("The parcel is closed.").waitFor();
    await scan(page, "210", "DHL", "TWO-1");
    await page.getByText("A parcel of day-two has shipped.").waitFor();
    await page.getByText("Parcel 2").waitFor();
    await units(page, "Fineliner", "0 / 1");
    await scan(page, BARCODE, "110", "", "TWO-2");
    await page.getByText("day-two has shipped.").waitFor();
    expect((await hall.detailOf(id)).shipments).toMatchObject([
      { trackingNumber: "TWO-1", weightGrams: 210, carrier: "DHL" },
      { trackingNumber: "TWO-2", weightGrams: 110, carrier: "DHL" },
    ]);
  });

  it("gets another unit for a damaged one, whose stock is taken away", async () => {
    await hall.placeReady("day-damaged", 2);
    const page = await hall.openTable();
    const before = await onHand(pens);
    await scan(page, "day-damaged", BARCODE);
    await command(page, "damaged");
    await scan(page, BARCODE);
    await page.getByRole("button", { name: "Yes, it is taken out now" }).click();
    await page.getByText("Fineliner: recorded as damaged.").waitFor();
    await units(page, "Fineliner", "0 / 2");
    expect(await onHand(pens)).toBe(before - 1);
    const { data } = (
      await world.service.backOffice.get(`/api/facilities/${hall.facility}/stock-movements?productId=${pens}`)
    ).body;
    expect(data[0]).toMatchObject({ reason: "damaged", difference: -1 });
  });

  it("is put aside with a reason, stays on the work list, and continues with its counts", async () => {
    await hall.placeReady("day-aside", 3);
    const page = await hall.openTable();
    await scan(page, "day-aside", BARCODE, BARCODE);
    await command(page, "put-aside");
    await choose(page, 4);
    await page.getByText("day-aside is put aside: A question about the order.").waitFor();
    await visit(page, "/work", "Work list");
    await page
      .getByRole("row", { name: /day-aside/ })
      .getByText("A question about the order")
      .waitFor();
    await visit(page, "/work/pack", "Packing table");
    await page.getByRole("button", { name: "Continue day-aside" }).click();
    await page.getByText("day-aside continues: 2 units are in the box.").waitFor();
    await visit(page, "/work", "Work list");
    await page.getByRole("row", { name: /day-aside/ }).waitFor();
    expect(await page.getByText("A question about the order").count()).toBe(0);
  });
});

describe("carrier and tracking number", () => {
  it("are no code that the service knows as something else", async () => {
    const id = await hall.placeReady("day-codes", 1);
    await hall.placeReady("day-codes-2", 1);
    const page = await hall.openTable();
    const alert = page.getByRole("alert");
    await scan(page, "day-codes", BARCODE, "", "1Z999AA10123456784");
    await alert.getByText("1Z999AA10123456784 is none of these carriers.").waitFor();
    await page.getByRole("button", { name: "Another carrier" }).click();
    await page.keyboard.press("Escape"); // It takes back the carrier alone, not the weight.
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Another carrier" }).click();
    await page.getByLabel("Carrier", { exact: true }).fill("1Z999AA10123456784");
    await page.getByRole("button", { name: "Use this carrier" }).click();
    await page.getByText("Enter the name of a carrier.").waitFor();
    await page.getByLabel("Carrier", { exact: true }).fill("Bote Meier");
    await page.getByRole("button", { name: "Use this carrier" }).click();
    await page.getByText("Now the tracking number.").waitFor();
    for (const code of ["day-codes-2", OTHER_BARCODE]) {
      await scan(page, code);
      await alert.getByText(code).waitFor();
    }
    expect((await hall.detailOf(id)).shipments).toEqual([]);
    await scan(page, "REAL-1");
    await page.getByText("day-codes has shipped.").waitFor();
    expect((await hall.detailOf(id)).shipments).toMatchObject([
      { carrier: "Bote Meier", trackingNumber: "REAL-1" },
    ]);
  });
});

it("a number on another open parcel is asked about before the order ships with it", async () => {
  const ids = [await hall.placeReady("day-label-1", 1), await hall.placeReady("day-label-2", 1)];
  const page = await hall.openTable();
  await scan(page, "day-label-1", BARCODE, "", "DHL", "LABEL-77");
  await page.getByText("day-label-1 has shipped.").waitFor();
  await scan(page, "day-label-2", BARCODE, "", "", "LABEL-77", "day-label-1");
  await page.getByText("LABEL-77 is the number of another open parcel, of day-label-1.").waitFor();
  await page.getByText("1 scan after it was not taken.").waitFor();
  await choose(page, 2);
  await page.getByText("Scan the tracking number").waitFor();
  expect((await hall.detailOf(ids[1] ?? "")).shipments).toEqual([]);
  await scan(page, "LABEL-77");
  await page.getByRole("button", { name: "Yes, ship both with this number" }).click();
  await page.getByText("day-label-2 has shipped.").waitFor();
  expect((await hall.detailOf(ids[1] ?? "")).shipments).toMatchObject([{ trackingNumber: "LABEL-77" }]);
});

it("an operator at the table cancels what is missing, or holds the order while it is not paid", async () => {
  const ids = [
    await placeBoth("day-cancel", { pens: 1, ink: 1 }),
    await placeBoth("day-unpaid", { pens: 1, ink: 1 }),
  ];
  const page = await world.open(world.people.operator);
  await visit(page, "/work/pack", "Packing table");
  const shipWithoutInk = async (order: string) => {
    await scan(page, order, BARCODE);
    await units(page, "Fineliner", "1 / 1");
    await command(page, "missing");
    await page.getByRole("button", { name: "Ship the rest, and cancel what is missing" }).click();
    await scan(page, "", "", "");
    await page.getByText(`${order} has shipped.`).waitFor();
  };
  await shipWithoutInk("day-unpaid");
  await page.getByText("1 missing unit cannot be canceled now: the order is on hold.").waitFor();
  expect((await hall.detailOf(ids[1] ?? "")).onHoldReasons).toEqual(["out_of_stock"]);
  await processDuePayments(world.service);
  await shipWithoutInk("day-cancel");
  await page.getByText("1 missing unit is canceled.").waitFor();
  const { status, lines } = await hall.detailOf(ids[0] ?? "");
  expect(lines).toMatchObject([{ canceledQuantity: 0 }, { canceledQuantity: 1 }]);
  expect(status).toBe("COMPLETED");
});

describe("the table itself", () => {
  it("sounds for right and wrong until it is muted, and remembers that", async () => {
    const page = await hall.openTable();
    await page.evaluate(`{
      window.tones = [];
      const start = OscillatorNode.prototype.start;
      OscillatorNode.prototype.start = function (...at) {
        window.tones.push(Math.round(this.frequency.value));
        return start.apply(this, at);
      };
    }`);
    const tones = () => page.evaluate("window.tones.join()");
    await scan(page, "no-such-code");
    await page.getByText("Nothing has the code no-such-code.").waitFor();
    await expect.poll(tones).toBe("196,165");
    await page.getByRole("button", { name: "Turn sound off" }).click();
    await scan(page, "no-such-code-2");
    await page.getByText("no-such-code-2").waitFor();
    expect(await tones()).toBe("196,165");
    await page.reload();
    await page.getByRole("button", { name: "Turn sound on" }).waitFor();
  });

  it("shows eight lines at 1280 by 800, with buttons for a thumb", async () => {
    const products = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        hall.stocked(`Notebook ${index}`, `40000000000${10 + index}`, 5),
      ),
    );
    const lines = products.map((productId) => ({ productId, quantity: 1 }));
    await placeAcceptedOrder(world.service, hall.partner, { externalOrderId: "day-long", lines });
    await routeAll(world.service);
    const page = await world.open(world.people.warehouse, { width: 1280, height: 800 });
    await visit(page, "/work/pack", "Packing table");
    await scan(page, "day-long", "4000000000010");
    await units(page, "Notebook 0", "1 / 1");
    const eighth = await page.getByRole("listitem", { name: "Notebook 7" }).boundingBox();
    expect((eighth?.y ?? 0) + (eighth?.height ?? 0)).toBeLessThanOrEqual(800);
    await page.getByRole("button", { name: "Put aside" }).click();
    await page.getByRole("button", { name: "No packaging" }).waitFor();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await findingsOf(page), `at ${width} pixels`).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
    const heights = await page.evaluate(
      `[...document.querySelectorAll("main button")].filter((b) => b.offsetParent).map((b) => b.offsetHeight)`,
    );
    expect(Math.min(...(heights as number[]))).toBeGreaterThanOrEqual(44);
  });
});
