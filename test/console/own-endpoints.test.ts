import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsOf, visit } from "../support/browser.ts";
import { created } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { createHall } from "./hall.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
let facility: string;
beforeAll(async () => {
  world = await startWorld();
  facility = await createHall(world, "Hall one");
});
afterAll(() => world.close());

describe("the endpoints of a merchant and a facility", () => {
  it("are created by the merchant, changed, tested and deleted, with the merchant's types of events", async () => {
    const { merchantId } = world.partner;
    const page = await world.open(world.people.merchant);
    await visit(page, "/webhook-endpoints", "Webhook endpoints");
    await page.getByRole("button", { name: "Create endpoint" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: "Owner" }).click();
    await page.getByRole("option", { name: "Merchant", exact: true }).click();
    await dialog.getByRole("textbox", { name: "Address" }).fill("https://1.1.1.1/erp?key=k");
    await dialog.getByRole("combobox", { name: "Event types" }).click();
    await page.getByRole("option", { name: "order.readyToShip" }).click();
    expect(await page.getByRole("option", { name: "order.onHold" }).count()).toBe(0);
    await page.keyboard.press("Escape");
    expect(await findingsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Create endpoint" }).click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page
      .getByRole("row", { name: /erp.*Merchant/ })
      .getByRole("link")
      .click();
    await page.getByRole("heading", { level: 1, name: "https://1.1.1.1/erp?key=k" }).waitFor();
    expect(page.url()).toContain(`/merchants/${merchantId}/webhook-endpoints/`);

    await page.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Note").fill("Our ERP");
    await dialog.getByLabel("Requests at the same time").fill("3");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("The endpoint was changed.").waitFor();
    await page.getByText("Our ERP").waitFor();
    const endpointId = page.url().split("/").at(-1) ?? "";
    const { body } = await world.service.backOffice.get(
      `/api/merchants/${merchantId}/webhook-endpoints/${endpointId}`,
    );
    expect(body).toMatchObject({ maxInFlight: 3, description: "Our ERP", eventTypes: ["order.readyToShip"] });

    await page.getByRole("button", { name: "Send a test event" }).click();
    await dialog.getByRole("button", { name: "Send a test event" }).click();
    await page.getByRole("heading", { level: 1, name: "webhook.ping" }).waitFor();
    expect(page.url()).toContain(`/merchants/${merchantId}/deliveries/`);
    await page.getByText("Its turn").waitFor();
    await page.getByRole("link", { name: "Deliveries" }).last().click();
    await page.getByRole("link", { name: "webhook.ping" }).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "https://1.1.1.1/erp?key=k" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("The endpoint was deleted.").waitFor();
  });

  it("are found by the warehouse among those of its facilities alone, and paused", async () => {
    const path = `/api/facilities/${facility}/webhook-endpoints`;
    const url = "https://1.1.1.1/wms";
    await created(world.service.backOffice.post(path, { url, description: "WMS" }));
    const page = await world.open(world.people.warehouse);
    await visit(page, "/webhook-endpoints?q=hall", "Webhook endpoints");
    await page.getByRole("row", { name: /wms.*Hall one/ }).waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    await visit(page, "/webhook-endpoints", "Webhook endpoints");
    await page.getByRole("row", { name: /wms.*Hall one/ }).waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    await page.getByRole("link", { name: url }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await visit(page, `/facilities/${facility}`, "Hall one");
    await page.getByRole("row", { name: /wms/ }).getByText("Paused").waitFor();
  });
});

describe("an endpoint that fails", () => {
  it("says since when, why, and when it is tried again; its deliveries say what they wait for", async () => {
    const receiver = await startReceiverForTest((_, response) => {
      response.statusCode = 503;
      response.end();
    });
    // The world has a service that rejects private addresses, and the dispatcher of the test permits them.
    const { merchantId } = world.partner;
    const path = `/api/merchants/${merchantId}/webhook-endpoints`;
    const { id } = await created(world.service.backOffice.post(path, { url: "https://1.1.1.1/down" }));
    await world.service.db.query({
      name: "test-move-endpoint",
      text: "update webhook_endpoints set url = $2 where url = $1",
      values: ["https://1.1.1.1/down", receiver.url],
    });
    await world.service.backOffice.post(`${path}/${id}/ping`);
    const dispatcher = startDispatcher(world.service, { allowPrivateNetworks: true });
    await sendDue(dispatcher);
    const page = await world.open(world.people.merchant);
    await page.clock.install({ time: world.service.clock.now() });
    await page.goto(`/merchants/${merchantId}/webhook-endpoints/${id}`);
    await page.getByText(/· HTTP 503/).waitFor();
    await page.getByText("Failing since").waitFor();
    await page.goto(`/merchants/${merchantId}/deliveries`);
    const row = page.getByRole("row", { name: /webhook\.ping/ }).first();
    await row.getByText(/^Retry at /).waitFor();
    await row.getByText("HTTP 503").waitFor();
    await row.getByRole("link", { name: "webhook.ping" }).click();
    await page.getByText(/^Retry at .* after HTTP 503$/).waitFor();
  });
});
