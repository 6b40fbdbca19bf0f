import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toTypeId } from "../../../src/platform/ids.ts";
import { startWorld, type World } from "../../console/world.ts";
import { visit } from "../../support/browser.ts";
import { createProduct, placeTestOrder } from "../../support/builders.ts";
import { createFacility } from "../../support/facilities.ts";
import { createPerson } from "../../support/people.ts";
import { operationApplied, placeAcceptedOrder } from "../../support/real-orders.ts";
import { createEndpoint } from "../../support/webhooks.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

/** A thing with a page, in a state in which the person can do the first of two actions that are opposites. */
type Thing = {
  readonly path: string;
  /** The address under which the other person changes it. */
  readonly api: string;
};
type Opposites = {
  readonly name: string;
  readonly create: () => Promise<Thing>;
  readonly action: string;
  readonly opposite: string;
  /** What another person does: the action. */
  readonly request: {
    readonly method: "POST" | "PATCH";
    readonly operation?: string;
    readonly body?: object;
  };
};

const change = async (path: string, method: string, body?: object): Promise<void> => {
  const { status } = await world.service.backOffice.request(method, path, body === undefined ? {} : { body });
  expect(status, path).toBe(200);
};

async function facility({ isClosed = false } = {}): Promise<Thing> {
  const path = `/facilities/${await createFacility(world.service)}`;
  if (isClosed) await change(`/api${path}/close`, "POST");
  return { path, api: `/api${path}` };
}

async function product(status: "active" | "discontinued"): Promise<Thing> {
  const path = `/products/${await createProduct(world.service, world.partner.merchantId)}`;
  await change(`/api${path}`, "PATCH", { status });
  return { path, api: `/api${path}` };
}

async function endpoint({ isPaused = false } = {}): Promise<Thing> {
  const { id } = await createEndpoint(world.partner);
  const path = `/connections/${world.partner.connectionId}/webhook-endpoints/${id}`;
  if (isPaused) await change(`/api${path}/pause`, "POST");
  return { path, api: `/api${path}` };
}

async function person({ isDisabled = false } = {}): Promise<Thing> {
  const { id } = await createPerson(world.service, { name: "Rosa", grants: [{ role: "monitoring" }] });
  const path = `/people/${toTypeId("per", id)}`;
  if (isDisabled) await change(`/api${path}/disable`, "POST");
  return { path, api: `/api${path}` };
}

async function order({ isHeld = false } = {}): Promise<Thing> {
  const { id } = await placeAcceptedOrder(world.service, world.partner);
  if (isHeld) await operationApplied(world.service, id, "hold", { reasons: ["merchant_request"] });
  return { path: `/orders/${id}`, api: `/api/orders/${id}` };
}

const post = (operation: string, body?: object) =>
  ({ method: "POST", operation, ...(body && { body }) }) as const;
const patch = (body: object) => ({ method: "PATCH", body }) as const;

const OPPOSITES: readonly Opposites[] = [
  {
    name: "a facility is closed",
    create: () => facility(),
    action: "Close",
    opposite: "Open",
    request: post("close"),
  },
  {
    name: "a facility is opened",
    create: () => facility({ isClosed: true }),
    action: "Open",
    opposite: "Close",
    request: post("open"),
  },
  {
    name: "a product is discontinued",
    create: () => product("active"),
    action: "Discontinue",
    opposite: "Sell again",
    request: patch({ status: "discontinued" }),
  },
  {
    name: "a product is sold again",
    create: () => product("discontinued"),
    action: "Sell again",
    opposite: "Discontinue",
    request: patch({ status: "active" }),
  },
  {
    name: "an endpoint is paused",
    create: () => endpoint(),
    action: "Pause",
    opposite: "Resume",
    request: post("pause"),
  },
  {
    name: "an endpoint is resumed",
    create: () => endpoint({ isPaused: true }),
    action: "Resume",
    opposite: "Pause",
    request: post("resume"),
  },
  {
    name: "a person is disabled",
    create: () => person(),
    action: "Disable",
    opposite: "Enable",
    request: post("disable"),
  },
  {
    name: "a person is enabled",
    create: () => person({ isDisabled: true }),
    action: "Enable",
    opposite: "Disable",
    request: post("enable"),
  },
  {
    name: "the hold of an order is released",
    create: () => order({ isHeld: true }),
    action: "Release hold",
    opposite: "Hold",
    request: post("release-hold", { reasons: ["merchant_request"] }),
  },
];

