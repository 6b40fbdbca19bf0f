import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsOf, visit } from "../support/browser.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { processDuePayments } from "../support/payments.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
let poor: Partner;
beforeAll(async () => {
  world = await startWorld();
  poor = await createPartner(world.service);
  await world.service.backOffice.request("PATCH", `/api/merchants/${poor.merchantId}`, {
    body: { creditLimit: { amount: "1.00", currency: "EUR" } },
  });
  await placeOrder(poor, { externalOrderId: "declined-1" });
  await processDuePayments(world.service);
});
afterAll(() => world.close());

async function recordPayment(page: Page, amount: string, reference: string): Promise<void> {
  await page.getByRole("button", { name: "Record a payment" }).click();
  const dialog = page.getByRole("dialog", { name: "Record a payment" });
  await dialog.getByLabel("Amount").fill(amount);
  await dialog.getByLabel("Reference").fill(reference);
  await dialog.getByRole("button", { name: "Record a payment" }).click();
}

describe("the money of a merchant", () => {
  it("the operator finds a declined payment, records money, and the statement shows it", async () => {
    const page = await world.open(world.people.operator);
    await page.clock.setFixedTime(world.service.clock.now()); // The month of the statement is that of the browser.
    await visit(page, "/payment-failures", "Declined payments");
    const row = page.getByRole("row").filter({ hasText: "declined-1" });
    await row.getByText("Credit limit exceeded").waitFor();
    await row.getByText(/^Pay the account/).waitFor();
    await row.getByRole("link").last().click();
    await page.getByRole("heading", { level: 1, name: /^Account of/ }).waitFor();
    await page.getByText("A payment was declined").waitFor();
    await recordPayment(page, "1000.505", "bank-1");
    const dialog = page.getByRole("dialog", { name: "Record a payment" });
    await dialog.locator("[aria-invalid=true]").first().waitFor();
    expect(await findingsOf(page), "the dialog").toEqual([]);
    await dialog.getByLabel("Amount").fill("1000.50");
    await dialog.getByRole("button", { name: "Record a payment" }).click();
    await page.getByText("The payment was recorded.").waitFor();
    await processDuePayments(world.service);
    world.service.clock.advance({ seconds: 1 }); // A statement ends before the present moment.
    await page.reload();
    const booked = page.getByRole("row").filter({ hasText: "bank-1" });
    await booked.getByText("Olivia").waitFor();
    expect(await booked.textContent()).toContain("€1,000.50");
    await page.getByRole("row").filter({ hasText: "declined-1" }).waitFor();
    expect(await page.getByText("A payment was declined").count()).toBe(0);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    expect((await download).suggestedFilename()).toMatch(/xlsx$/);
  });

  it("a statement shows the days of its period, to the second on request, and begins with a month of the person's zone", async () => {
    const page = await world.open(world.people.merchant);
    await page.clock.setFixedTime(world.service.clock.now());
    const account = `/merchants/${world.partner.merchantId}/account`;
    const period = page.locator("dt", { hasText: "Period" }).locator("+ dd");
    await visit(page, account, "Account of Merchant");
    expect(await period.textContent()).toMatch(/^1 Mar 2026, 00:00\s–\s2 Mar 2026, [0-9:]+$/);
    expect(await period.locator("[title]").getAttribute("title")).toMatch(
      /^Sun, 1 Mar 2026, 0:00:00 CET – Mon, 2 Mar 2026, [0-9:]+ CET$/,
    );
    await visit(page, `${account}?from=2026-02-09&to=2026-02-09`, "Account of Merchant");
    expect(await period.textContent()).toBe("9 Feb 2026");
    await visit(page, `${account}?to=2026-02-09`, "Account of Merchant");
    expect(await period.textContent()).toMatch(/^1\s?–\s?9 Feb 2026$/);
  });

  it("the merchant reads its own account and charges, changes nothing, and sees no other merchant's", async () => {
    const page = await world.open(world.people.merchant);
    await page.clock.setFixedTime(world.service.clock.now());
    await visit(page, `/merchants/${world.partner.merchantId}/account`, "Account of Merchant");
    await page.getByText("Charges go to the merchant's account.").waitFor();
    for (const name of ["Record a payment", "Charge by Stripe"])
      expect(await page.getByRole("button", { name }).count(), name).toBe(0);
    await page.getByRole("link", { name: "Charges and refunds" }).click();
    await page.getByRole("row").filter({ hasText: "shop-1003" }).first().waitFor();
    await page.goto(`/merchants/${poor.merchantId}/account`);
    await page.getByText("There is nothing at this address, or it is not yours to see.").waitFor();
    const body = { amount: { amount: "5.00", currency: "EUR" }, reference: "mine" };
    const recorded = await page.request.post(`/api/merchants/${world.partner.merchantId}/account/payments`, {
      data: body,
      headers: { origin: world.url },
    });
    expect(recorded.status()).toBe(403);
  });
});
