import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { created } from "../support/builders.ts";
import { strangersConnection } from "../support/self-service.ts";
import { createEndpoint } from "../support/webhooks.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const openConnection = async (page: Page): Promise<void> => {
  await page.goto(`/connections/${world.partner.connectionId}`);
  await page.getByRole("heading", { level: 1, name: "Partner" }).waitFor();
};

/** The text of a dialog that shows a key or secret, which is then closed. */
async function shownOnce(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole("dialog", { name: title });
  const text = (await dialog.locator("pre").textContent()) ?? "";
  await page.keyboard.press("Escape");
  expect(await dialog.isVisible(), "only its own button closes it").toBe(true);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await dialog.waitFor({ state: "hidden" });
  return text;
}

describe("the limits of a merchant", () => {
  it("are changed by the operator, shown with what is used, and a connection beyond them is explained", async () => {
    const { merchantId } = world.partner;
    const path = `/merchants/${merchantId}`;
    const operator = await world.open(world.people.operator, { language: "de-DE" });
    await operator.goto(path);
    const change = async (...typed: string[]) => {
      await operator.getByRole("button", { name: "Grenzen ändern" }).click();
      const form = operator.getByRole("dialog", { name: "Grenzen ändern" });
      for (const value of typed) {
        await form.getByLabel("Verbindungen", { exact: true }).fill(value);
        await form.getByRole("button", { name: "Grenzen ändern" }).click();
        if (value !== typed.at(-1)) await form.getByText("darf höchstens 10.000.000 sein").waitFor();
      }
      await form.waitFor({ state: "hidden" });
    };
    const limits = async () => (await world.service.backOffice.get(`/api${path}`)).body.limits;
    await change("20.000.000", "1");
    const none = { products: null, merchantTokens: null };
    expect(await limits(), "the fields that stayed empty are the defaults").toMatchObject({
      connections: 1,
      ...none,
    });
    const page = await world.open(world.people.merchant);
    await page.goto(path);
    const row = page.getByRole("row").filter({ hasText: /^Connections1/ });
    await row.getByRole("cell", { name: "1", exact: true }).last().waitFor();
    expect(await page.getByRole("button", { name: "Change limits" }).count()).toBe(0);
    await page.getByRole("button", { name: "Create connection" }).click();
    const dialog = page.getByRole("dialog", { name: "Create connection" });
    await dialog.getByLabel("Name").fill("One too many");
    await dialog.getByRole("button", { name: "Create connection" }).click();
    await dialog.getByText("The merchant has its maximum of 1 connections.").waitFor();
    await change("");
    expect(await limits()).toMatchObject({ connections: null, ...none });
  });
});

describe("the keys of a connection", () => {
  it("are shown once, work at once, and are revoked", async () => {
    const page = await world.open(world.people.merchant);
    await page.clock.setSystemTime(world.service.clock.now()); // By its clock, the page knows which keys are valid.
    await openConnection(page);
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create key" });
    await dialog.getByLabel("Name").fill("web shop");
    await dialog.getByRole("button", { name: "Create key" }).click();
    const key = await shownOnce(page, "New key");
    const me = () => world.service.partner(key).get("/v1/me");
    expect((await me()).status).toBe(200);
    const row = page.getByRole("row").filter({ hasText: key.slice(0, 16) });
    await row.getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const replacing = await shownOnce(page, "New key");
    expect((await world.service.partner(replacing).get("/v1/me")).status).toBe(200);
    expect(await row.textContent(), "the key is nowhere on the page").not.toContain(key);
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.getByText("Revoked").waitFor();
    expect((await me()).status).toBe(401);
  });

  it("of an impossible day are rejected at the field, and what was typed stays", async () => {
    const page = await world.open(world.people.merchant);
    await openConnection(page);
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create key" });
    await dialog.getByLabel("Name").fill("from the past");
    await dialog.getByLabel("Last day").fill("2001-01-01");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.locator(":focus").and(dialog.getByLabel("Last day")).waitFor();
    expect(await dialog.getByLabel("Last day").getAttribute("aria-invalid")).toBe("true");
    expect(await dialog.getByLabel("Name").inputValue()).toBe("from the past");
  });

  it("are not shown to the warehouse, which has no right to them", async () => {
    const page = await world.open(world.people.warehouse);
    await openConnection(page);
    expect(await page.getByRole("heading", { name: "API keys" }).count()).toBe(0);
    const { connectionId } = world.partner;
    expect((await page.request.get(`/api/connections/${connectionId}/keys`)).status()).toBe(403);
  });
});

describe("the review policy of a connection", () => {
  it("is replaced, and an invalid country is rejected at its field", async () => {
    const page = await world.open(world.people.merchant);
    await openConnection(page);
    const section = page.getByRole("region", { name: "Review policy" });
    await section.getByRole("button", { name: "Change" }).click();
    const dialog = page.getByRole("dialog", { name: "Change" });
    await dialog.getByLabel("Units in an order").fill("50");
    await dialog.getByLabel("Countries").fill("de, QQ");
    await dialog.getByRole("button", { name: "Change" }).click();
    await dialog.locator("[aria-invalid=true]").waitFor();
    expect(await dialog.getByLabel("Countries").getAttribute("aria-invalid")).toBe("true");
    await dialog.getByLabel("Countries").fill("de; at");
    await dialog.getByRole("button", { name: "Change" }).click();
    await section.getByText("DE, AT").waitFor();
    await section.getByText("50", { exact: true }).waitFor();
  });
});

