import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsOf } from "../support/browser.ts";
import { createPerson, createPersonWithPassword, linkToken, PASSWORD } from "../support/people.ts";
import { placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const orders = (page: Page) => page.getByRole("heading", { level: 1, name: "Orders" });

/** The page that opens after a sign-in. */
const overview = (page: Page) => page.getByRole("heading", { level: 1, name: "Overview" });

/** Fills in the form of the page or of the dialog. */
async function enterPassword(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel("Mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

describe("signing in", () => {
  it("with a link needs a button, removes the token from the address, and works once", async () => {
    const token = await linkToken(world.service, world.people.operator, "sign-in");
    const page = await world.open(null);
    await page.goto(`/sign-in#token=${token}`);
    await page.getByRole("button", { name: "Continue" }).waitFor();
    expect(page.url()).toBe(`${world.url}/sign-in`);
    await page.getByRole("button", { name: "Continue" }).click();
    await overview(page).waitFor();

    const again = await world.open(null);
    await again.goto(`/sign-in#token=${token}`);
    await again.getByRole("button", { name: "Continue" }).click();
    await again.getByText("This link has expired or was used before.").waitFor();
    await again.getByRole("button", { name: "Sign in another way" }).click();
    await again.getByLabel("Mail address").waitFor();
  });

  it("with a password says that it is wrong, and then opens the page that was requested", async () => {
    const { person } = await createPersonWithPassword(world.service);
    const page = await world.open(null);
    await page.goto(`/orders/${world.orders.fresh}`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect.poll(() => page.getByText("This is needed.").count()).toBe(2);
    await enterPassword(page, person.email, "not the password");
    await page.getByText("The mail address or the password is not right.").waitFor();
    await enterPassword(page, person.email, PASSWORD);
    await page.getByRole("heading", { level: 1, name: "shop-1003" }).waitFor();
    expect(page.url()).toBe(`${world.url}/orders/${world.orders.fresh}`);
  });

  it("leads to no address of another site", async () => {
    const { person } = await createPersonWithPassword(world.service);
    const page = await world.open(null);
    await page.goto("/sign-in?next=//elsewhere.example/orders");
    await enterPassword(page, person.email, PASSWORD);
    await overview(page).waitFor();
    expect(new URL(page.url()).origin).toBe(world.url);
  });
});

describe("an invitation", () => {
  it("signs in with a button, and sets a password that works from then on", async () => {
    const person = await createPerson(world.service);
    const token = await linkToken(world.service, person, "invitation");
    const page = await world.open(null);
    await page.goto(`/welcome#token=${token}`);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("New password").fill("too short");
    await page.getByRole("button", { name: "Set the password" }).click();
    await page.getByText("Use 12 characters or more.").waitFor();
    await page.getByLabel("New password").fill(PASSWORD);
    await page.getByRole("button", { name: "Set the password" }).click();
    await overview(page).waitFor();
    const other = await world.open(null);
    await other.goto("/sign-in");
    await enterPassword(other, person.email, PASSWORD);
    await overview(other).waitFor();
  });
});

describe("the page of an invitation", () => {
  it("with a link leads to where the person was going before the mail", async () => {
    const page = await world.open(null);
    await page.goto(`/orders/${world.orders.held}`);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`/sign-in#token=${await linkToken(world.service, world.people.operator, "sign-in")}`);
    await tab.getByRole("button", { name: "Continue" }).click();
    await tab.getByRole("heading", { level: 1, name: "shop-1002" }).waitFor();
  });

  it("that is loaded again after the link still lets the person choose a password", async () => {
    const person = await createPerson(world.service);
    const page = await world.open(null);
    await page.goto(`/welcome#token=${await linkToken(world.service, person, "invitation")}`);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("New password").waitFor();
    await page.reload();
    await page.getByLabel("New password").fill(PASSWORD);
    await page.getByRole("button", { name: "Set the password" }).click();
    await overview(page).waitFor();
    await page.goto("/welcome");
    await page.getByRole("link", { name: "Continue" }).click();
    await overview(page).waitFor();
  });

  it("asks who has waited too long to confirm that it is them, and then sets the password", async () => {
    const person = await createPerson(world.service);
    const page = await world.open(person);
    await page.goto("/welcome");
    await page.getByLabel("New password").fill(PASSWORD);
    world.service.clock.advance({ minutes: 15 });
    await page.getByRole("button", { name: "Set the password" }).click();
    const confirm = page.getByRole("dialog", { name: "Confirm that it is you" });
    await confirm.getByText("sign in again in another tab").waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`/sign-in#token=${await linkToken(world.service, person, "sign-in")}`);
    await tab.getByRole("button", { name: "Continue" }).click();
    await overview(tab).waitFor();
    await confirm.getByRole("button", { name: "Continue" }).click();
    await overview(page).waitFor();
  });

  it("without a link and without a session leads to the sign-in", async () => {
    const page = await world.open(null);
    await page.goto("/welcome");
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByLabel("Mail address").waitFor();
  });
});

describe("a session", () => {
  it("that ends in the middle of a form: the person signs in over the page, and nothing typed is lost", async () => {
    const { person } = await createPersonWithPassword(world.service);
    const page = await world.open(person);
    await page.goto(`/orders/${world.orders.fresh}`);
    await page.getByRole("button", { name: "Hold", exact: true }).click();
    await page.getByRole("combobox", { name: "Reason" }).click();
    await page.getByRole("option", { name: "Other reason" }).click();
    await page.getByRole("textbox", { name: "Other reason" }).fill("check_address");
    await page.context().clearCookies();
    await page.getByRole("dialog", { name: "Hold" }).getByRole("button", { name: "Hold" }).click();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    await enterPassword(page, person.email, "not the password");
    await dialog.getByText("The mail address or the password is not right.").waitFor();
    await enterPassword(page, person.email, PASSWORD);
    await page.getByText("The order is on hold.").waitFor();
    const { onHoldReasons } = await readDetail(world.service, world.orders.fresh);
    expect(onHoldReasons).toEqual(["check_address"]);
  });

  it("that another person continues: what the first one began is not sent, and the page is read again", async () => {
    const { person: first } = await createPersonWithPassword(world.service);
    const { person: second } = await createPersonWithPassword(world.service);
    const { id } = await placeAcceptedOrder(world.service, world.partner, { externalOrderId: "two-people" });
    const page = await world.open(first);
    await page.goto(`/orders/${id}`);
    const sent: string[] = [];
    page.on("request", (request) => void (request.method() === "POST" && sent.push(request.url())));
    await page.getByRole("button", { name: "Cancel order" }).click();
    await page.context().clearCookies();
    await page
      .getByRole("dialog", { name: "Cancel order" })
      .getByRole("button", { name: "Cancel order" })
      .click();
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    await enterPassword(page, second.email, PASSWORD);
    await page.getByRole("button", { name: second.name }).waitFor();
    expect(sent.filter((url) => url.endsWith("/cancel"))).toHaveLength(1);
    expect(await readDetail(world.service, id)).toMatchObject({ status: "ACCEPTED" });
  });

  it("that ends is replaced by one of another tab, if the person signs in by a link, and nothing typed is lost", async () => {
    const { operator } = world.people;
    const page = await world.open(operator);
    await page.goto(`/orders/${world.orders.shipped}`);
    await page.getByRole("button", { name: "Add note" }).click();
    const note = page.getByRole("dialog", { name: "Add note" });
    await note.getByRole("textbox").fill("Typed before the session ended");
    await page.context().clearCookies();
    await note.getByRole("button", { name: "Add note" }).click();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("You are not signed in.").waitFor();
    expect(await findingsOf(page)).toEqual([]);
    const tab = await page.context().newPage();
    await tab.goto(`/sign-in#token=${await linkToken(world.service, operator, "sign-in")}`);
    await tab.getByRole("button", { name: "Continue" }).click();
    await overview(tab).waitFor();
    await dialog.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Typed before the session ended").waitFor();
    await dialog.waitFor({ state: "hidden" });
  });

  it("that its person ends is gone, also for the back button", async () => {
    const page = await world.open(world.people.support);
    await page.goto("/orders");
    await orders(page).waitFor();
    await page.getByRole("button", { name: "Sam" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.getByText("shop-1001").count()).toBe(0);
  });
});
