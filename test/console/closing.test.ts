import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsOf, visit } from "../support/browser.ts";
import { createFacility, routeAll, setStock } from "../support/facilities.ts";
import { processDuePayments } from "../support/payments.ts";
import { operationApplied, placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
let facility: string;
beforeAll(async () => {
  world = await startWorld();
  const { service, partner } = world;
  facility = await createFacility(service);
  const [one, other] = partner.productIds;
  await service.backOffice.request("PATCH", `/api/products/${one}`, { body: { name: "Mug" } });
  await service.backOffice.request("PATCH", `/api/products/${other}`, { body: { name: "Bowl" } });
  await setStock(service, facility, one, 100);
});
afterAll(() => world.close());

/** Three mugs and two bowls of 10.00 EUR each, paid. */
async function placePaid(externalOrderId: string) {
  const { service, partner } = world;
  const lines = partner.productIds.map((productId, index) => ({ productId, quantity: 3 - index }));
  const { id } = await placeAcceptedOrder(service, partner, { externalOrderId, lines });
  await routeAll(service);
  await processDuePayments(service);
  return id;
}
type Line = { quantity: number; canceledQuantity: number; shipmentId: string | null };
const unitsOf = async (id: string) =>
  (await readDetail(world.service, id)).lines.map(({ quantity, canceledQuantity, shipmentId }: Line) =>
    canceledQuantity > 0 ? `${quantity} canceled` : `${quantity} ${shipmentId === null ? "open" : "shipped"}`,
  );

describe("an order of which not all can be delivered", () => {
  it("ships units and says how many, with their weight, and asks about a number that another parcel has", async () => {
    const first = await placePaid("double-1");
    await operationApplied(world.service, first, "ship", { trackingNumber: "TWICE-1" });
    const id = await placePaid("close-1");
    const page = await world.open(world.people.warehouse);
    await visit(page, `/orders/${id}`, "close-1");
    await page.getByRole("button", { name: "Ship", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Ship" });
    await dialog.getByText("All lines ship, and the order is in progress.").waitFor();
    await dialog.getByLabel("Units of Mug").fill("1");
    await dialog.getByLabel("Units of Bowl").fill("0");
    await dialog.getByText("Ships 1 of 5 units.").waitFor();
    await dialog.getByLabel("Tracking number").fill("TWICE-1");
    await dialog.getByLabel("Weight in grams").fill("350");
    await dialog.getByRole("button", { name: "Ship" }).click();
    await dialog.getByText("already on another parcel").waitFor();
    expect(await findingsOf(page), "the question").toEqual([]);
    await dialog.getByLabel("The number is meant for both parcels").check();
    await dialog.getByRole("button", { name: "Ship" }).click();
    await page.getByText("The shipment is recorded.").waitFor();
    expect(await unitsOf(id)).toEqual(["1 shipped", "2 open", "2 open"]);
    expect((await readDetail(world.service, id)).shipments).toMatchObject([
      { trackingNumber: "TWICE-1", weightGrams: 350 },
    ]);
  });

  it("is closed by its merchant: what is refunded is shown before, and the order is completed", async () => {
    const id = await placePaid("close-2");
    const { lines } = await readDetail(world.service, id);
    await operationApplied(world.service, id, "ship", { lines: [{ lineId: lines[0].id, quantity: 1 }] });
    const page = await world.open(world.people.operator);
    await visit(page, `/orders/${id}`, "close-2");
    await page.getByRole("button", { name: "Cancel the rest" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel the rest" });
    await dialog.getByText("4 units never ship. €40.00 is refunded. Nothing is left to ship").waitFor();
    const bowls = dialog.getByLabel("Units of Bowl");
    await bowls.fill("1");
    await dialog.getByText("3 units never ship. €30.00 is refunded. The others ship.").waitFor();
    await bowls.fill("2");
    expect(await findingsOf(page), "the dialog").toEqual([]);
    await dialog.getByRole("button", { name: "Cancel the rest" }).click();
    await page.getByText("The lines are canceled.").waitFor();
    await page.getByRole("table", { name: "Lines" }).getByText("Canceled").first().waitFor();
    expect(await findingsOf(page), "the page").toEqual([]);
    const order = await readDetail(world.service, id);
    expect(order).toMatchObject({ status: "COMPLETED", refunds: [{ amount: { amount: "40.00" } }] });
  });

  it("begins with what an order lacks that waits for stock, and never cancels the whole order", async () => {
    const { service, partner } = world;
    const [one, other] = partner.productIds;
    await setStock(service, facility, other, 1);
    const lines = [one, other].map((productId) => ({ productId, quantity: 2 }));
    const { id } = await placeAcceptedOrder(service, partner, { externalOrderId: "close-3", lines });
    await routeAll(service);
    await processDuePayments(service);
    const page = await world.open(world.people.operator);
    await visit(page, `/orders/${id}`, "close-3");
    await page.getByRole("button", { name: "Cancel the rest" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel the rest" });
    await dialog.getByText("1 unit never ships. €10.00 is refunded. The others ship.").waitFor();
    await dialog.getByLabel("Units of Mug").fill("9");
    await dialog.getByRole("button", { name: "Cancel the rest" }).click();
    await dialog.getByText("A line has fewer units than you typed.").waitFor();
    await dialog.getByLabel("Units of Mug").fill("2");
    await dialog.getByLabel("Units of Bowl").fill("2");
    await dialog.getByRole("button", { name: "Cancel the rest" }).click();
    await dialog.getByText("Cancel the order instead.").waitFor();
    await dialog.getByLabel("Units of Mug").fill("0");
    await dialog.getByLabel("Units of Bowl").fill("1");
    await dialog.getByRole("button", { name: "Cancel the rest" }).click();
    await page.getByText("The lines are canceled.").waitFor();
    expect(await unitsOf(id)).toEqual(["2 open", "1 open", "1 canceled"]);
    expect((await readDetail(service, id)).onHold).toBe(false);
  });
});
