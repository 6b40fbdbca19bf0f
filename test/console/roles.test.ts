import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { visit } from "../support/browser.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import { createFacility, setStock } from "../support/facilities.ts";
import { createPerson } from "../support/people.ts";
import { type PersonName, startWorld, type World } from "./world.ts";

let world: World;
/** An order of another merchant. */
let foreignOrder: string;
beforeAll(async () => {
  world = await startWorld();
  foreignOrder = (await placeOrder(await createPartner(world.service))).id;
});
afterAll(() => world.close());

const FORBIDDEN = "Your role does not allow this. Ask an operator for access.";
const MISSING = "There is nothing at this address, or it is not yours to see.";

type Limits = {
  /** Pages that neither the navigation nor the tabs of its areas have. */
  readonly hidden: readonly string[];
  /** Pages that show a sentence in place of what this person may not see. */
  readonly closed: () => readonly (readonly [path: string, sentence: string])[];
  /** What the service returns to the same browser, whatever its pages show. */
  readonly rejected: () => readonly (readonly [method: string, path: string, status: number])[];
};

const LIMITS: Readonly<Record<Exclude<PersonName, "operator">, Limits>> = {
  merchant: {
    hidden: ["Review queue", "Work list", "Returns", "Facilities", "Audit log", "System", "Settings"],
    closed: () => [
      [`/orders/${foreignOrder}`, MISSING],
      ["/settings", FORBIDDEN],
      ["/system", FORBIDDEN],
    ],
    rejected: () => [
      ["GET", `/api/orders/${foreignOrder}`, 404],
      ["POST", `/api/orders/${foreignOrder}/hold`, 404],
      ["GET", "/api/audit-entries", 403],
      ["POST", `/api/orders/${world.orders.fresh}/ship`, 403],
      ["POST", "/api/merchants", 403],
    ],
  },
  warehouse: {
    hidden: ["Connections", "Audit log", "System", "Settings"],
    closed: () => [
      ["/settings", FORBIDDEN],
      ["/audit-log", FORBIDDEN],
    ],
    rejected: () => [
      ["GET", `/api/connections/${world.partner.connectionId}/keys`, 403],
      ["GET", `/api/connections/${world.partner.connectionId}/webhook-endpoints`, 403],
      ["GET", `/api/merchants/${world.partner.merchantId}/webhook-endpoints`, 403],
      ["GET", `/api/merchants/${world.partner.merchantId}/account`, 403],
      ["POST", `/api/orders/${world.orders.shipped}/refund`, 403],
      ["GET", "/api/audit-entries", 403],
    ],
  },
  partner: {
    hidden: [
      "Review queue",
      "Work list",
      "Returns",
      "Facilities",
      "Merchants",
      "Audit log",
      "System",
      "Settings",
    ],
    closed: () => [
      [`/orders/${foreignOrder}`, MISSING],
      ["/merchants", FORBIDDEN],
      ["/settings", FORBIDDEN],
    ],
    rejected: () => [
      ["GET", `/api/orders/${foreignOrder}`, 404],
      ["GET", "/api/merchants", 403],
      ["POST", `/api/orders/${world.orders.fresh}/cancel`, 403],
      ["POST", `/api/orders/${world.orders.fresh}/hold`, 403],
      ["GET", `/api/merchants/${world.partner.merchantId}/account`, 403],
    ],
  },
  support: {
    hidden: ["Review queue", "Work list", "Returns", "Settings"],
    closed: () => [],
    rejected: () => [
      ["POST", `/api/orders/${world.orders.fresh}/cancel`, 403],
      ["POST", `/api/connections/${world.partner.connectionId}/keys`, 403],
      ["POST", "/api/merchants", 403],
      ["GET", "/api/orders/export", 403],
    ],
  },
};

it.each(Object.entries(LIMITS))(
  "the role %s sees and does nothing beyond its rights, on pages and at routes",
  async (name, limits) => {
    const person = world.people[name as PersonName]; // The names of the record.
    const page = await world.open(person);
    await visit(page, "/orders", "Orders");
    const navigation = page.getByRole("navigation", { name: "Navigation" });
    // Without the numbers of what waits there.
    const namesOf = async (within: Locator) =>
      (await within.getByRole("link").allTextContents()).map((text) => text.replace(/\d+\+?$/, ""));
    const areas = await namesOf(navigation);
    expect(areas).toContain("Orders");
    expect(areas.length).toBeLessThanOrEqual(7);
    const links: string[] = [];
    for (const area of areas) {
      const link = navigation.getByRole("link", { name: area, exact: true });
      await link.click();
      await link.and(page.locator("[aria-current=page]")).waitFor();
      const tabs = await namesOf(page.getByRole("navigation", { name: area }));
      links.push(...(tabs.length === 0 ? [area] : tabs));
    }
    expect(links.filter((link) => limits.hidden.includes(link))).toEqual([]);
    for (const [path, sentence] of limits.closed()) {
      await page.goto(path);
      await page.getByText(sentence).waitFor();
      await page.getByRole("heading", { level: 1, name: /^(No access|Nothing found)$/ }).waitFor();
    }
    const origin = { origin: world.url };
    for (const [method, path, status] of limits.rejected()) {
      const response = await page.request.fetch(path, {
        method,
        headers: origin,
        ...(method === "POST" && { data: {} }),
      });
      expect(response.status(), `${method} ${path}: ${await response.text()}`).toBe(status);
    }
  },
);

it("a person who only reads finds no button that changes a facility, its rates or its stock", async () => {
  const { service, partner, people } = world;
  const facility = await createFacility(service);
  await setStock(service, facility, partner.productIds[0], 7);
  const shownTo = async (name: PersonName, buttons: Readonly<Record<string, readonly string[]>>) => {
    const page = await world.open(people[name]);
    for (const [rest, expected] of Object.entries(buttons)) {
      await visit(page, `/facilities/${facility}${rest}`, /./);
      const shown = async () =>
        (await page.locator("main").getByRole("button").allTextContents()).filter((text) =>
          /^(Edit|Edit rates|Close|Record stock|Adjust|Count)$/.test(text),
        );
      await expect.poll(shown, { message: `${name}, ${rest}` }).toEqual(expected);
    }
  };
  const stock = `/stock/${partner.productIds[0]}`;
  const changing = {
    "": ["Edit", "Close", "Edit rates"],
    "/stock": ["Record stock"],
    [stock]: ["Adjust", "Count"],
  };
  await shownTo("warehouse", changing);
  await shownTo("support", { "": [], "/stock": [], [stock]: [] });
});

it("a role that is taken away while its person is signed in also leaves the navigation", async () => {
  const { service } = world;
  const grants = [{ role: "operator" }] as const;
  const person = await createPerson(service, { name: "Oskar", email: "oskar@example.com", grants });
  const page = await world.open(person);
  await visit(page, "/orders", "Orders");
  const settings = page.getByRole("navigation").getByRole("link", { name: "Settings" });
  await settings.waitFor();
  const { body } = await service.backOffice.get("/api/people?q=oskar");
  const changed = await service.backOffice.request("PUT", `/api/people/${body.data[0].id}/grants`, {
    body: { grants: [{ role: "warehouse" }] },
  });
  expect(changed.status).toBe(200);
  await settings.click();
  await page.getByText(FORBIDDEN).waitFor();
  await settings.waitFor({ state: "detached" });
  await visit(page, "/work", "Work list");
});