const endedText = (action: string) =>
  `The dialog “${action}” was closed. It has been done already, or is no longer possible.`;
const button = (page: Page, name: string) => page.locator("main").getByRole("button", { name, exact: true });

/** A page that reads again when it is looked at, and the dialog of an action on it. */
async function openDialog(path: string, action: string): Promise<Page> {
  const page = await world.open(world.people.operator);
  await page.clock.install();
  await visit(page, path, /./);
  await button(page, action).click();
  await page.getByRole("dialog", { name: action, exact: true }).waitFor();
  return page;
}

async function readAgain(page: Page): Promise<void> {
  await page.clock.fastForward("00:11"); // What the page has read is old by now.
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
}

/** No dialog, and the focus is not on a button: an Enter that was meant for the dialog does nothing. */
async function expectEnded(page: Page): Promise<void> {
  expect(await page.getByRole("dialog").count()).toBe(0);
  await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("H1");
  await page.keyboard.press("Enter");
  expect(await page.getByRole("dialog").count()).toBe(0);
}

describe("a dialog ends, says so, and does not become that of the opposite, if another person has done it when", () => {
  it.each(OPPOSITES)("$name", async ({ create, action, opposite, request }) => {
    const { path, api } = await create();
    const other = await world.open(
      await createPerson(world.service, { name: "Otto", grants: [{ role: "operator" }] }),
    );
    const page = await openDialog(path, action);
    const { method, operation, body } = request;
    const done = await other.request.fetch(operation === undefined ? api : `${api}/${operation}`, {
      method,
      headers: { origin: world.url },
      ...(body && { data: body }),
    });
    expect(done.status(), await done.text()).toBe(200);
    await readAgain(page);
    await button(page, opposite).waitFor();
    await page.getByText(endedText(action)).waitFor();
    await expectEnded(page);
  });
});

describe("a dialog", () => {
  const confirm = (page: Page, action: string) =>
    page.getByRole("dialog").locator("button[type=submit]", { hasText: action }).click();

  it("whose response was lost does not offer to undo what it did", async () => {
    const { path, api } = await facility();
    const page = await openDialog(path, "Close");
    await page.route("**/close", async (route) => {
      await route.fetch();
      return route.abort();
    });
    await confirm(page, "Close");
    await page.getByText(endedText("Close")).waitFor();
    await expectEnded(page);
    expect((await world.service.backOffice.get(api)).body.closedAt).not.toBeNull();
  });

  it("says nothing of its end if the person does it, closes it or leaves the page", async () => {
    const page = await openDialog((await facility()).path, "Close");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await button(page, "Close").click();
    await confirm(page, "Close");
    await page.getByText("The facility is closed.").waitFor();
    await button(page, "Open").waitFor();
    const { connectionId } = world.partner;
    const { id } = await placeTestOrder(world.partner);
    await visit(page, `/sandbox/${connectionId}/${id}`, /./);
    await button(page, "Ship with tracking").click();
    await confirm(page, "Ship with tracking");
    await page.getByText("The shipment is recorded.").waitFor();
    await expect.poll(() => button(page, "Ship with tracking").count()).toBe(0);
    await button(page, "Hold with reasons").click();
    await page.getByRole("dialog", { name: "Hold with reasons" }).waitFor();
    await page.evaluate("history.pushState({}, '', '/facilities')");
    await visit(page, null, "Facilities");
    expect(await page.getByText(/^The dialog/).count()).toBe(0);
  });

  it("that has ended while its request was on the way says why the request was rejected", async () => {
    const { path, api } = await order();
    const page = await openDialog(path, "Hold");
    const { promise: isCanceled, resolve: send } = Promise.withResolvers<void>();
    await page.route("**/hold", async (route) => {
      await isCanceled;
      await route.continue();
    });
    const isSent = page.waitForRequest("**/hold");
    await confirm(page, "Hold");
    await isSent;
    await change(`${api}/cancel`, "POST");
    await readAgain(page);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    send();
    await page.getByText("The order is already completed").waitFor();
    expect(await page.getByText(/^The dialog/).count()).toBe(0);
  });
});
