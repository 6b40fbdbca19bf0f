import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { warehouseOf } from "../support/back-office-resources.ts";
import { findingsOf } from "../support/browser.ts";
import { placeOrder } from "../support/builders.ts";
import { moves, processDuePayments, setCreditLimit } from "../support/payments.ts";
import { operationApplied, readDetail, requestOperation } from "../support/real-orders.ts";
import { startWorld, type World } from "./world.ts";

const WAIVED = "The declined charge is waived: the merchant no longer owes it.";
const NOT_MINE = "Your role cannot release it.";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

async function openDialog(page: Page, orderId: string) {
  await page.goto(`/orders/${orderId}`);
  await page.getByRole("button", { name: "Release hold" }).click();
  const dialog = page.getByRole("dialog", { name: "Release hold" });
  const reason = (name: string) => dialog.getByRole("checkbox", { name });
  const release = () => dialog.getByRole("button", { name: "Release hold" }).click();
  return { dialog, reason, release };
}

describe("the dialog that releases a hold, beside a declined charge", () => {
  let id: string;
  beforeEach(async () => {
    const { service, partner } = world;
    await setCreditLimit(service, partner, 0n);
    id = (await placeOrder(partner)).id;
    await processDuePayments(service);
    await operationApplied(service, id, "hold", { reasons: ["fraud check"] });
  });

  it("keeps the charge unless the operator ticks it", async () => {
    const page = await world.open(world.people.operator);
    const { dialog, reason, release } = await openDialog(page, id);
    await dialog.getByText("The order stays on hold for the others.").waitFor();
    await dialog.getByText("The partner receives order.onHold.").waitFor();
    expect(await reason("fraud check").isChecked()).toBe(true);
    expect(await reason("Payment failed").isChecked()).toBe(false);
    expect(await dialog.getByText(WAIVED).count()).toBe(0);
    await release();
    await page.getByText("The hold is released.").waitFor();
    expect((await readDetail(world.service, id)).onHoldReasons).toEqual(["payment_failed"]);
    expect(await moves(world.service, world.partner, id)).toEqual(["goods 1 failed", "goods 2 pending"]);
  });

  it("says that the charge is waived as soon as it is ticked, and needs a reason", async () => {
    const page = await world.open(world.people.operator);
    const { dialog, reason, release } = await openDialog(page, id);
    await reason("fraud check").uncheck();
    await release();
    await dialog.getByText("Choose one reason at least.").waitFor();
    await reason("Payment failed").check();
    await dialog.getByText(WAIVED).waitFor();
    await dialog.getByText("The order stays on hold for the others.").waitFor();
    await reason("fraud check").check();
    await dialog.getByText("The order continues where it was.").waitFor();
    await dialog.getByText("The partner receives order.onHoldReleased.").waitFor();
    expect(await findingsOf(page), "the dialog").toEqual([]);
    await release();
    await page.getByText("The hold is released.").waitFor();
    expect((await readDetail(world.service, id)).onHold).toBe(false);
    expect(await moves(world.service, world.partner, id)).toEqual(["goods 1 failed", "goods 2 canceled"]);
  });

  it("says it in German too", async () => {
    const page = await world.open(world.people.operator, { language: "de-DE" });
    await page.goto(`/orders/${id}`);
    await page.getByRole("button", { name: "Halt aufheben" }).click();
    const dialog = page.getByRole("dialog", { name: "Halt aufheben" });
    await dialog.getByRole("checkbox", { name: "Zahlung fehlgeschlagen" }).check();
    await dialog.getByText("Der Händler schuldet sie nicht mehr.").waitFor();
  });
});

describe("the dialog that releases a hold, of those who may not release all", () => {
  it("a merchant's person releases the merchant's request", async () => {
    const { id } = await placeOrder(world.partner);
    await operationApplied(world.service, id, "hold", { reasons: ["merchant_request", "fraud"] });
    const page = await world.open(world.people.merchant);
    const { dialog, reason, release } = await openDialog(page, id);
    expect(await reason("fraud").isDisabled()).toBe(true);
    expect(await dialog.getByText(NOT_MINE).count()).toBe(1);
    expect(await findingsOf(page), "the dialog").toEqual([]);
    await release();
    await page.getByText("The hold is released.").waitFor();
    expect((await readDetail(world.service, id)).onHoldReasons).toEqual(["fraud"]);
  });

  it("the warehouse releases its own reason beside one of routing", async () => {
    const { id } = await placeOrder(world.partner);
    await operationApplied(world.service, id, "hold", { reasons: ["address_unserviceable"] });
    await requestOperation(world.service, id, "hold", { reasons: ["damaged"] }, warehouseOf(world.service));
    const page = await world.open(world.people.warehouse);
    const { reason, release } = await openDialog(page, id);
    expect(await reason("Address cannot be served").isDisabled()).toBe(true);
    await release();
    await page.getByText("The hold is released.").waitFor();
    expect((await readDetail(world.service, id)).onHoldReasons).toEqual(["address_unserviceable"]);
  });
});
