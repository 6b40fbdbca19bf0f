import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { createPartner } from "../support/builders.ts";
import { setStock } from "../support/facilities.ts";
import { type Hall, startHall } from "./hall.ts";
import type { World } from "./world.ts";

let world: World;
let hall: Hall;
beforeAll(async () => {
  hall = await startHall();
  world = hall.world;
});
afterAll(() => world.close());

describe("stock", () => {
  it("is found by a barcode, adjusted with a reason, and counted only as it was seen", async () => {
    const glue = await hall.stocked("Glue", "9501101530003", 3);
    const page = await world.open(world.people.warehouse);
    await visit(page, `/facilities/${hall.facility}/stock?availableBelow=5`, "Stock of Hall one");
    await page.getByRole("row", { name: /Glue/ }).waitFor();
    expect(await page.getByRole("row", { name: /Ink/ }).count()).toBe(0);
    await visit(page, `/facilities/${hall.facility}/stock?q=9501101530003`, "Stock of Hall one");
    await page.getByRole("row", { name: /Glue/ }).getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "Glue" }).waitFor();
    await page.getByRole("button", { name: "Adjust" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Difference").fill("-1");
    await dialog.getByRole("button", { name: "Adjust" }).click();
    await page.getByText("The stock is adjusted.").waitFor();
    await page.getByRole("row", { name: /Received.*-1/ }).waitFor();
    await page.getByRole("button", { name: "Count" }).click();
    await setStock(world.service, hall.facility, glue, 9); // Another person is faster.
    await dialog.getByLabel("On hand").fill("1");
    await dialog.getByRole("button", { name: "Count" }).press("Enter");
    await dialog.getByText("The stock has changed: 9 units on hand.").waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Count");
    // Another count begins with what is there now.
    await dialog.getByRole("button", { name: "Back" }).click();
    await page.getByRole("button", { name: "Count" }).click();
    await dialog.getByText("rejected if 9 units are not there any more").waitFor();
  });

  it("is not counted over units that moved during the count, also if the page has read them again", async () => {
    const nails = await hall.stocked("Nails", "9501101530027", 10);
    const address = `/api/facilities/${hall.facility}/stock/${nails}`;
    const page = await world.open(world.people.warehouse);
    await page.clock.install();
    await visit(page, `/facilities/${hall.facility}/stock/${nails}`, "Nails");
    await page.getByRole("button", { name: "Count" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("rejected if 10 units are not there any more").waitFor();
    const colleague = { difference: -3, reason: "damaged", reference: "floor-3" };
    await world.service.backOffice.post(`${address}/adjust`, colleague);
    await page.clock.fastForward("00:11"); // What was read is old by then.
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))"); // The person comes back to this tab.
    await page.getByText("7", { exact: true }).first().waitFor();
    await dialog.getByText("rejected if 10 units are not there any more").waitFor();
    await dialog.getByLabel("On hand").fill("9");
    await dialog.getByRole("button", { name: "Count" }).click();
    await dialog.getByText("The stock has changed: 7 units on hand.").waitFor();
    expect((await world.service.backOffice.get(address)).body.onHand).toBe(7);
    await dialog.getByRole("button", { name: "Back" }).click();
    await page.getByRole("button", { name: "Count" }).click();
    await dialog.getByText("rejected if 7 units are not there any more").waitFor();
    await dialog.getByLabel("On hand").fill("6");
    await dialog.getByRole("button", { name: "Count" }).click();
    await page.getByText("The count is recorded.").waitFor();
  });

  it("is not counted as 0 when the field of a count is empty, or has a number below 0", async () => {
    const tape = await hall.stocked("Tape", "9501101530010", 4);
    const page = await world.open(world.people.warehouse);
    await visit(page, `/facilities/${hall.facility}/stock/${tape}`, "Tape");
    await page.getByRole("button", { name: "Count" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("On hand").fill("");
    await dialog.getByRole("button", { name: "Count" }).click();
    await dialog.getByText("This is needed.").waitFor();
    await dialog.getByLabel("On hand").fill("-1");
    await dialog.getByRole("button", { name: "Count" }).click();
    await dialog.getByText("must be at least 0").waitFor();
    const { body } = await world.service.backOffice.get(`/api/facilities/${hall.facility}/stock/${tape}`);
    expect(body.onHand).toBe(4);
  });

  it("is begun for an article that two merchants sell, for the one that the person chooses, or by the product's id", async () => {
    const { service } = world;
    const barcode = "9501101530034";
    const body = { name: "Stapler", barcode };
    const other = await createPartner(service);
    await service.backOffice.request("PATCH", `/api/merchants/${other.merchantId}`, {
      body: { name: "Paper Ltd" },
    });
    const [own, foreign] = [hall.partner.productIds[0], other.productIds[0]];
    for (const id of [own, foreign])
      expect((await service.backOffice.request("PATCH", `/api/products/${id}`, { body })).status).toBe(200);
    const page = await world.open(world.people.warehouse);
    await visit(page, `/facilities/${hall.facility}/stock`, "Stock of Hall one");
    const dialog = page.getByRole("dialog");
    const record = async (code: string) => {
      await page.getByRole("button", { name: "Record stock" }).click();
      await dialog.getByLabel("Barcode or SKU").fill(code);
      await dialog.getByLabel("On hand").fill("6");
      await dialog.getByRole("button", { name: "Record stock" }).click();
    };
    const scanInto = async (code: string, message: string) => {
      await page.keyboard.insertText(code); // As a scanner, into whatever has the focus.
      await dialog.getByRole("button", { name: "Record stock" }).click();
      await dialog.getByText(message).first().waitFor();
      expect(await dialog.getByText(message).count()).toBe(1);
      expect(await dialog.getByLabel("Barcode or SKU").inputValue()).toBe(code);
    };
    await record("no-such-code");
    await dialog.getByText("No product has this barcode or SKU.").first().waitFor();
    await scanInto("no-other-code", "No product has this barcode or SKU.");
    await scanInto(barcode, "Several products have this code. Choose one of them.");
    await scanInto(barcode, "Several products have this code. Choose one of them.");
    await dialog.getByRole("combobox", { name: "Which product" }).click();
    await expect.poll(() => page.getByRole("option").count()).toBe(2);
    await page.getByRole("option", { name: /^Paper Ltd · Stapler · .* · 9501101530034$/ }).click();
    await dialog.getByRole("button", { name: "Record stock" }).click();
    await page.getByText("The count is recorded.").waitFor();
    const stockOf = async (id: string | undefined) =>
      (await service.backOffice.get(`/api/facilities/${hall.facility}/stock/${id}`)).body.onHand;
    expect([await stockOf(foreign), await stockOf(own)]).toEqual([6, undefined]);
    await dialog.waitFor({ state: "detached" });
    await record(own ?? "");
    await expect.poll(() => stockOf(own)).toBe(6);
  });
});

describe("an import of stock", () => {
  it("shows what a file would change and what the stock forbids, and stores the rest", async () => {
    const { service } = world;
    const mugs = await hall.stocked("Mug", "9501101530041", 4);
    const { sku } = (await service.backOffice.get(`/api/products/${mugs}`)).body;
    const { lines } = await hall.detailOf(await hall.placeReady("import-1", 3)); // Three pens are reserved.
    const page = await world.open(world.people.warehouse);
    await visit(page, `/facilities/${hall.facility}/stock`, "Stock of Hall one");
    await page.getByRole("link", { name: "Import", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Import stock" }).waitFor();
    const file = (name: string, text: string) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
    const input = page.locator('input[type="file"]');
    await input.setInputFiles(file("wrong.csv", `sku,onHand\n${sku},many\n`));
    await page.getByText("The file has errors").waitFor();
    const rows = [
      { productId: mugs, onHand: 9 },
      { productId: lines[0]?.productId, onHand: 1 },
    ];
    await input.setInputFiles(file("stock.jsonl", rows.map((row) => `${JSON.stringify(row)}\n`).join("")));
    await page.getByRole("row", { name: `1 ${mugs} 4 9` }).waitFor();
    await page
      .getByRole("table", { name: "Left out" })
      .getByRole("row", { name: /^2 onHand/ })
      .waitFor();
    await page.getByRole("button", { name: "Import 1 row" }).click();
    await page.getByText("The stock was imported.").waitFor();
    const { body } = await service.backOffice.get(`/api/facilities/${hall.facility}/stock/${mugs}`);
    expect(body.onHand).toBe(9);
  });
});
