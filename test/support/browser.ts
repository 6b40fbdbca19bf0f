import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { tokenAuthentication } from "../../src/back-office/authentication.ts";
import { sessionAuthentication } from "../../src/back-office/people/session-authentication.ts";
import type { Person } from "../../src/people/person.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { sharedBrowser } from "./chromium.ts";
import { freePort } from "./free-port.ts";
import { linkToken } from "./people.ts";
import { OPERATOR_TOKEN, startTestService, type TestService } from "./test-service.ts";

const ROOT = new URL("../../", import.meta.url);

/** The console of a service with a database of its own, in a real browser. */
export type Console = {
  readonly service: TestService;
  /** The address of the back office. */
  readonly url: string;
  /** A tab of a new browser profile. With a person, it has signed in. Closed with the test, which fails if it complained. */
  open(person: Person | null, look?: Look): Promise<Page>;
  close(): Promise<void>;
};

type Look = {
  readonly scheme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
  /** Pixels of the screen for one of the page. */
  readonly scale?: number;
  readonly language?: "en-GB" | "de-DE";
  /** An identity provider, which the page may go to. */
  readonly provider?: string;
  /** The test provokes such complaints, and expects at least one of them. */
  readonly complaints?: RegExp;
};

let built: Promise<unknown> | undefined;

/** Builds the console if its sources changed, once for all test files of this process. */
const buildConsole = (): Promise<unknown> =>
  (built ??= promisify(execFile)(process.execPath, ["web/build/prepare.ts"], { cwd: fileURLToPath(ROOT) }));

export async function startConsole(
  options: NonNullable<Parameters<typeof startTestService>[0]> = {},
): Promise<Console> {
  await buildConsole();
  // Passkeys belong to the name of a host, so the address has a name and is known before the service starts.
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const [service, browser] = await Promise.all([
    startTestService({ ...options, config: { backOfficeUrl: url, ...options.config } }),
    sharedBrowser(),
  ]);
  const { context } = service;
  const authenticate = sessionAuthentication(context, tokenAuthentication(OPERATOR_TOKEN, context));
  const app = createBackOffice(
    context,
    authenticate,
    createMetrics(),
    {},
    {
      console: fileURLToPath(new URL("web/dist", ROOT)),
    },
  );
  await app.listen({ host: "127.0.0.1", port });
  return {
    service,
    url,
    open: (person, look) => openPage(browser, { service, url }, person, look),
    close: async () => {
      await app.close();
      await service.close();
    },
  };
}

/** Longer than any step takes on a busy machine. */
const STEP_MS = 25_000;

async function openPage(
  browser: Browser,
  { service, url }: Pick<Console, "service" | "url">,
  person: Person | null,
  {
    scheme = "light",
    width = 1440,
    height = 900,
    scale = 1,
    language = "en-GB",
    provider,
    complaints: provoked,
  }: Look = {},
): Promise<Page> {
  const profile = await browser.newContext({
    baseURL: url,
    colorScheme: scheme,
    locale: language,
    timezoneId: "Europe/Berlin",
    viewport: { width, height },
    deviceScaleFactor: scale,
    reducedMotion: "reduce",
  });
  // Less than a test has, so that the step that fails is named.
  profile.setDefaultTimeout(STEP_MS);
  const complaints: string[] = [];
  // The browser finds no other host. To intercept requests would cost each one a way through this process, and the cache.
  profile.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== "data:" && origin !== url && origin !== provider)
      complaints.push(`request to another host: ${request.url()}`);
  });
  const page = await profile.newPage();
  profile.on("weberror", (error) => complaints.push(String(error.error())));
  profile.on("console", (message) => {
    // The browser reports each response of 4xx and 5xx so; the tests that cause them look at the page.
    if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
      complaints.push(message.text());
  });
  onTestFinished(async () => {
    await profile.close();
    const others = complaints.filter((complaint) => provoked?.test(complaint) !== true);
    expect(others, "errors, violations of the policy, requests to other hosts").toEqual([]);
    if (provoked !== undefined) expect(complaints.length, "complaints of this kind").toBeGreaterThan(0);
  });
  if (person !== null) {
    const token = await linkToken(service, person, "sign-in");
    const signedIn = await profile.request.post("/auth/sign-in/link", {
      data: { token },
      headers: { origin: url },
    });
    expect(signedIn.status(), await signedIn.text()).toBe(200);
  }
  return page;
}

/**
 * Opens an address of the console, and waits until the page shows its data.
 * @param path null: the console is on its way to the page
 */
export async function visit(page: Page, path: string | null, heading: string | RegExp): Promise<void> {
  // A change of the fragment alone would not load the page.
  if (path?.includes("#")) await page.goto("about:blank");
  if (path !== null) await page.goto(path);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  await expect.poll(() => page.getByRole("status", { name: /Loading|geladen/ }).count()).toBe(0);
}

export type FullLook = Required<Pick<Look, "scheme" | "width">>;

