import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toTypeId } from "../../src/platform/ids.ts";
import { findingsOf } from "../support/browser.ts";
import { createFacility } from "../support/facilities.ts";
import { createPersonWithPassword } from "../support/people.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });

/** Picks a thing by a search for its name. */
async function pick(page: Page, label: string, name: string): Promise<void> {
  await page.getByRole("combobox", { name: label, exact: true }).fill(name);
  await page.getByRole("option", { name }).first().click();
  await page.keyboard.press("Tab");
}

describe("people", () => {
  it("an operator invites a person for a facility, changes its access, disables and enables it", async () => {
    await createFacility(world.service);
    const page = await world.open(world.people.operator);
    page.setDefaultTimeout(9000);
    await page.goto("/people");
    await page.getByRole("button", { name: "Invite person" }).click();
    const dialog = page.getByRole("dialog", { name: "Invite person" });
    const send = dialog.getByRole("button", { name: "Send invitation" });
    await dialog.getByLabel("Name").fill("Wanda");
    await dialog.getByLabel("Mail address").fill("wanda@example.com");
    await send.click();
    await dialog.getByText("Choose at least one role.").waitFor();
    await dialog.getByLabel("Warehouse").check();
    await dialog.getByLabel("Merchant", { exact: true }).check();
    await send.click();
    await dialog.getByText("Choose at least one.", { exact: true }).waitFor();
    await pick(page, "Merchants", "Merchant");
    await pick(page, "Facilities", "Facility");
    expect(await findingsOf(page)).toEqual([]);
    await send.click();
    await heading(page, "Wanda").waitFor();
    await page.getByRole("link", { name: "Facility" }).waitFor();
    await page.getByText("Invited", { exact: true }).first().waitFor();

    await page.getByRole("button", { name: "Change access" }).click();
    await page.getByLabel("Merchant", { exact: true }).uncheck();
    await page.getByRole("dialog").getByRole("button", { name: "Change access" }).click();
    await page.getByText("The access was changed.").waitFor();
    const grants = (await world.service.backOffice.get("/api/people/wanda@example.com")).body.grants;
    expect(grants).toMatchObject([{ role: "warehouse", facilityIds: { length: 1 } }]);
    await page.getByRole("button", { name: "Send invitation again" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send invitation again" }).click();
    await page.getByText("A new invitation is on its way.").waitFor();
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
    await page.getByText("Disabled", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Enable" }).click();
    await page.getByRole("button", { name: "Disable" }).waitFor();
  });

  it("an operator removes all ways in which a person signs in, and is warned of who receives its mails", async () => {
    const grants = [{ role: "support" }] as const;
    const { person, browser } = await createPersonWithPassword(world.service, { grants });
    const page = await world.open(world.people.operator);
    page.setDefaultTimeout(9000);
    await page.goto(`/people/${toTypeId("per", person.id)}`);
    await page.getByRole("button", { name: "Remove all ways to sign in" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`If another human receives the mails to ${person.email}`).waitFor();
    await dialog.getByRole("button", { name: "Remove all ways to sign in" }).click();
    await page.getByText("All ways to sign in are removed.").waitFor();
    expect((await browser.get("/api/me")).status).toBe(401);
  });

  it("a merchant's person gives its own access alone, and keeps what was typed if the address is taken", async () => {
    const page = await world.open(world.people.merchant);
    page.setDefaultTimeout(9000);
    await page.goto("/people?q=pau");
    await page.getByRole("link", { name: "Paula" }).waitFor();
    expect(await page.getByText("Olivia").count()).toBe(0);
    await page.getByRole("button", { name: "Invite person" }).click();
    const dialog = page.getByRole("dialog", { name: "Invite person" });
    await dialog.getByLabel("Name").fill("Second Olivia");
    expect(await dialog.getByRole("checkbox").count()).toBe(2);
    await dialog.getByLabel("Mail address").fill("olivia@example.com");
    await dialog.getByLabel("Partner", { exact: true }).check();
    await pick(page, "Connections", "Partner");
    await dialog.getByRole("button", { name: "Send invitation" }).click();
    await dialog.getByText("A person with this mail address exists already.").waitFor();
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Second Olivia");
    const foreign = await page.request.get("/api/people/olivia@example.com");
    expect(foreign.status()).toBe(404);
  });

  it("and tokens are not for the warehouse, in the navigation and at the route", async () => {
    const page = await world.open(world.people.warehouse);
    page.setDefaultTimeout(9000);
    await page.goto("/people");
    await page.getByText("Your role does not allow this.").waitFor();
    expect(await page.getByRole("link", { name: "People" }).count()).toBe(0);
    expect((await page.request.get("/api/tokens")).status()).toBe(403);
  });
});

describe("tokens", () => {
  it("are shown once, work at once, are rotated with an overlap, and revoked", async () => {
    const page = await world.open(world.people.merchant);
    page.setDefaultTimeout(9000);
    await page.goto("/tokens");
    await page.getByRole("button", { name: "Create token" }).click();
    const dialog = page.getByRole("dialog", { name: "Create token" });
    await dialog.getByLabel("Program").fill("Stock sync");
    await dialog.getByRole("combobox", { name: "Role" }).click();
    await page.getByRole("option", { name: "Merchant" }).click();
    await pick(page, "Merchants", "Merchant");
    await dialog.getByRole("button", { name: "Create token" }).click();
    const first = await shownOnce(page);
    const statusOf = async (token: string) => (await world.service.backOfficeAs(token).get("/api/me")).status;
    expect(await statusOf(first)).toBe(200);
    const rows = page.getByRole("row").filter({ hasText: "Stock sync" });
    await rows.getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("dialog").getByLabel("Hours for which the old token works").fill("0");
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const second = await shownOnce(page);
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
    await rows.getByText("Expired").waitFor();
    await rows.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await rows.getByText("Revoked").waitFor();
    expect(await statusOf(second)).toBe(401);
  });

  it("have the scopes that a person chooses by keyboard, and show them in the list and on a page of their own", async () => {
    const page = await world.open(world.people.operator);
    page.setDefaultTimeout(9000);
    await page.goto("/tokens");
    await page.getByRole("button", { name: "Create token" }).click();
    const dialog = page.getByRole("dialog", { name: "Create token" });
    await dialog.getByLabel("Program").fill("Door");
    await dialog.getByRole("combobox", { name: "Role" }).click();
    await page.getByRole("option", { name: "Merchant" }).click();
    await pick(page, "Merchants", "Merchant");
    await dialog.getByRole("radio", { name: "All of the role, without" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const create = dialog.getByRole("button", { name: "Create token" });
    await create.click();
    await dialog.getByRole("alert").filter({ hasText: "Choose at least one." }).waitFor();
    expect(await dialog.getByRole("checkbox", { name: "System" }).count(), "not for this role").toBe(0);
    await dialog.getByRole("checkbox", { name: "Products: Change" }).focus();
    await page.keyboard.press("Space");
    await dialog.getByRole("checkbox", { name: "API keys: Change" }).check();
    await dialog.getByRole("status").filter({ hasText: "Take care: API keys." }).waitFor();
    expect(await findingsOf(page)).toEqual([]);
    await create.click();
    const token = await shownOnce(page);
    const program = world.service.backOfficeAs(token);
    expect((await program.get("/api/me")).body.scopes).toEqual(["catalog:write", "keys:write"]);
    expect((await program.get("/api/connections")).body).toMatchObject({ scope: "connections:read" });

    await page.getByRole("row").filter({ hasText: "Door" }).getByText("2 of ").waitFor();
    await page.getByRole("link", { name: "Door" }).click();
    await heading(page, "Door").waitFor();
    const scopes = page.getByRole("table", { name: "Rights" });
    await scopes.getByRole("row", { name: "API keys Change keys:write" }).waitFor();
    expect(await scopes.getByRole("row").count(), "with its heading").toBe(3);
    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    await shownOnce(page);
    await page.getByText("Replaced by").waitFor();
  });

  it("that only read are one choice, and change nothing", async () => {
    const page = await world.open(world.people.operator);
    page.setDefaultTimeout(9000);
    await page.goto("/tokens");
    await page.getByRole("button", { name: "Create token" }).click();
    const dialog = page.getByRole("dialog", { name: "Create token" });
    await dialog.getByLabel("Program").fill("Reports");
    await dialog.getByRole("combobox", { name: "Role" }).click();
    await page.getByRole("option", { name: "Operator" }).click();
    await dialog.getByRole("radio", { name: "Only read" }).check();
    await dialog.getByRole("button", { name: "Create token" }).click();
    const program = world.service.backOfficeAs(await shownOnce(page));
    await page.getByRole("row").filter({ hasText: "Reports" }).getByText("Only read").waitFor();
    expect((await program.get("/api/orders")).status).toBe(200);
    expect((await program.post("/api/merchants", { name: "Another" })).body).toMatchObject({
      scope: "merchants:write",
    });
  });
});

/** The token that a dialog shows, which is then closed. */
async function shownOnce(page: Page): Promise<string> {
  const dialog = page.getByRole("dialog", { name: "New token" });
  const text = (await dialog.locator("pre").textContent()) ?? "";
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await dialog.waitFor({ state: "hidden" });
  return text;
}
