import { afterAll, beforeAll, expect, it } from "vitest";
import type { Floor } from "../console/floor.ts";
import { PAGES } from "../console/pages.ts";
import type { World } from "../console/world.ts";
import { take, visit } from "../support/browser.ts";
import { startLongWorld } from "./long-world.ts";

/** Nothing is wider than its place where names have 200 signs and no space. */

const WIDTHS = [1440, 320];
/** What printers leave of a sheet of A4, 190 mm. */
const A4 = 718;
/** All pages of a person, one after the other. */
const PAGES_MS = 240_000;

let long: World & Floor;
beforeAll(async () => {
  long = await startLongWorld();
});
afterAll(() => long.close());

/** What is wider than its place: the page, its header, what is cut without a sign of it, and on a wide screen a table. */
const TOO_WIDE = `(() => {
  const isCut = (element) => {
    const { overflowX, textOverflow } = getComputedStyle(element);
    const isAlone = element.tagName === "HTML" || element.tagName === "HEADER";
    if (overflowX === "auto") return innerWidth === 1440 && element.firstElementChild?.tagName === "TABLE";
    return isAlone || (overflowX === "hidden" && textOverflow === "clip" && element.clientWidth > 1);
  };
  return [...document.querySelectorAll("html, header, main *:not(input)")]
    .filter((element) => element.scrollWidth > element.clientWidth && isCut(element))
    .map(({ tagName, className, scrollWidth, clientWidth }) => [tagName, className, scrollWidth, clientWidth].join(" "));
})()`;

/** Barcodes that are smaller than they are drawn for. */
const SQUEEZED = `[...document.querySelectorAll("main svg[role=img][width$=mm]")]
  .filter((svg) => svg.getBoundingClientRect().width < (parseFloat(svg.getAttribute("width")) / 25.4) * 96 - 1)
  .map((svg) => svg.getAttribute("aria-label"))`;

it.each([...new Set(PAGES.flatMap(({ person }) => person ?? []))])(
  "the pages of %s on screens of 1440 and 320 pixels",
  async (person) => {
    const page = await long.open(long.people[person]);
    for (const { name, path } of PAGES.filter((each) => each.person === person)) {
      await visit(page, path(long), /./);
      for (const width of WIDTHS) {
        await take(page, { width, scheme: "light" });
        expect.soft(await page.evaluate(TOO_WIDE), `${name}, ${width} pixels wide`).toEqual([]);
      }
    }
  },
  PAGES_MS,
);

it("slips and pick lists on paper, which keep their column of quantities", async () => {
  const page = await long.open(long.people.warehouse);
  for (const { name, path } of PAGES.filter((each) => /slips|pick-list/.test(each.name))) {
    await visit(page, path(long), /./);
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: A4, height: 1_000 });
    expect.soft(await page.evaluate(TOO_WIDE), name).toEqual([]);
    expect.soft(await page.evaluate(SQUEEZED), `${name}: barcodes`).toEqual([]);
    await page.emulateMedia({ media: null });
  }
});
