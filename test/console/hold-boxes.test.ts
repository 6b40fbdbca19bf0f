import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { findingsOf, visit } from "../support/browser.ts";
import {
  anAddress,
  createExposedProduct,
  createPartner,
  type Partner,
  placeOrder,
} from "../support/builders.ts";
import { createFacility, routeAll, setStock } from "../support/facilities.ts";
import { moves, processDuePayments } from "../support/payments.ts";
import { createPerson } from "../support/people.ts";
import { placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
let poor: Partner;
/** Two are on hand. */
let mug: string;
beforeAll(async () => {
  world = await startWorld();
  const { service, partner } = world;
  poor = await createPartner(service);
  await service.backOffice.request("PATCH", `/api/merchants/${poor.merchantId}`, {
    body: { creditLimit: { amount: "1.00", currency: "EUR" } },
  });
  const facility = await createFacility(service);
  const { merchantId, connectionId } = partner;
  mug = await createExposedProduct(service, merchantId, connectionId, { name: "Mug", sku: "MUG-1" });
  await setStock(service, facility, mug, 2);
});
afterAll(() => world.close());

/** The box of a hold. */
const boxOf = (page: Page, reason: string) => page.locator(`[data-hold="${reason}"]`);

async function routedOrder(fields: object): Promise<string> {
  const { id } = await placeAcceptedOrder(world.service, world.partner, fields);
  await routeAll(world.service);
  return id;
}

describe("the box of a hold", () => {
  it("for missing stock names the product, what is needed, and what each facility has", async () => {
    const id = await routedOrder({
      externalOrderId: "short-1",
      lines: [
        { productId: mug, quantity: 3 },
        { productId: world.partner.productIds[0], quantity: 1 },
      ],
    });
    for (const person of ["operator", "merchant", "warehouse"] as const) {
      const page = await world.open(world.people[person]);
      await visit(page, `/orders/${id}`, "short-1");
      const box = boxOf(page, "out_of_stock");
      await box.getByText("Mug: 3 needed, at most 2 available at one facility.").waitFor();
      const mayAdjust = person !== "merchant";
      expect((await box.getByRole("row").allTextContents()).slice(1), "what is enough is left out").toEqual([
        `MugMUG-13Facility202${mayAdjust ? "Adjust" : ""}`,
      ]);
      expect(await box.getByRole("link", { name: "Adjust" }).count(), person).toBe(mayAdjust ? 1 : 0);
      expect(await findingsOf(page), person).toEqual([]);
    }
  });

  it("for an address says what no rate covers, and corrects the address in place", async () => {
    const id = await routedOrder({
      externalOrderId: "abroad-1",
      shippingAddress: anAddress({ countryCode: "FR" }),
    });
    const page = await world.open(world.people.merchant);
    await visit(page, `/orders/${id}`, "abroad-1");
    const box = boxOf(page, "address_unserviceable");
    await box.getByText("No facility ships to France in EUR.").waitFor();
    await box.getByRole("button", { name: "Correct address" }).click();
    const dialog = page.getByRole("dialog", { name: "Correct address" });
    await dialog.getByLabel("Country code").fill("GB");
    await dialog.getByRole("button", { name: "Correct address" }).click();
    await page.getByText("The address is corrected.").waitFor();
    await box.waitFor({ state: "detached" });
    expect((await readDetail(world.service, id)).onHold).toBe(false);
  });

  it("for a failed payment gives the operator the payment and the limit, and the merchant how to pay", async () => {
    const { service } = world;
    const { id } = await placeOrder(poor, { externalOrderId: "unpaid-1" });
    await processDuePayments(service);
    const merchant = await createPerson(service, {
      name: "Petra",
      email: "petra@example.com",
      grants: [{ role: "merchant", merchantIds: [fromTypeId("mer", poor.merchantId) ?? ""] }],
    });
    const own = await world.open(merchant);
    await visit(own, `/orders/${id}`, "unpaid-1");
    await boxOf(own, "payment_failed").getByText("€10.00 was declined (Credit limit exceeded),").waitFor();
    expect(await boxOf(own, "payment_failed").getByRole("button").allTextContents()).toEqual([
      "Retry payment",
    ]);
    await boxOf(own, "payment_failed").getByRole("link", { name: "How to pay" }).waitFor();

    const page = await world.open(world.people.operator);
    await visit(page, `/orders/${id}`, "unpaid-1");
    const box = boxOf(page, "payment_failed");
    await box.getByRole("button", { name: "Record a payment" }).waitFor();
    await box.getByRole("button", { name: "Change credit limit" }).click();
    const dialog = page.getByRole("dialog", { name: "Change credit limit" });
    expect(await dialog.getByLabel("Credit limit").inputValue()).toBe("1.00");
    await dialog.getByLabel("Credit limit").fill("");
    await dialog.getByRole("button", { name: "Change credit limit" }).click();
    await dialog.getByText("This is needed.").waitFor();
    expect(await findingsOf(page), "the dialog").toEqual([]);
    await dialog.getByLabel("Credit limit").fill("50");
    await dialog.getByRole("button", { name: "Change credit limit" }).click();
    await page.getByText("The credit limit was changed.").waitFor();
    await processDuePayments(service);
    expect(await moves(service, poor, id)).toEqual(["goods 1 failed", "goods 2 succeeded"]);
  });

  it("of a review says why, and decides in place", async () => {
    const { service, partner } = world;
    await service.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, {
      body: { reviewPolicy: { maxQuantity: 5 } },
    });
    const { id } = await placeOrder(partner, {
      externalOrderId: "large-1",
      lines: [{ productId: partner.productIds[1], quantity: 6 }],
    });
    const page = await world.open(world.people.warehouse);
    await visit(page, `/orders/${id}`, "large-1");
    await page.getByText("It has 6 units; up to 5 need no review.").waitFor();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("The order is approved.").waitFor();
    await page.getByText("It has 6 units").waitFor({ state: "detached" });
  });
});
