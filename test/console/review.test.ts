import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import { readDetail } from "../support/real-orders.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

describe("the review queue", () => {
  it("says why an order waits, and shows the next one after a decision", async () => {
    const { service } = world;
    const strict = await createPartner(service);
    await service.backOffice.request("PATCH", `/api/connections/${strict.connectionId}`, {
      body: { reviewPolicy: { maxQuantity: 1 } },
    });
    const lines = [{ productId: strict.productIds[0] ?? "", quantity: 3 }];
    const { id: first } = await placeOrder(strict, { externalOrderId: "check-1", lines });
    const { id: second } = await placeOrder(strict, { externalOrderId: "check-2", lines });
    const page = await world.open(world.people.warehouse);
    await visit(page, "/review", "Review queue");
    await page.getByText("It has 3 units; up to 1 need no review.").waitFor();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("The order is accepted, the merchant is charged").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { level: 2, name: "check-2" }).waitFor();
    await page.getByRole("button", { name: "Reject" }).click();
    await page.getByRole("dialog").getByLabel("Reason").fill("No such street");
    await page.getByRole("dialog").getByRole("button", { name: "Reject" }).click();
    await page.getByRole("heading", { name: "Nothing to review" }).waitFor();
    expect([(await readDetail(service, first)).status, (await readDetail(service, second)).status]).toEqual([
      "ACCEPTED",
      "CANCELED",
    ]);
  });

  it("has pages in both directions, and continues at its beginning after the last decision of a page", async () => {
    const { service } = world;
    const strict = await createPartner(service);
    await service.backOffice.request("PATCH", `/api/connections/${strict.connectionId}`, {
      body: { reviewPolicy: { maxQuantity: 1 } },
    });
    const lines = [{ productId: strict.productIds[0] ?? "", quantity: 3 }];
    for (let number = 1; number <= 26; number += 1)
      await placeOrder(strict, { externalOrderId: `page-${number}`, lines });
    const page = await world.open(world.people.warehouse);
    const shows = (name: string) => page.getByRole("heading", { level: 2, name, exact: true }).waitFor();
    await visit(page, "/review", "Review queue");
    await shows("page-1");
    await page.getByRole("button", { name: "Next" }).click();
    await shows("page-26");
    await page.getByRole("button", { name: "Previous" }).click();
    await shows("page-1");
    await page.getByRole("button", { name: "Next" }).click();
    await shows("page-26");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await shows("page-1");
  });
});
