import { mkdir } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Floor, openFloor } from "../../console/floor.ts";
import { PAGES, type TestedPage } from "../../console/pages.ts";
import { startWorld, type World } from "../../console/world.ts";
import { cutOn, type FullLook, findingsOf, speak, take, visit } from "../../support/browser.ts";
import { anAddress } from "../../support/builders.ts";
import { placeAcceptedOrder } from "../../support/real-orders.ts";

/** `npm run screenshots` sets it: then each page is drawn, wide and narrow, light and dark. */
const FOLDER = process.env["SCREENSHOTS"];
/** A screen, and the narrowest page of WCAG 1.4.10: a small phone, or a screen of 1280 pixels at 400 %. */
const WIDE = 1440;
const NARROW = 320;
/** Screens, a tablet and a phone: nothing is cut on them. */
const WIDTHS = [1440, 1280, 820, 390] as const;
/** All pages of a person, one after the other. */
const PAGES_MS = 240_000;

let world: World & Floor;
beforeAll(async () => {
  const started = await startWorld();
  world = { ...started, ...(await openFloor(started)) };
  await giveLongNames(world);
  if (FOLDER !== undefined) await mkdir(FOLDER, { recursive: true });
});
afterAll(() => world.close());

/** Names that people have, which begin as the headings do. */
async function giveLongNames({ service, partner, facilityId }: World & Floor): Promise<void> {
  const names = {
    [`merchants/${partner.merchantId}`]:
      "Merchant Rindfleischetikettierungsüberwachungsgesellschaft mbH & Co. KG",
    [`connections/${partner.connectionId}`]: "Partner شركة الخليج العربي للتجارة والتوزيع المحدودة",
    [`facilities/${facilityId}`]: "Hall one, Logistikzentrum Hellschen-Heringsand-Unterschaar (株式会社)",
    [`products/${partner.productIds[1]}`]:
      "Edelstahl-Isolierkanne mit doppelwandiger Vakuumisolierung, 1,5 Liter",
  };
  for (const [path, name] of Object.entries(names)) {
    const { status, body } = await service.backOffice.request("PATCH", `/api/${path}`, { body: { name } });
    expect(status, JSON.stringify(body)).toBe(200);
  }
}

/** Two looks cover both widths and both schemes. Parts that pages share are seen in both. */
const LOOKS: readonly FullLook[] =
  FOLDER === undefined
    ? [
        { width: WIDE, scheme: "light" },
        { width: NARROW, scheme: "dark" },
      ]
    : [WIDE, NARROW].flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ width, scheme })));

