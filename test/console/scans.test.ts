import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { asPrinted } from "../../web/src/ui/scan/read-scan.ts";
import { visit } from "../support/browser.ts";
import { createProduct } from "../support/builders.ts";
import { operationApplied } from "../support/real-orders.ts";
import { BARCODE, type Hall, scan, startHall } from "./hall.ts";
import type { World } from "./world.ts";

let world: World;
let hall: Hall;
/** An order that has shipped: the page for returns shows its name when it is found. */
let order: string;
beforeAll(async () => {
  hall = await startHall();
  world = hall.world;
  order = await hall.placeReady("back-77");
  await operationApplied(world.service, order, "ship", { carrier: "DHL", trackingNumber: "JD-BACK-77" });
});
afterAll(() => world.close());

const FRENCH: Readonly<Record<string, string>> = {
  ...{ 1: "&", 2: "é", 3: '"', 4: "'", 5: "(", 6: "-", 7: "è", 8: "_", 9: "ç", 0: "à", "]": "$" },
};
const french = (text: string) => [...text].map((sign) => FRENCH[sign] ?? sign).join("");
const german = (text: string) =>
  [...text].map((sign) => ({ y: "z", z: "y", _: "?", "]": "+", "-": "ß" })[sign] ?? sign).join("");

describe("a field for scans", () => {
  let page: Page;
  beforeEach(async () => {
    page = await hall.openDoor();
  });
  const isFound = () => page.getByRole("heading", { name: "back-77" }).waitFor();
  const isUnknown = (code: string) =>
    page.getByRole("alert").getByText(`Nothing has the code ${code}.`).waitFor();
  const field = () => page.getByRole("textbox", { name: "Scan the parcel" });
  const hasFocus = () => page.evaluate("document.activeElement.enterKeyHint === 'done'");

  it("takes an id, however a scanner sends it, and is empty for the next one", async () => {
    const type = (code: string, delay = 0) => page.keyboard.type(code, { delay });
    const press = (key: string) => page.keyboard.press(key);
    const ways: Record<string, (code: string) => Promise<unknown>> = {
      "ends with Enter": (code) => scan(page, code),
      "ends with Tab": (code) => type(code).then(() => press("Tab")),
      "ends with both": (code) => scanFast(page, code, "Enter", "Tab"),
      "ends with nothing": (code) => scanFast(page, code),
      "loses the focus": (code) => scanFast(page, code, "blur", "Enter"),
      "begins with Enter": (code) => scan(page, "", code),
      "is slow": (code) => type(code, 40).then(() => press("Enter")),
      "sends capitals": (code) => scan(page, code.toUpperCase()),
      "sends a prefix of AIM": (code) => scan(page, `]C1${code}`),
    };
    for (const [name, send] of Object.entries(ways)) {
      await send(order);
      await isFound();
      expect(await field().inputValue(), name).toBe("");
      expect(await hasFocus(), name).toBe(true);
      await send(name.replaceAll(" ", "-"));
      await page.getByRole("alert").getByText("Nothing has the code").waitFor();
    }
  });

  it("takes what is printed, on keyboards with other layouts too, and ids in text", async () => {
    const printed = asPrinted(order);
    for (const code of [printed, `]C1${printed}`, french(printed), german(`]C1${printed}`), german(order)]) {
      await scan(page, code);
      await isFound();
      await scan(page, "nothing-1");
      await isUnknown("nothing-1");
    }
  });

  it("leaves nothing out of a burst: the last parcel is shown, and each was looked for in its order", async () => {
    const asked: (string | null)[] = [];
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith("/scan")) asked.push(searchParams.get("code"));
    });
    await scan(page, "one-1", "two-2", order);
    await isFound();
    expect(asked).toEqual(["one-1", "two-2", order]);
  });

  it("names the layout if that can be why nothing is found, and what a code is that is no order", async () => {
    const alert = page.getByRole("alert");
    await scan(page, german("WEB-NONE"));
    await alert.getByText("The scanner presses keys of another keyboard layout.").waitFor();
    await scan(page, BARCODE);
    await alert.getByText(`${BARCODE} is a product.`).waitFor();
    await scan(page, hall.facility);
    await alert.getByText("is the facility Hall one.").waitFor();
    await scan(page, "x".repeat(300));
    await alert.getByText("at most 255").waitFor();
  });

  it("leaves the field with Tab when it is empty, and takes what was typed by hand with Tab or Enter alone", async () => {
    await page.keyboard.type("JD-BACK-77", { delay: 130 });
    await page.keyboard.press("Tab");
    await isFound();
    expect(await field().inputValue()).toBe("");
    await page.keyboard.press("Tab");
    expect(await hasFocus()).toBe(false);
  });

  it("finds the orders of a buyer whose name was typed", async () => {
    const { name } = (await hall.detailOf(order)).shippingAddress;
    await page.keyboard.type(name.toLowerCase(), { delay: 130 });
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Orders of this name" }).waitFor();
    await page.getByRole("button", { name: "This one" }).first().click();
    await isFound();
  });

  it("is the only place of a scan: another field gives it back", async () => {
    await scan(page, order);
    const units = page.getByLabel("Units of Fineliner that came back, of 2");
    await units.click();
    await scanFast(page, "nothing-1", "Enter");
    expect(await units.inputValue()).toContain("2");
    await isUnknown("nothing-1");
  });
});

/**
 * All keys in one task of the browser, to whatever has the focus. Their times are those of a scanner, however busy the machine is.
 * "blur": what opens or closes then takes the focus.
 */