/** Gives an open page another look, which is faster than opening it again. */
export async function take(page: Page, { width, scheme }: FullLook): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height: 900 });
  await page.locator(`html[data-mantine-color-scheme=${scheme}]`).waitFor();
  // Tables choose their columns for the width.
  await page.evaluate(`(async () => {
    for (let left = 4; left > 0; left -= 1) await new Promise((done) => requestAnimationFrame(done));
  })()`);
  // Colors change over some milliseconds.
  await page.evaluate("Promise.allSettled(document.getAnimations().map(({ finished }) => finished))");
}

/**
 * What is cut on a page at its present width, as sentences: pills, buttons and texts that are larger than their boxes or reach
 * out of them or lie on each other, tables that hide a column, and a page that is wider than the screen. A text that ends in an ellipsis is not cut.
 */
export const cutOn = (page: Page): Promise<string[]> => page.evaluate(CUT);

const CUT = `(async () => {
  const frames = async (number) => {
    for (let left = number; left > 0; left -= 1) await new Promise((done) => requestAnimationFrame(done));
  };
  const dropped = () => [...document.querySelectorAll("[data-dropped]")].map((table) => table.dataset.dropped).join();
  let before;
  do {
    before = dropped();
    await frames(2);
  } while (dropped() !== before); // Tables have chosen their columns.
  const found = [];
  // What screen readers alone read is not shown, such as the head of a list on a phone.
  const isClipped = (element) => {
    for (let each = element; each !== null; each = each.parentElement)
      if (each.clientWidth === 1 || each.getBoundingClientRect().width <= 1) return true;
    return false;
  };
  const isShown = (element) => element.checkVisibility() && !isClipped(element);
  const add = (what, element) => found.push(what + ": " + element.outerHTML.slice(0, 160));
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) add("the page is wider than the screen", root);
  // What an element around it cuts, such as the cell of a list. A text may end in an ellipsis there, also one that is a button; a pill may not.
  const isCutBeside = (element, start = "left", end = "right") => {
    const inner = element.getBoundingClientRect();
    for (let each = element.parentElement; each.matches("main *"); each = each.parentElement) {
      const outer = each.getBoundingClientRect();
      const cuts = getComputedStyle(each).overflowX !== "visible";
      if (cuts && (inner[start] < outer[start] - 1 || inner[end] > outer[end] + 1)) return true;
    }
    return false;
  };
  const isWhole = (element) => !isCutBeside(element) && !isCutBeside(element, "top", "bottom");
  const boxes = [];
  for (const element of document.querySelectorAll("main [data-tone], main button, main a, main th")) {
    if (!isShown(element)) continue;
    const isText = !element.matches("[data-tone], .mantine-Button-root");
    const isWider = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0;
    if (isWider && !(isText && getComputedStyle(element).textOverflow === "ellipsis")) add("cut", element);
    if (!isText && isCutBeside(element)) add("cut by what is around it", element);
    const cell = element.closest("td, th");
    if (cell !== null && !isText) {
      const [inner, outer] = [element, cell].map((each) => each.getBoundingClientRect());
      if (inner.right > outer.right + 1 || inner.left < outer.left - 1) add("reaches out of its cell", element);
    }
    if (!element.matches("th")) boxes.push({ element, of: element.getBoundingClientRect() });
  }
  for (const [index, { element, of: one }] of boxes.entries())
    for (const { element: next, of: other } of boxes.slice(index + 1)) {
      const isApart =
        Math.min(one.right, other.right) - Math.max(one.left, other.left) < 2 ||
        Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) < 2;
      if (!isApart && !element.contains(next) && isWhole(element) && isWhole(next))
        add("lies on " + next.outerHTML.slice(0, 80), element);
    }
  for (const table of document.querySelectorAll("main table")) {
    const frame = table.parentElement;
    if (frame.scrollWidth > frame.clientWidth + 1) add("a table is wider than its place", table);
    const last = [...table.querySelectorAll("thead th")].at(-1);
    if (last !== undefined && last.getClientRects().length === 0) add("the last column is hidden", last);
  }
  for (const element of document.querySelectorAll("main *")) {
    if (element.childElementCount > 0 || element.textContent.trim() === "" || !isShown(element)) continue;
    const { display, overflowX } = getComputedStyle(element);
    if (display !== "inline" && overflowX === "visible" && element.scrollWidth > element.clientWidth + 1)
      add("a text reaches out of its box", element);
  }
  return [...new Set(found)];
})()`;

/** Shows the console in another language, as a choice in another tab does. */
export async function speak(page: Page, language: "en" | "de"): Promise<void> {
  await page.evaluate(
    `localStorage.setItem("language", "${language}");
    dispatchEvent(new StorageEvent("storage", { key: "language", newValue: "${language}" }));`,
  );
  await page.locator(`html[lang=${language}]`).waitFor();
}

let axe: string | undefined;

/**
 * Findings of axe for WCAG 2.2 AA, as sentences.
 * @param part selector of what is checked. Default: the whole page
 */
export async function findingsOf(page: Page, part = "html"): Promise<string[]> {
  axe ??= await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe);
  const run = `axe.run(${JSON.stringify(part)}, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    resultTypes: ["violations"],
  })`;
  type Results = { violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] };
  const { violations }: Results = await page.evaluate(run);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}