describe("the endpoints of a connection", () => {
  it("a partner's developer creates one, rotates its secret, pauses and resumes it", async () => {
    const page = await world.open(world.people.partner);
    await openConnection(page);
    await page.getByRole("button", { name: "Create endpoint" }).click();
    const dialog = page.getByRole("dialog", { name: "Create endpoint" });
    await dialog.getByRole("textbox", { name: "Address" }).fill("https://example.com/new-hooks");
    await dialog.getByRole("button", { name: "Create endpoint" }).click();
    const first = await shownOnce(page, "Signing secret");
    expect(first).toMatch(/^whsec_/);
    await page.getByRole("link", { name: "https://example.com/new-hooks" }).click();
    await page.getByRole("button", { name: "Rotate secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
    expect(await shownOnce(page, "Signing secret")).not.toBe(first);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await page.getByText("A person or a program paused it.").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
    await page.getByText("A person or a program paused it.").waitFor({ state: "hidden" });
  });

  it("whose token has ended is shown with its name, in both languages, and is taken over by a resume", async () => {
    const { service, partner, people } = world;
    const fields = { name: "Shop sync", role: "merchant", merchantIds: [partner.merchantId], scopes: ["*"] };
    const token = await created(service.backOffice.post("/api/tokens", fields));
    const made = await created(
      service.backOfficeAs(token.token).post(`/api/connections/${partner.connectionId}/webhook-endpoints`, {
        url: "https://example.com/made",
      }),
    );
    const path = `/connections/${partner.connectionId}/webhook-endpoints/${made.id}`;
    const page = await world.open(people.merchant);
    await page.goto(path);
    await page.getByText("Address: Shop sync, Signing secret: Shop sync").waitFor();
    await service.backOffice.post(`/api/tokens/${token.id}/revoke`);
    await page.goto(path);
    await page.getByText(/The token with which it was set up has ended.* Shop sync/).waitFor();
    const german = await world.open(people.operator, { language: "de-DE" });
    await german.goto(path);
    await german.getByText(/Das Token, mit dem er eingerichtet wurde, gilt nicht mehr.* Shop sync/).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
    for (const text of [/The token with which it was set up has ended/, /Address: Shop sync/])
      await page.getByText(text).waitFor({ state: "hidden" });
  });

  it("sends a sample of an event, whose delivery opens", async () => {
    const endpoint = await createEndpoint(world.partner);
    const page = await world.open(world.people.partner);
    await page.goto(`/connections/${world.partner.connectionId}/webhook-endpoints/${endpoint.id}`);
    await page.getByRole("button", { name: "Send a test event" }).click();
    const dialog = page.getByRole("dialog", { name: "Send a test event" });
    await dialog.getByLabel("Sample of").click();
    await page.getByRole("option", { name: "order.completed" }).click();
    await dialog.getByRole("button", { name: "Send a test event" }).click();
    await page.getByRole("heading", { level: 1, name: "order.completed" }).waitFor();
    await page.getByText("No attempt has been made yet.").waitFor();
  });
});

describe("the certification of a connection", () => {
  it("is begun for a test endpoint, rejected while another one runs, and canceled", async () => {
    const page = await world.open(world.people.partner);
    await openConnection(page);
    const action = (name: string) => page.getByRole("button", { name, exact: true });
    const dialog = page.getByRole("dialog");
    await action("Start certification").click();
    await dialog.getByRole("button", { name: "Start certification", exact: true }).click();
    await dialog.getByText("needs a test endpoint").waitFor();
    await dialog.getByRole("button", { name: "Back" }).click();
    const { id } = await createEndpoint(world.partner, { mode: "test", url: "https://example.com/tested" });
    await page.reload();
    await action("Start certification").click();
    await dialog.getByRole("combobox", { name: "Test endpoint" }).waitFor();
    // The partner's program is faster.
    const path = "/v1/test/certifications";
    const { body: run } = await world.partner.client.post(path, { endpointId: id });
    await dialog.getByRole("button", { name: "Start certification", exact: true }).click();
    await dialog.getByText("Another certification of this connection is running.").waitFor();
    await page.reload();
    await page.getByText(`${run.id}-lost-creation`).waitFor();
    await action("Cancel certification").click();
    await dialog.getByRole("button", { name: "Cancel certification", exact: true }).click();
    await page.getByText("The certification is canceled.").waitFor();
    await action("Start certification").waitFor();
    expect((await world.partner.client.get(`${path}/${run.id}`)).body.status).toBe("canceled");
  });
});

describe("the connection of a test key without a person", () => {
  it("is marked in the list, and ended by an operator", async () => {
    const { id, name } = await strangersConnection({ test: world.service, partner: world.partner });
    const page = await world.open(world.people.operator);
    await page.clock.setSystemTime(world.service.clock.now()); // By its clock, the page knows what has ended.
    await page.goto("/connections");
    const row = page.getByRole("row").filter({ hasText: name });
    await row.getByText("Test key without a person").waitFor();
    await row.getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    expect(await page.getByRole("button", { name: "Create key" }).count()).toBe(0);
    await page.getByRole("button", { name: "End now" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End now" }).click();
    await page.getByText("Has ended").waitFor();
    expect((await world.service.backOffice.get(`/api/connections/${id}`)).body.endsAt).toBe(
      world.service.clock.now().toISOString(),
    );
  });
});
