import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
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
    await dialog.getByRole("button", { name: "Count" }).click();
    await dialog.getByText("The stock has moved: 9 units are on hand.").waitFor();
  });

  it("is not counted as 0 when the field of a count is empty", async () => {
    const tape = await hall.stocked("Tape", "9501101530010", 4);
    const page = await world.open(world.people.warehouse);
    await visit(page, `/facilities/${hall.facility}/stock/${tape}`, "Tape");
    await page.getByRole("button", { name: "Count" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("On hand").fill("");
    await dialog.getByRole("button", { name: "Count" }).click();
    await dialog.getByText("This is needed.").waitFor();
    const { body } = await world.service.backOffice.get(`/api/facilities/${hall.facility}/stock/${tape}`);
    expect(body.onHand).toBe(4);
  });
});