const scanFast = (page: Page, code: string, ...suffixes: ("Enter" | "Tab" | "blur")[]) =>
  page.evaluate(`let at = performance.now(); for (const key of ${JSON.stringify([...code, ...suffixes])}) {
    if (key === "blur") { document.activeElement.blur(); continue; }
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
    Object.defineProperty(event, "timeStamp", { value: (at += 1) });
    if (document.activeElement.dispatchEvent(event) && key.length === 1) document.execCommand("insertText", false, key);
  }`);

/** Long after the last key, however fast the machine is: a person presses Enter, and it repeats. */
const holdEnter = (page: Page) =>
  page.evaluate(`for (const [index, repeat] of [false, true, true].entries()) {
    const event = new KeyboardEvent("keydown", { key: "Enter", repeat, bubbles: true, cancelable: true });
    Object.defineProperty(event, "timeStamp", { value: performance.now() + 1_000 + 500 * index });
    document.activeElement.dispatchEvent(event);
  }`);

it("a second suffix of a scanner, and a key that is held, take no step at the packing table", async () => {
  await hall.placeReady("two-suffixes", 1);
  const page = await hall.openTable();
  await scan(page, "two-suffixes");
  await page.getByText("two-suffixes: scan the goods").waitFor();
  await scanFast(page, BARCODE, "Enter", "Enter"); // As CR and LF.
  await page.getByText("All goods are in. Weigh the parcel.").waitFor();
  await holdEnter(page);
  await page.getByText("Now the carrier.").waitFor();
  await scan(page, "two-suffixes", BARCODE);
  await page.getByText("Too many: only 1 of Fineliner. Take it out.").waitFor();
  await page.getByText("Choose the carrier by its number, or press Enter").waitFor();
});

it("a scan is taken by the table from a menu and from a dialog that is no field", async () => {
  await hall.placeReady("over-all", 3);
  const page = await hall.openTable();
  await scan(page, "over-all");
  await page.getByText("over-all: scan the goods").waitFor();
  await page.getByRole("button", { name: "Missing or damaged: Fineliner" }).click();
  await page.getByRole("menuitem", { name: "Missing" }).waitFor();
  await scan(page, BARCODE);
  await page.getByText("Fineliner: 1 of 3").waitFor();
  await page.getByRole("button", { name: "Walter" }).click();
  await page.getByRole("radio", { name: "System" }).focus();
  await scan(page, BARCODE);
  await page.getByText("Fineliner: 2 of 3").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.press("Escape"); // It closes the palette, and takes nothing back.
  await page.getByRole("combobox").waitFor({ state: "hidden" });
  await page.getByRole("listitem", { name: "Fineliner" }).getByText("2 / 3").waitFor();
});

describe("the pages of stock", () => {
  it("open the product that is scanned, wherever the focus is, and say what else a code is", async () => {
    await hall.stocked("Glue", "012345678905", 3);
    const page = await world.open(world.people.warehouse);
    const path = `/facilities/${hall.facility}/stock`;
    await visit(page, `/facilities/${hall.facility}`, "Hall one");
    await scanFast(page, "]E00012345678905", "Enter");
    await page.getByRole("heading", { level: 1, name: "Glue" }).waitFor();
    await scanFast(page, BARCODE, "Tab");
    await page.getByRole("heading", { level: 1, name: "Fineliner" }).waitFor();
    await visit(page, path, "Stock of Hall one");
    const search = page.getByRole("searchbox");
    await search.fill("in");
    await page.getByRole("row", { name: /Glue/ }).waitFor({ state: "detached" });
    await scanFast(page, asPrinted(order), "Enter");
    await page.getByText(`${order} is an order.`).waitFor();
    expect(await search.inputValue(), "it is given back").toBe("in");
    await scanFast(page, "12345678905", "Enter");
    await page.getByRole("heading", { level: 1, name: "Glue" }).waitFor();
  });

  it("begin the count of a product that has no stock yet", async () => {
    const id = await createProduct(world.service, hall.partner.merchantId, {
      name: "Chalk",
      barcode: "96385074",
    });
    const page = await world.open(world.people.warehouse);
    await visit(page, `/facilities/${hall.facility}/stock`, "Stock of Hall one");
    await scanFast(page, "00000096385074", "Enter");
    await page.getByText("Chalk has no stock here yet.").waitFor();
    await page.getByRole("button", { name: "Record stock" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Barcode or SKU").inputValue()).toBe("00000096385074");
    await scan(page, "nothing-1");
    await dialog.getByText("No product has this barcode or SKU.").waitFor();
    await scan(page, "96385074"); // It replaces the code before.
    await dialog.getByText("Chalk").waitFor();
    await page.keyboard.type("12");
    await page.keyboard.press("Enter");
    await page.getByText("The count is recorded.").waitFor();
    const { body } = await world.service.backOffice.get(`/api/facilities/${hall.facility}/stock/${id}`);
    expect(body.onHand).toBe(12);
  });

  it("show the movements of the product that is scanned", async () => {
    const page = await world.open(world.people.warehouse);
    await visit(page, `/facilities/${hall.facility}/movements`, "Movements of Hall one");
    await page.getByRole("row", { name: /Ink/ }).waitFor();
    await scanFast(page, `]E0${BARCODE}`, "Enter");
    await page.getByRole("row", { name: /Ink/ }).waitFor({ state: "detached" });
    await page
      .getByRole("row", { name: /Fineliner/ })
      .first()
      .waitFor();
    await page.getByRole("button", { name: /Fineliner/ }).click();
    await page.getByRole("row", { name: /Ink/ }).waitFor();
  });
});
