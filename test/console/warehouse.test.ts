import { readFile } from "node:fs/promises";
import { readXlsx, writeXlsx } from "hucre/xlsx";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { createPerson } from "../support/people.ts";
import { operationApplied } from "../support/real-orders.ts";
import { uuidIn } from "../support/webhooks.ts";
import { BARCODE, createHall, type Hall, scan, startHall } from "./hall.ts";
import type { World } from "./world.ts";

let world: World;
let hall: Hall;
beforeAll(async () => {
  hall = await startHall();
  world = hall.world;
});
afterAll(() => world.close());

describe("the work list", () => {
  it("gives a batch to one person, on paper with its barcodes, and takes it back", async () => {
    const id = await hall.placeReady("batch-1", 1);
    const page = await world.open(world.people.warehouse);
    await visit(page, `/work?facilityId=${hall.facility}`, "Work list");
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
    const [, pickListId = ""] = /pick-lists\/(pick_\w+)/.exec(page.url()) ?? [];
    await visit(page, "/work/pack", "Packing table");
    await scan(page, pickListId);
    await page.getByText("Pick list of Table 3: 2 orders to pack.").waitFor();
    await page.getByRole("button", { name: "Open batch-1" }).waitFor();
    await scan(page, pickListId.replace(/.{6}$/, "000000"));
    await page.getByRole("alert").getByText("Nothing has the code pick_").waitFor();
    await visit(page, "/work", "Work list");
    // However many lists are open, 16 orders of one line are in view.
    const firstRow = await page.getByRole("row").nth(1).boundingBox();
    expect(firstRow?.y).toBeLessThanOrEqual(900 - 16 * 40);
    await page.getByRole("button", { name: "1 open pick list" }).click();
    await page.getByRole("dialog").getByRole("link", { name: "Table 3" }).click();
    await page.getByRole("button", { name: "Give back" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Give back" }).click();
    await page.getByText("Its orders are free again.").waitFor();
  });

  it("begins with the facility that a person took orders from last", async () => {
    const other = await createHall(world, "Hall of the work list");
    const page = await world.open(world.people.warehouse);
    await visit(page, "/work", "Work list");
    const take = page.getByRole("button", { name: "Take the oldest" });
    expect(await take.isDisabled()).toBe(true);
    await page.getByRole("combobox", { name: "Facility" }).click();
    await page.getByRole("option", { name: "Hall of the work list" }).click();
    await page.waitForURL(`**/work?facilityId=${other}`);
    await expect.poll(() => take.isEnabled()).toBe(true);
    await visit(page, "/returns", "Returns");
    await visit(page, "/work", "Work list");
    await page.waitForURL(`**/work?facilityId=${other}`);
    await world.service.backOffice.post(`/api/facilities/${other}/close`);
  });

  it("is downloaded as it is filtered", async () => {
    const [taken, free] = [await hall.placeReady("file-1"), await hall.placeReady("file-2")];
    const batch = { facilityId: hall.facility, takenBy: "Table 4", orderLimit: 100, leaseMinutes: 720 };
    const { body } = await world.service.backOffice.post("/api/pick-lists", batch);
    await hall.placeReady("file-3");
    const page = await world.open(world.people.warehouse);
    await visit(page, "/work?taken=true", "Work list");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const { sheets } = await readXlsx(await readFile(await (await download).path()));
    const cells = sheets.flatMap(({ rows }) => rows.flat());
    expect(cells).toEqual(expect.arrayContaining([taken, free]));
    expect(cells).not.toContain("file-3");
    await world.service.backOffice.post(`/api/pick-lists/${body.pickList.id}/release`);
  });

  it("is downloaded to fill in the tracking of parcels, which are checked, and stored when the person says so", async () => {
    const [waiting, held, left] = ["fill-in-1", "fill-in-2", "fill-in-3"];
    for (const name of [waiting, held, left]) await hall.placeReady(name, 1);
    const page = await world.open(world.people.warehouse);
    await visit(page, `/work?facilityId=${hall.facility}`, "Work list");
    await page.getByRole("link", { name: "Import tracking" }).click();
    await page.getByRole("heading", { level: 1, name: "Import tracking" }).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download template" }).click();
    const { sheets } = await readXlsx(await readFile(await (await download).path()));
    const [head = [], ...rows] = sheets[0]?.rows ?? [];
    const orderIdOf = (name: string) => String(rows.find((row) => row[1] === name)?.[0]);
    await operationApplied(world.service, orderIdOf(held), "hold");
    const filled = rows.map((row) => {
      const number = { [held]: "FILL-2", [left]: "FILL-3" }[String(row[1])] ?? null;
      return row.map((cell, index) => (head[index] === "trackingNumber" ? number : cell));
    });
    const workbook = await writeXlsx({ sheets: [{ name: "parcels", rows: [head, ...filled] }] });
    const mimeType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    const file = { name: "parcels.xlsx", mimeType, buffer: Buffer.from(workbook) };
    await page.locator('input[type="file"]').setInputFiles(file);
    await page.getByRole("row", { name: `${left} FILL-3 Shipped` }).waitFor();
    await page
      .getByRole("table", { name: "Left out" })
      .getByRole("row", { name: /on hold.* fill-in-2$/ })
      .waitFor();
    await page.getByRole("button", { name: "Store 1 parcel" }).click();
    await page.getByText("The parcels were stored.").waitFor();
    expect((await hall.detailOf(orderIdOf(left))).shipments).toMatchObject([{ trackingNumber: "FILL-3" }]);
    expect((await hall.detailOf(orderIdOf(waiting))).shipments).toEqual([]);
    // The number of that parcel on another one is asked about.
    const again = { name: "again.csv", mimeType: "text/csv" };
    const text = `externalOrderId,trackingNumber\n${waiting},FILL-3\n`;
    await page.locator('input[type="file"]').setInputFiles({ ...again, buffer: Buffer.from(text) });
    await page.getByLabel("Tracking numbers that are on other parcels are meant").check();
    await page.getByRole("button", { name: "Store 1 parcel" }).waitFor();
  });

  it("prints the packing slip and the return slip without prices", async () => {
    const id = await hall.placeReady("paper-1");
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
    const id = await hall.placeReady("back-1", 3);
    const page = await hall.openTable();
    await scan(page, "back-1", `3*${BARCODE}`, "", "DHL", "BACK-TRACK");
    await page.getByText("back-1 has shipped.").waitFor();
    await visit(page, "/returns", "Returns");
    await scan(page, "nothing-1");
    await page.getByRole("alert").getByText("Nothing has the code nothing-1.").waitFor();
    await scan(page, "BACK-TRACK");
    await page.getByLabel("Units of Fineliner that came back, of 3").fill("2");
    expect(await page.getByLabel("Refund the merchant").count(), "only the operator refunds").toBe(0);
    await page.getByRole("button", { name: "Record return" }).click();
    await page.getByText("The return of back-1 is recorded.").waitFor();
    const order = await hall.detailOf(id);
    expect(order.returns).toMatchObject([{ restocked: true, lines: [{ quantity: 2 }] }]);
    expect(order.returns[0].reference).toMatch(/^door-/);
  });

  it("shows the parcel that was scanned last, also if the response to an earlier scan comes later", async () => {
    for (const name of ["slow-1", "fast-1"]) {
      const id = await hall.placeReady(name);
      await operationApplied(world.service, id, "ship");
    }
    const page = await hall.openDoor();
    const isFastShown = Promise.withResolvers<void>();
    await page.route("**/api/work-list/scan?code=slow-1", async (route) => {
      await isFastShown.promise;
      await route.continue();
    });
    await scan(page, "slow-1", "fast-1");
    await page.getByRole("button", { name: "Record return" }).waitFor();
    const slow = page.waitForResponse(/code=slow-1/);
    isFastShown.resolve();
    await (await slow).finished();
    await page.getByRole("button", { name: "Record return" }).click();
    await page.getByText("The return of fast-1 is recorded.").waitFor();
  });

  it("waits with the next parcel for the return that is being recorded", async () => {
    await shipped("sent-1", "next-1");
    const page = await hall.openDoor();
    await scan(page, "sent-1");
    const held = await holdReturn(page);
    const steps: string[] = [];
    page.on("response", (response) => response.url().endsWith("/return") && steps.push("recorded"));
    page.on("request", (request) => request.url().endsWith("code=next-1") && steps.push("next parcel"));
    await scan(page, "next-1");
    held.release();
    await page.getByRole("heading", { name: "next-1" }).waitFor();
    expect(steps).toEqual(["recorded", "next parcel"]);
    expect((await hall.detailOf(held.orderId)).returns).toHaveLength(1);
  });

  it("says why a return was refused, also if the next parcel was scanned before the refusal", async () => {
    await shipped("refused-1", "after-1");
    const page = await hall.openDoor();
    await scan(page, "refused-1");
    const held = await holdReturn(page);
    await scan(page, "after-1");
    await operationApplied(world.service, held.orderId, "return", { reference: "other" });
    held.release();
    await page.getByRole("alert").filter({ hasText: "returned" }).waitFor();
    await page.getByRole("heading", { name: "refused-1" }).waitFor();
    await scan(page, "after-1");
    await page.getByRole("heading", { name: "after-1" }).waitFor();
  });
});

const shipped = async (...names: string[]) => {
  for (const name of names) await operationApplied(world.service, await hall.placeReady(name), "ship");
};

/** Records the return on the page, and keeps its request back. */
async function holdReturn(page: Page): Promise<{ orderId: string; release: () => void }> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const isSent = page.waitForRequest("**/api/orders/*/return");
  await page.route("**/api/orders/*/return", async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole("button", { name: "Record return" }).click();
  const orderId = new URL((await isSent).url()).pathname.split("/").at(-2) ?? "";
  return { orderId, release };
}

describe("what others must not see", () => {
  it("merchants and partners find no warehouse, and staff of another facility none of its orders", async () => {
    await hall.placeReady("hidden-1", 1);
    for (const person of [world.people.merchant, world.people.partner]) {
      const page = await world.open(person);
      await page.goto("/work");
      await page.getByText("Your role does not allow this.").first().waitFor();
      for (const name of ["Work list", "Review queue", "Returns", "Facilities"])
        expect(await page.getByRole("navigation").getByRole("link", { name }).count()).toBe(0);
    }
    const elsewhere = await createHall(world, "Hall two");
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
