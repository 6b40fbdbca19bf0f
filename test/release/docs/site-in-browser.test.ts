import Fastify, { type FastifyInstance } from "fastify";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDocumentation } from "../../../scripts/docs/build.ts";
import { addStaticSite } from "../../../src/http/static-sites.ts";
import { findingsOf } from "../../support/browser.ts";
import { sharedBrowser } from "../../support/chromium.ts";

/** On a busy machine; it takes seconds if something has changed, and nothing otherwise. */
const BUILD_MS = 300_000;
const PAGE_MS = 90_000;

let app: FastifyInstance;
let browser: Browser;
let origin: string;

beforeAll(async () => {
  expect(await buildDocumentation({ onlyIfChanged: true })).not.toBe("failed");
  app = Fastify();
  addStaticSite(app, { folder: `${process.cwd()}/dist/docs`, path: "/docs/", addresses: {} });
  origin = await app.listen({ port: 0, host: "127.0.0.1" });
  browser = await sharedBrowser();
}, BUILD_MS);
afterAll(async () => {
  await app.close();
});

/** A page that reports every error of the browser, and every request to another host. */
async function openPage(options: Parameters<Browser["newContext"]>[0] = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
  page.on("pageerror", (error) => void faults.push(error.message));
  page.on("request", (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(origin))
      faults.push(request.url());
  });
  return { page, faults, close: () => context.close() };
}

describe("the documentation in a browser", () => {
  it(
    "finds a page by its words, without another host",
    async () => {
      const { page, faults, close } = await openPage();
      await page.goto(`${origin}/docs/`);
      await page.getByRole("button", { name: "Search" }).click();
      await page.getByRole("searchbox").fill("idempotency key reused");
      await page
        .getByRole("option", { name: /Idempotency key reused/ })
        .first()
        .click();
      await page.getByRole("heading", { level: 1, name: "Idempotency key reused" }).waitFor();
      expect(new URL(page.url()).pathname).toBe("/docs/errors/idempotency-key-reused/");
      expect(faults).toEqual([]);
      await close();
    },
    PAGE_MS,
  );

  it(
    "shows each example in the form that was chosen last, on every page",
    async () => {
      const { page, faults, close } = await openPage();
      await page.goto(`${origin}/docs/partners/quickstart.html`);
      const shown = () => page.locator(".vp-code-group .blocks > .active > .lang").allInnerTexts();
      expect(new Set(await shown())).toEqual(new Set(["sh"]));
      const last = page.locator(".vp-code-group").last();
      const tab = last.getByText("Python", { exact: true });
      await tab.scrollIntoViewIfNeeded();
      const before = await last.boundingBox();
      await tab.click();
      expect(new Set(await shown())).toEqual(new Set(["python"]));
      // The examples above have other heights now.
      expect(Math.abs(Number((await last.boundingBox())?.y) - Number(before?.y))).toBeLessThan(2);
      await page.goto(`${origin}/docs/partners/products.html`);
      await expect.poll(async () => new Set(await shown())).toEqual(new Set(["python"]));
      expect(faults).toEqual([]);
      await close();
    },
    PAGE_MS,
  );

  const LOOKS = [
    { colorScheme: "light", viewport: { width: 1_280, height: 900 } },
    { colorScheme: "dark", viewport: { width: 390, height: 800 } },
  ] as const;
  it.each(LOOKS)(
    "has no finding of axe, $colorScheme",
    async (look) => {
      const { page, faults, close } = await openPage(look);
      for (const path of ["", "partners/webhooks.html", "api/orders.html", "errors/not-found/"]) {
        await page.goto(`${origin}/docs/${path}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        expect(await findingsOf(page), path).toEqual([]);
      }
      expect(faults).toEqual([]);
      await close();
    },
    PAGE_MS,
  );
});
