import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsOf, visit } from "../support/browser.ts";
import { createFacility, routeAll } from "../support/facilities.ts";
import { processDuePayments } from "../support/payments.ts";
import { placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
/** Three of a product and two of another one, each 10.00 EUR, and shipping of 5.00 EUR, all paid. */
let id: string;
beforeAll(async () => {
  world = await startWorld();
  const { service, partner } = world;
  await createFacility(service);
  const [one, other] = partner.productIds;
  await service.backOffice.request("PATCH", `/api/products/${one}`, { body: { name: "Mug" } });
  await service.backOffice.request("PATCH", `/api/products/${other}`, { body: { name: "Bowl" } });
  const lines = [
    { productId: one, quantity: 3 },
    { productId: other, quantity: 2 },
  ];
  ({ id } = await placeAcceptedOrder(service, partner, { externalOrderId: "refunded-1", lines }));
  await routeAll(service);
  await processDuePayments(service);
});
afterAll(() => world.close());

const detail = () => readDetail(world.service, id);

describe("the refund of an order", () => {
  it("shows what is left, refunds nothing by an empty field, and returns the price of lines", async () => {
    const page = await world.open(world.people.operator);
    await visit(page, `/orders/${id}`, "refunded-1");
    await page.getByRole("button", { name: "Refund" }).click();
    const dialog = page.getByRole("dialog", { name: "Refund" });
    await dialog.getByText("Up to €55.00").waitFor();
    await dialog.getByText("SKU-1 · €10.00 · 3 left").waitFor();
    await dialog.getByLabel("Reference").fill("ticket-1");
    await dialog.getByRole("button", { name: "Refund" }).click();
    await dialog.getByText("This is needed.").waitFor();
    expect((await detail()).refunds).toEqual([]);
    expect(await findingsOf(page), "the dialog").toEqual([]);

    await dialog.getByLabel("Units of Mug").fill("2");
    await dialog.getByLabel("Shipping, €5.00").check();
    expect(await dialog.getByLabel("Amount in EUR").inputValue()).toBe("25.00");
    await dialog.getByRole("button", { name: "Refund" }).click();
    await page.getByText("The refund is recorded.").waitFor();
    expect((await detail()).refunds).toMatchObject([
      { amount: { amount: "25.00" }, lines: [{ quantity: 2 }] },
    ]);
    expect((await detail()).totals).toMatchObject({ refundableShipping: { amount: "0.00" } });
  });

  it("stands in the timeline and in the money with its amount and reference", async () => {
    await processDuePayments(world.service);
    for (const person of ["operator", "merchant"] as const) {
      const page = await world.open(world.people[person]);
      await visit(page, `/orders/${id}`, "refunded-1");
      await page.getByText("Refunded: €25.00, Goodwill").waitFor();
      await page.getByText(/Reference ticket-1/).waitFor();
      const money = page.getByRole("region", { name: "Money" });
      expect(await money.innerText(), person).toMatch(
        /Charged\s+€55\.00\s+Refunded\s+[-−]€25\.00\s+Net\s+€30\.00/,
      );
      expect(await page.getByRole("button", { name: "Refund" }).count(), person).toBe(
        person === "operator" ? 1 : 0,
      );
    }
  });

  it("returns all that is left on a click, and less than the price if one types it", async () => {
    const page = await world.open(world.people.operator, { language: "de-DE" });
    await visit(page, `/orders/${id}`, "refunded-1");
    await page.getByRole("button", { name: "Erstatten" }).click();
    const dialog = page.getByRole("dialog", { name: "Erstatten" });
    await dialog.getByRole("button", { name: "Alles" }).click();
    expect(await dialog.getByLabel("Betrag in EUR").inputValue()).toBe("30,00");
    await dialog.getByLabel("Betrag in EUR").fill("30,01");
    await dialog.getByLabel("Referenz").fill("ticket-2");
    await dialog.getByRole("button", { name: "Erstatten" }).click();
    await dialog
      .getByText(/darf höchstens 30,00\s€ sein/)
      .first()
      .waitFor();
    await dialog.getByLabel("Stück von Bowl").fill("1");
    await dialog.getByLabel("Betrag in EUR").fill("2,50");
    await dialog.getByRole("button", { name: "Erstatten" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await detail()).refunds.at(-1)).toMatchObject({
      amount: { amount: "2.50" },
      lines: [{ quantity: 1 }],
    });
  });
});
