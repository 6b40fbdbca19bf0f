import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWorld, type World } from "../../console/world.ts";
import { visit } from "../../support/browser.ts";
import { routeAll } from "../../support/facilities.ts";
import { createPersonWithPassword, PASSWORD } from "../../support/people.ts";
import { operationApplied, operationsOf, placeAcceptedOrder, readDetail } from "../../support/real-orders.ts";
import { startStallingProxy } from "../../support/stalling-proxy.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const detailOf = (id: string) => readDetail(world.service, id);
const openHold = async (page: Page) => {
  await page.getByRole("button", { name: "Hold", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Hold" });
  await dialog.getByRole("combobox", { name: "Reason" }).click();
  await page.getByRole("option", { name: "Other reason" }).click();
  return dialog;
};
const confirmHold = (page: Page) =>
  page.getByRole("dialog", { name: "Hold" }).getByRole("button", { name: "Hold" }).click();

async function openOrder(page: Page, externalOrderId: string): Promise<string> {
  const { id } = await placeAcceptedOrder(world.service, world.partner, { externalOrderId });
  await visit(page, `/orders/${id}`, externalOrderId);
  return id;
}

/** Another tab of the same browser, which learns nothing by updates: what it shows may be old. */
async function openTab(page: Page, path: string, heading: string): Promise<Page> {
  const tab = await page.context().newPage();
  await tab.route("**/api/updates", (route) => route.abort());
  await visit(tab, path, heading);
  return tab;
}

describe("two tabs", () => {
  it("do not undo each other: the second learns the rule, and then shows what the first has done", async () => {
    // The cancel refunds, so the person has signed in since the time of the acceptance.
    const { id } = await placeAcceptedOrder(world.service, world.partner, { externalOrderId: "tabs-1" });
    const first = await world.open(world.people.operator);
    await visit(first, `/orders/${id}`, "tabs-1");
    const second = await openTab(first, `/orders/${id}`, "tabs-1");
    await first.getByRole("button", { name: "Cancel order" }).click();
    await first.getByRole("dialog").getByRole("button", { name: "Cancel order" }).click();
    await first.getByText("Canceled", { exact: true }).first().waitFor();

    const dialog = await openHold(second);
    await dialog.getByRole("textbox", { name: "Other reason" }).fill("check_address");
    await dialog.getByRole("button", { name: "Hold" }).click();
    await dialog.getByText("Details", { exact: true }).click();
    await dialog.getByText("Request id for support:").waitFor();
    await second.keyboard.press("Escape");
    await second.reload();
    await second.getByText("Canceled", { exact: true }).first().waitFor();
    expect(await second.getByRole("button", { name: "Hold", exact: true }).count()).toBe(0);
    expect(await detailOf(id)).toMatchObject({ status: "CANCELED", onHold: false });
  });

  it("sign out together, and nothing stays on either", async () => {
    const first = await world.open(world.people.support);
    await visit(first, "/orders", "Orders");
    const second = await openTab(first, `/orders/${world.orders.held}`, "shop-1002");
    await first.getByRole("button", { name: "Sam" }).click();
    await first.getByRole("button", { name: "Sign out" }).click();
    for (const tab of [first, second]) {
      await tab.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
      expect(await tab.getByText("shop-1002").count()).toBe(0);
    }
  });
});

it("a browser that stores nothing opens orders at the packing table, and takes the work list's", async () => {
  const { id } = await placeAcceptedOrder(world.service, world.partner, { externalOrderId: "no-storage" });
  await routeAll(world.service);
  const page = await world.open(world.people.warehouse);
  await page.addInitScript(
    `Object.defineProperty(window, "localStorage", { get: () => { throw new DOMException("no", "SecurityError"); } })`,
  );
  await visit(page, "/work/pack", "Packing table");
  await page.keyboard.type(id);
  await page.keyboard.press("Enter");
  await page.getByText("no-storage").first().waitFor();
  await visit(page, "/work", "Work list");
});

describe("a session that ends in the middle of a form", () => {
  /** Signs in again in the dialog over the page. */
  async function signInAgain(page: Page, email: string): Promise<void> {
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.getByLabel("Mail address").fill(email);
    await dialog.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
    await dialog.waitFor({ state: "hidden" });
  }

  it("of a page: the parcel at the door keeps its note, and comes back once", async () => {
    const { person } = await createPersonWithPassword(world.service);
    const page = await world.open(person);
    const { id } = await placeAcceptedOrder(world.service, world.partner, { externalOrderId: "door-1" });
    await routeAll(world.service);
    await operationApplied(world.service, id, "ship", {});
    await visit(page, "/returns", "Returns");
    await page.keyboard.type("door-1");
    await page.keyboard.press("Enter");
    await page.getByLabel("Note").fill("box is wet");
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Record return" }).click();
    await signInAgain(page, person.email);
    await page.getByText("door-1", { exact: false }).first().waitFor();
    await expect.poll(async () => (await detailOf(id)).returns).toMatchObject([{ note: "box is wet" }]);
  });

  it("that is not sent: the dialog can be closed, and the values are still there", async () => {
    const { person } = await createPersonWithPassword(world.service);
    const page = await world.open(person);
    const id = await openOrder(page, "expired-1");
    const dialog = await openHold(page);
    await dialog.getByRole("textbox", { name: "Other reason" }).fill("ask_customer");
    await page.context().clearCookies();
    await confirmHold(page);
    const signIn = page.getByRole("dialog", { name: "Your session has ended" });
    await signIn.getByRole("button", { name: "Close" }).click();
    await dialog.getByText("You are not signed in. Sign in and try again.").waitFor();
    expect(await dialog.getByRole("textbox", { name: "Other reason" }).inputValue()).toBe("ask_customer");
    await confirmHold(page);
    await signInAgain(page, person.email);
    await page.getByText("The order is on hold.").waitFor();
    expect(await detailOf(id)).toMatchObject({ onHoldReasons: ["ask_customer"] });
  });
});

describe("a network", () => {
  it("that fails while a page is opened: the page says so, and opens by its button", async () => {
    const page = await world.open(world.people.operator);
    await visit(page, "/orders", "Orders");
    await page.route(`**/api/orders/${world.orders.held}*`, (route) => route.abort());
    await page.getByRole("link", { name: "shop-1002" }).click();
    await page.getByRole("alert").getByText("The service cannot be reached.").waitFor();
    await page.unroute(`**/api/orders/${world.orders.held}*`);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { level: 1, name: "shop-1002" }).waitFor();
  });

  it("that is gone: the page says so, keeps what was typed, and sends it once the network is back", async () => {
    const page = await world.open(world.people.operator);
    const id = await openOrder(page, "offline-1");
    const dialog = await openHold(page);
    await dialog.getByRole("textbox", { name: "Other reason" }).fill("no_network");
    await page.context().setOffline(true);
    await page.getByText("You are offline.").waitFor();
    await confirmHold(page);
    await dialog.getByText("The service cannot be reached.").waitFor();
    await page.context().setOffline(false);
    await page.getByText("You are offline.").waitFor({ state: "detached" });
    expect(await detailOf(id), "nothing is sent behind the person's back").toMatchObject({ onHold: false });
    await confirmHold(page);
    await page.getByText("The order is on hold.").waitFor();
    expect(await detailOf(id)).toMatchObject({ onHoldReasons: ["no_network"] });
  });

  it("that is gone when a file is downloaded: the page says so", async () => {
    const page = await world.open(world.people.operator);
    await visit(page, "/audit-log", "Audit log");
    await page.route("**/api/me", (route) => route.abort());
    await page.getByRole("button", { name: "Download XLSX" }).click();
    await page.getByText("The service cannot be reached.").waitFor();
  });

  it("that loses a response: the page says that it may have been done, and shows that it was", async () => {
    const { id } = await placeAcceptedOrder(world.service, world.partner, { externalOrderId: "lost-1" });
    const page = await world.open(world.people.operator);
    await visit(page, `/orders/${id}`, "lost-1");
    await page.route("**/cancel", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole("button", { name: "Cancel order" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel order" }).click();
    await page.getByText("Canceled", { exact: true }).first().waitFor();
    const canceled = operationsOf(await detailOf(id)).filter((operation) => operation.startsWith("cancel"));
    expect(canceled).toHaveLength(1);
  });

  it("that loses the body of a response: the page reports it, and does not load without end", async () => {
    const isList = (path: string) => path.split("?")[0] === "/api/orders";
    const proxy = await startStallingProxy(world.url, isList);
    const page = await world.open(world.people.operator, { provider: proxy });
    await page.clock.install();
    const stalled = page.waitForResponse((response) => isList(new URL(response.url()).pathname));
    await page.goto(`${proxy}/orders`);
    await stalled;
    // The page tries three times.
    const reported = async () => {
      await page.clock.fastForward("00:31");
      return page.getByText("The service did not respond in time.").count();
    };
    await expect.poll(reported).toBeGreaterThan(0);
  });

  it("that is slow: a second click sends nothing, and a response that does not come in time is reported", async () => {
    const page = await world.open(world.people.operator);
    await page.clock.install();
    const id = await openOrder(page, "slow-1");
    let requests = 0;
    await page.route("**/hold", () => {
      requests += 1; // It is never answered.
    });
    const dialog = await openHold(page);
    await dialog.getByRole("textbox", { name: "Other reason" }).fill("slow");
    await confirmHold(page);
    const button = dialog.getByRole("button", { name: "Hold" });
    await expect.poll(() => button.isDisabled()).toBe(true);
    await dialog.getByRole("textbox", { name: "Other reason" }).press("Enter");
    await page.clock.fastForward("02:01");
    await dialog.getByText("The service did not respond in time.").waitFor();
    await dialog.getByText("It may have been done nevertheless").waitFor();
    expect(requests).toBe(1);
    expect(await detailOf(id)).toMatchObject({ onHold: false });
  });
});

describe("two clicks within one task, as voice control and extensions make them", () => {
  it("on a form: one merchant is created", async () => {
    const page = await world.open(world.people.operator);
    await visit(page, "/merchants", "Merchants");
    await page.getByRole("button", { name: "Create merchant" }).click();
    const dialog = page.getByRole("dialog", { name: "Create merchant" });
    await dialog.getByLabel("Name").fill("Clicked twice");
    await dialog.getByLabel("Mail address").fill("twice@example.com");
    await clickTwice(dialog.getByRole("button", { name: "Create merchant" }));
    await page.getByRole("heading", { level: 1, name: "Clicked twice" }).waitFor();
    const { data } = (await world.service.backOffice.get("/api/merchants?q=Clicked")).body;
    expect(data).toHaveLength(1);
  });

  it("on a key: one is issued, which is the one that is shown", async () => {
    const page = await world.open(world.people.operator);
    const path = `/api/connections/${world.partner.connectionId}/keys`;
    const before = (await world.service.backOffice.get(path)).body.data.length;
    await page.goto(`/connections/${world.partner.connectionId}`);
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create key" });
    await clickTwice(dialog.getByRole("button", { name: "Create key" }));
    await page.getByRole("button", { name: "I have stored it" }).waitFor();
    expect((await world.service.backOffice.get(path)).body.data).toHaveLength(before + 1);
  });
});

const clickTwice = (button: Locator): Promise<void> =>
  button.evaluate((element: { click(): void }) => {
    element.click();
    element.click();
  });

it("a service that has too many requests: the page says for how long to wait", async () => {
  const page = await world.open(world.people.operator);
  const id = await openOrder(page, "limited-1");
  await page.route(`**/api/orders/${id}/hold`, (route) =>
    route.fulfill({
      status: 429,
      headers: { "retry-after": "17" },
      contentType: "application/problem+json",
      json: { code: "rate-limited", detail: "Too many requests." },
    }),
  );
  const dialog = await openHold(page);
  await dialog.getByRole("textbox", { name: "Other reason" }).fill("limited");
  await confirmHold(page);
  await page.getByText("Too many requests. Try again in 17 sec").waitFor();
});
