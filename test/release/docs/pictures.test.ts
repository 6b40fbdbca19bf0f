import { globSync, readFileSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { visit } from "../../support/browser.ts";
import { launchBrowser } from "../../support/chromium.ts";
import { startDemo } from "../../support/demo.ts";
import { PICTURES, SYSTEM } from "./pictures/pictures.ts";
import { openShop } from "./pictures/shop.ts";
import { trade } from "./pictures/trade.ts";

const FOLDER = "docs/pictures";
/** `npm run docs:pictures` sets it to `all`. It can name some of them: `TAKE_PICTURES=orders,people`. */
const TAKEN = process.env["TAKE_PICTURES"]?.split(",") ?? [];
const isTaken = ({ name }: { name: string }): boolean => TAKEN.includes(name) || TAKEN.includes("all");
const TAKE_MS = 300_000;

const WIDTH = 1_240;
const HEIGHT = 740;
/** The column of a page is narrower, so the picture is sharp on a fine screen too. */
const SCALE = 1.4;
const QUALITY = 0.72;
const BYTES_MAX = 100_000;
const BYTES_MAX_TOGETHER = 1_200_000;

describe("the pictures of the guides", () => {
  it("are those of the list, and each is shown by a page, with a text for readers who do not see it", () => {
    const files = globSync(`${FOLDER}/*`).map((path) => path.slice(FOLDER.length + 1));
    expect(files.toSorted()).toEqual([...PICTURES, SYSTEM].map(({ name }) => `${name}.webp`).toSorted());
    const shown = globSync("docs/**/*.md").flatMap((path) => {
      const text = readFileSync(path, "utf8");
      return [...text.matchAll(/!\[([^\]]*)\]\([^)]*pictures\/([^)]+)\)/g)];
    });
    expect(shown.map(([, , file]) => file).toSorted()).toEqual(files.toSorted());
    expect(shown.filter(([, alternative = ""]) => alternative.length < 30)).toEqual([]);
  });

  it("are small", () => {
    const sizes = globSync(`${FOLDER}/*`).map((path) => statSync(path).size);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(BYTES_MAX);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(BYTES_MAX_TOGETHER);
  });

  it.runIf(PICTURES.some(isTaken))(
    "are taken of the console",
    async () => {
      const shop = await openShop();
      const world = { ...shop, ...(await trade(shop)) };
      await mkdir(FOLDER, { recursive: true });
      for (const { name, person, path, heading, first, height = HEIGHT } of PICTURES.filter(isTaken)) {
        const page = await shop.open(shop.people[person], { width: WIDTH, height, scale: SCALE });
        await page.clock.setFixedTime(shop.service.clock.now());
        await visit(page, path(world), heading);
        await first?.(page, world);
        await take(page, name);
      }
      await shop.close();
    },
    TAKE_MS,
  );

  it.runIf(isTaken(SYSTEM))("are taken of the system", takeSystem, TAKE_MS);
});

async function takeSystem(): Promise<void> {
  const demo = await startDemo();
  const browser = await launchBrowser();
  const link = demo.people.find(({ role }) => role === "operator")?.url ?? "";
  const page = await browser.newPage({
    baseURL: new URL(link).origin,
    viewport: { width: WIDTH, height: HEIGHT },
    deviceScaleFactor: SCALE,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
  });
  await page.goto(link);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("navigation", { name: "Navigation" }).waitFor();
  await visit(page, SYSTEM.path, SYSTEM.heading);
  await take(page, SYSTEM.name);
  await browser.close();
  await demo.close();
}

async function take(page: Page, name: string): Promise<void> {
  await page.evaluate("Promise.all([...document.images].map((image) => image.decode()))");
  // A button that has just loaded moves for a moment. What moves without an end, such as a sign that something runs, may.
  await page.evaluate(`Promise.all(
    document.getAnimations()
      .filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity)
      .map(({ finished }) => finished))`);
  await writeFile(`${FOLDER}/${name}.webp`, await toWebp(page, await page.screenshot()));
  await page.close();
}

/** The browser compresses it: half the size of a PNG. */
async function toWebp(page: Page, png: Buffer): Promise<Buffer> {
  await page.goto("about:blank");
  const url: string = await page.evaluate(`(async () => {
    const image = new Image();
    image.src = "data:image/png;base64,${png.toString("base64")}";
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", ${QUALITY});
  })()`);
  return Buffer.from(url.slice(url.indexOf(",") + 1), "base64");
}
