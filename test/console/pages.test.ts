import { mkdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsOf, type Look, visit } from "../support/browser.ts";
import { PAGES } from "./pages.ts";
import { startWorld, type World } from "./world.ts";

/** `npm run screenshots` sets it: then each page is drawn, wide and narrow, light and dark. */
const FOLDER = process.env["SCREENSHOTS"];
/** A screen and a phone. */
const WIDE = 1440;
const NARROW = 390;
/** All pages of a person, one after the other. */
const PAGES_MS = 240_000;

let world: World;
beforeAll(async () => {
  world = await startWorld();
  if (FOLDER !== undefined) await mkdir(FOLDER, { recursive: true });
});
afterAll(() => world.close());

// Two visits cover both widths and both schemes.
const LOOKS: readonly (Look & { width: number })[] =
  FOLDER === undefined
    ? [
        { width: WIDE, scheme: "light" },
        { width: NARROW, scheme: "dark" },
      ]
    : [WIDE, NARROW].flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ width, scheme })));

describe.each(LOOKS)("$width pixels wide and $scheme", (look) => {
  it.each([...new Set(PAGES.map(({ person }) => person))])(
    "the pages of %s: axe finds nothing, and nothing is wider than the screen",
    async (person) => {
      const page = await world.open(person === null ? null : world.people[person], look);
      for (const { name, path, heading } of PAGES.filter((each) => each.person === person)) {
        await visit(page, path(world), heading);
        expect.soft(await findingsOf(page), name).toEqual([]);
        const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        expect.soft(await page.evaluate(overflow), `${name}: pixels beside the screen`).toBe(0);
        if (FOLDER !== undefined)
          await page.screenshot({
            path: `${FOLDER}/${name}-${look.width}-${look.scheme}.png`,
            fullPage: true,
          });
      }
    },
    PAGES_MS,
  );
});
