import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Person } from "../../src/people/person.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { findingsOf, visit } from "../support/browser.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { moves, processDuePayments, setCreditLimit } from "../support/payments.ts";
import { createPerson } from "../support/people.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
/** It may owe 15.00 EUR. One order of 10.00 EUR was paid, and two were declined. */
let poor: Partner;
let owner: Person;
const declined: string[] = [];
beforeAll(async () => {
  world = await startWorld();
  const { service } = world;
  poor = await createPartner(service);
  await setCreditLimit(service, poor, 1_500n);
  await placeOrder(poor);
  for (const name of ["declined-1", "declined-2"])
    declined.push((await placeOrder(poor, { externalOrderId: name })).id);
  await processDuePayments(service);
  owner = await createPerson(service, {
    name: "Petra",
    email: "petra@example.com",
    grants: [{ role: "merchant", merchantIds: [fromTypeId("mer", poor.merchantId) ?? ""] }],
  });
});
afterAll(() => world.close());

describe("the account of a merchant that owes", () => {
  it("has on top what to pay, and where as soon as the operator has set it", async () => {
    const account = `/merchants/${poor.merchantId}/account`;
    const own = await world.open(owner);
    await visit(own, account, "Account of Merchant");
    const section = own.getByRole("region", { name: "To pay" });
    await section.getByText("€30.00").waitFor();
    await section.getByText("2 orders wait for €20.00. Pay €15.00 and they continue.").waitFor();
    await section.getByText("Ask the operator where to pay").waitFor();
    expect(await own.getByRole("button", { name: "Bank details", exact: true }).count()).toBe(0);

    const page = await world.open(world.people.operator);
    await visit(page, account, "Account of Merchant");
    await page.getByRole("button", { name: "Bank details", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Bank details" });
    await dialog.getByLabel("Account holder").fill("Fulfilment Ltd");
    await dialog.getByLabel("IBAN or account number").fill("DE75 5121 0800 1245 1261 98");
    await dialog.getByRole("button", { name: "Bank details", exact: true }).click();
    await dialog.getByText("is not a valid IBAN").first().waitFor();
    expect(await findingsOf(page), "the dialog").toEqual([]);
    await dialog.getByLabel("IBAN or account number").fill("DE75 5121 0800 1245 1261 99");
    await dialog.getByRole("button", { name: "Bank details", exact: true }).click();
    await page.getByText("The bank details are set.").waitFor();

    await own.reload();
    await section.getByText("DE75512108001245126199").waitFor();
    await section.getByText(poor.merchantId).waitFor();
    expect(await findingsOf(own), "the account").toEqual([]);

    await page.getByRole("button", { name: "Remove bank details" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove bank details" }).click();
    await page.getByText("The bank details are removed.").waitFor();
    await own.reload();
    await section.getByText("Ask the operator where to pay").waitFor();
  });

  it("groups declined payments by merchant, and retries all of them by one request", async () => {
    const page = await world.open(world.people.operator);
    await visit(page, "/payment-failures", "Declined payments");
    const table = page.getByRole("table", { name: "Declined payments by merchant" });
    await table.getByRole("row").filter({ hasText: "€20.00" }).waitFor();
    await setCreditLimit(world.service, poor, 10_000n); // As if it could pay by now.
    await table.getByRole("button", { name: "Retry all 2" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry all 2" }).click();
    await page.getByText("The payments are being retried.").waitFor();
    await processDuePayments(world.service);
    for (const id of declined)
      expect(await moves(world.service, poor, id)).toEqual(["goods 1 failed", "goods 2 succeeded"]);
  });
});