/** Axe finds nothing, and nothing is wider than its place. */
async function check(page: Page, name: string, part = "html"): Promise<void> {
  expect.soft(await findingsOf(page, part), name).toEqual([]);
  const overflow = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector(${JSON.stringify(part)}))`;
  expect.soft(await page.evaluate(overflow), `${name}: pixels beside the screen`).toBe(0);
}

const DIALOG = '[role="dialog"], dialog[open]';

/** Checks what a button opens, and closes it. */
async function checkOpened(page: Page, button: Locator, name: string): Promise<void> {
  await button.click();
  await page.getByRole("dialog", { name: /./ }).waitFor(); // Its name comes a moment after it.
  await check(page, name, DIALOG);
  await page.keyboard.press("Escape");
  await page.locator(DIALOG).waitFor({ state: "detached" });
}

/** Checks each dialog of a page. Those of the rows of a table are alike, so one of them is opened. */
async function checkDialogs(page: Page, name: string): Promise<void> {
  const buttons = page.locator('main button[aria-haspopup="dialog"]:not(:disabled)');
  const labels = [...new Set(await buttons.allTextContents())];
  for (const label of labels) {
    const button = buttons.filter({ hasText: label }).first();
    if (await button.isVisible()) await checkOpened(page, button, `${name}: ${label}`);
  }
}

const MENU = '[role="menu"]';

/** Checks the first menu of a page: those of one kind are alike. */
async function checkMenu(page: Page, name: string): Promise<void> {
  const button = page.locator('main button[aria-haspopup="menu"]').first();
  if (!(await button.isVisible())) return;
  await button.click();
  await page.locator(MENU).waitFor();
  await check(page, `${name}: a menu`, MENU);
  await page.keyboard.press("Escape");
  await page.locator(MENU).waitFor({ state: "detached" });
}

/** Nothing is cut at any width, in either language. */
async function checkWidths(page: Page, name: string): Promise<void> {
  for (const language of ["en", "de"] as const) {
    await speak(page, language);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      expect.soft(await cutOn(page), `${name}, ${width} pixels wide, in ${language}`).toEqual([]);
    }
  }
  await speak(page, "en");
}

/** @param index of the page. Every other page is checked in the one look, those between in the other; all are drawn in each. */
async function checkPage(page: Page, { name }: TestedPage, index: number): Promise<void> {
  for (const [place, look] of LOOKS.entries()) {
    if (FOLDER === undefined && place !== index % LOOKS.length) continue;
    const named = `${name}, ${look.width} pixels wide and ${look.scheme}`;
    await take(page, look);
    await check(page, named);
    if (FOLDER !== undefined)
      await page.screenshot({ path: `${FOLDER}/${name}-${look.width}-${look.scheme}.png`, fullPage: true });
    else {
      await checkDialogs(page, named);
      await checkMenu(page, named);
    }
  }
  if (FOLDER === undefined) await checkWidths(page, name);
}

/**
 * The first page of a person is loaded; from there on, the console itself changes from page to page. A page is also loaded
 * if it could be taken for the one before, by its heading.
 */
async function openNext(page: Page, tested: TestedPage, before: TestedPage | undefined): Promise<void> {
  const { person, heading, path } = tested;
  if (before === undefined || person === null || String(before.heading).includes(String(heading)))
    return visit(page, path(world), heading);
  await page.evaluate(`history.pushState({}, "", ${JSON.stringify(path(world))})`);
  return visit(page, null, heading);
}

describe("axe finds nothing, and nothing is wider than the screen:", () => {
  it.each([...new Set(PAGES.map(({ person }) => person))])(
    "the pages of %s and their dialogs",
    async (person) => {
      const page = await world.open(person === null ? null : world.people[person]);
      const pages = PAGES.filter((each) => each.person === person);
      for (const [index, tested] of pages.entries()) {
        await openNext(page, tested, pages[index - 1]);
        await checkPage(page, tested, index);
      }
    },
    PAGES_MS,
  );
});

it("a table leaves out columns; one that is too wide without them is moved by the keyboard", async () => {
  const page = await world.open(world.people.operator);
  await visit(page, "/orders", "Orders");
  const frame = page.getByRole("region", { name: "Wide table: Orders" });
  const column = page.getByRole("columnheader", { name: "Connection" });
  await column.waitFor();
  await page.setViewportSize({ width: 800, height: 900 });
  await column.waitFor({ state: "hidden" });
  await frame.waitFor({ state: "detached" }); // It is as wide as the page.
  await page.evaluate("document.documentElement.style.fontSize = '200%'");
  await frame.waitFor();
  await frame.focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => page.evaluate("document.activeElement.scrollLeft")).toBeGreaterThan(0);
});

it("a sign that turns the direction of writing around does so in its own part of an address alone", async () => {
  const { service, partner } = world;
  const name = "محمد عبد الرحمن بن عبد العزيز آل سعود الطويل";
  const shippingAddress = anAddress({ name, zip: "SW1Y\u202e 4JH", city: "London" });
  const { id } = await placeAcceptedOrder(service, partner, { externalOrderId: "turned", shippingAddress });
  const page = await world.open(world.people.warehouse);
  for (const [path, heading] of [
    [`/orders/${id}`, "turned"],
    [`/work/slips/${id}`, "Slips of turned"],
  ] as const) {
    await visit(page, path, heading);
    expect(await page.evaluate(BEGIN_OF_CITY), path).toBeLessThan(0);
  }
  // A list cuts a text at its end, also one that is written from the right.
  await visit(page, "/orders", "Orders");
  await page.getByText(name).waitFor();
  expect(await page.evaluate(DIRECTIONS)).toEqual(expect.arrayContaining(["ltr", "rtl"]));
});

/** Pixels between the left of the city's first letter and that of its last. Above zero: its letters are turned around. */
const BEGIN_OF_CITY = `(() => {
  const texts = document.createTreeWalker(document.querySelector("address"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode() && !texts.currentNode.data.includes("London"));
  const { currentNode: node } = texts;
  const leftOf = (index) => {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + 1);
    return range.getBoundingClientRect().left;
  };
  const begin = node.data.indexOf("London");
  return leftOf(begin) - leftOf(begin + 5);
})()`;

/** Of the names of recipients. */
const DIRECTIONS = `[...document.querySelectorAll('[data-room="long"] > div')].map(
  (cell) => getComputedStyle(cell).direction)`;

// What opens over every page.
const OPENED = [
  { name: "the person's menu", open: (page: Page) => page.getByRole("button", { name: "Olivia" }).click() },
  { name: "the palette", open: (page: Page) => page.keyboard.press("Control+k") },
  { name: "the shortcuts", open: (page: Page) => page.keyboard.press("?") },
];

it("the same is true of the frame's menu, palette and shortcuts, and of the list of a filter", async () => {
  const page = await world.open(world.people.operator);
  await visit(page, "/orders", "Orders");
  for (const look of LOOKS) {
    await take(page, look);
    for (const { name, open } of OPENED) {
      await open(page);
      await page.getByRole("dialog", { name: /./ }).waitFor(); // Its name comes a moment after it.
      await check(page, `${name} in ${look.scheme}`, DIALOG);
      await page.keyboard.press("Escape");
      await page.locator(DIALOG).waitFor({ state: "detached" });
    }
    const filter = page.getByRole("combobox", { name: "Status" });
    if (!(await filter.isVisible())) await page.getByRole("button", { name: "More filters" }).click();
    await filter.click();
    await page.getByRole("option", { name: "New" }).waitFor();
    await check(page, `the list of a filter in ${look.scheme}`, '[role="listbox"]');
    await page.keyboard.press("Escape");
  }
});

it("the choice of the language is not wider than a narrow page, also with letters of twice the size", async () => {
  const [stranger, page] = [
    await world.open(null, { width: NARROW }),
    await world.open(world.people.operator, { width: NARROW }),
  ];
  await visit(stranger, "/sign-in", "Sign in");
  await visit(page, "/merchants", "Merchants");
  await page.getByRole("button", { name: "Olivia" }).click();
  for (const each of [stranger, page]) {
    await each.evaluate("document.documentElement.style.fontSize = '200%'");
    const choice = each.getByRole("radiogroup", { name: "Language" });
    await choice.waitFor();
    await expect.poll(async () => (await choice.boundingBox())?.x).toBeGreaterThanOrEqual(0);
    const { x, width } = (await choice.boundingBox()) ?? { x: 0, width: 0 };
    expect(x + width).toBeLessThanOrEqual(NARROW);
    const cut = await choice.evaluate((element: { scrollWidth: number; clientWidth: number }) =>
      Math.max(0, element.scrollWidth - element.clientWidth),
    );
    expect(cut, "pixels that are cut off").toBe(0);
  }
});

it("a page can load nothing from another host and run no script that the service did not send", async () => {
  const page = await world.open(null, { complaints: /Content Security Policy|another host/ });
  await visit(page, "/sign-in", "Sign in");
  const isBlocked = await page.evaluate(`(async () => {
    const script = document.createElement("script");
    script.textContent = "globalThis.hasRun = true";
    document.body.append(script);
    const image = new Image();
    image.src = "https://elsewhere.example/image.png";
    await image.decode().catch(() => undefined);
    const fetched = await fetch("https://elsewhere.example/").then(() => true, () => false);
    return { hasRun: globalThis.hasRun === true, fetched, width: image.naturalWidth };
  })()`);
  expect(isBlocked).toEqual({ hasRun: false, fetched: false, width: 0 });
});
