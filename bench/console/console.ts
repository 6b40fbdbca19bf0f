import type { Browser, BrowserContext, Page } from "playwright-core";
import { launchBrowser } from "../../test/support/chromium.ts";
import { buildConsole } from "../../web/build/build-console.ts";
import { preloadOrders } from "../preload.ts";
import { against, type Figure, median } from "../report.ts";
import { addFacility, addPartners, closeSite, openSite, type Postgres, type Site } from "../site.ts";

type Options = { readonly rounds: number; readonly say: (text: string) => void };

/** What the pages show: so many orders, of as many partners. */
const STORED_ORDERS = 10_000;
const PARTNERS = 20;

const FIRST_LOAD_KIB_MAX = 300;
const INTERACTIVE_MS_MAX = 1_000;
const NAVIGATION_MS_MAX = 200;

/** The page that a person opens first in the morning. */
const FIRST_PAGE = "/orders";

/** From a click to the drawn page. */
type Navigation = { readonly to: string; readonly ms: number };

type Round = {
  readonly kib: number;
  readonly interactiveMs: number;
  /** Each page of the navigation, opened for the first time: its code is loaded too. */
  readonly first: readonly Navigation[];
  readonly again: readonly Navigation[];
};

/** How fast the console is in a real browser: its first load, and each page of its navigation. */
export async function measureConsole(postgres: Postgres, { rounds, say }: Options): Promise<Figure[]> {
  await buildConsole();
  const site = await openSite(postgres, "bench_console");
  const browser = await launchBrowser();
  try {
    await addFacility(site);
    await addPartners(site, PARTNERS);
    await preloadOrders(site.db, site.partner, STORED_ORDERS, () => undefined);
    await site.db.runScript("analyze");
    const person = await createOperator(site);
    const measured: Round[] = [];
    await measureRound(browser, person); // The service has planned its statements then.
    for (let round = 1; round <= rounds; round += 1) {
      measured.push(await measureRound(browser, person));
      say(
        `console, round ${round} of ${rounds}: interactive after ${measured.at(-1)?.interactiveMs.toFixed()} ms`,
      );
    }
    return figuresOf(measured);
  } finally {
    await browser.close();
    await closeSite(site);
  }
}

type Operator = { readonly url: string; signIn(profile: BrowserContext): Promise<void> };

async function createOperator({ service }: Site): Promise<Operator> {
  const headers = { authorization: `Bearer ${service.token}`, "content-type": "application/json" };
  const post = async (path: string, body: object): Promise<{ id: string; url: string }> => {
    const answer = await fetch(service.backOfficeUrl + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} returned ${answer.status}.`);
    return (await answer.json()) as { id: string; url: string }; // Only these fields are used.
  };
  const email = "operator@example.com";
  const { id } = await post("/api/people", { name: "Operator", email, grants: [{ role: "operator" }] });
  const url = service.backOfficeUrl.replace("127.0.0.1", "localhost"); // As BACK_OFFICE_URL has it.
  return {
    url,
    signIn: async (profile) => {
      const link = await post(`/api/people/${id}/sign-in-link`, {});
      const token = new URL(link.url).hash.slice("#token=".length);
      const signedIn = await profile.request.post("/auth/sign-in/link", {
        data: { token },
        headers: { origin: url },
      });
      if (!signedIn.ok()) throw new Error(`Signing in returned ${signedIn.status()}.`);
    },
  };
}

/**
 * Resolves with the time at which a page other than `before` shows its data and the browser has drawn it and is free to
 * react. Runs in the page, before its own scripts.
 */
const WATCH = `
  globalThis.shown = (before) => new Promise((resolve) => {
    const observer = new MutationObserver(() => look());
    const look = () => {
      const heading = document.querySelector("main h1")?.textContent;
      if (heading === undefined || heading === before) return;
      if (document.querySelector("main [role=status][aria-label]") !== null) return; // It is loading.
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    };
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    look();
  });
  globalThis.firstShown = globalThis.shown(null);
`;

/** A browser without a cache opens the first page, and then every page of the navigation, twice. */
async function measureRound(browser: Browser, person: Operator): Promise<Round> {
  const profile = await browser.newContext({
    baseURL: person.url,
    locale: "en-GB",
    viewport: { width: 1440, height: 900 },
  });
  try {
    await profile.addInitScript(WATCH);
    await person.signIn(profile);
    const page = await profile.newPage();
    await page.goto(FIRST_PAGE, { waitUntil: "commit" });
    const interactiveMs = Number(await page.evaluate("firstShown"));
    const bytes: number[] = await page.evaluate(
      `performance.getEntries().flatMap(({ entryType, encodedBodySize }) =>
        entryType === "resource" || entryType === "navigation" ? [encodedBodySize] : [])`,
    );
    const first = await navigate(page);
    const again = await navigate(page);
    return { kib: bytes.reduce((sum, size) => sum + size, 0) / 1_024, interactiveMs, first, again };
  } finally {
    await profile.close();
  }
}

/** Follows every link of the navigation by a click, without pointing at it before, which would already load the page. */
async function navigate(page: Page): Promise<Navigation[]> {
  const links: string[] = await page.evaluate(
    `[...document.querySelectorAll("nav a[href]")].map((link) => link.getAttribute("href"))`,
  );
  const here = new URL(page.url()).pathname;
  const measured: Navigation[] = [];
  for (const to of [...links.filter((link) => link !== here), here]) {
    const ms = Number(
      await page.evaluate(`(async () => {
        const begun = performance.now();
        const shown = globalThis.shown(document.querySelector("main h1").textContent);
        document.querySelector('nav a[href="${to}"]').click();
        return (await shown) - begun;
      })()`),
    );
    measured.push({ to, ms });
  }
  return measured;
}

function figuresOf(rounds: readonly Round[]): Figure[] {
  const kib = median(rounds.map((round) => round.kib));
  const interactive = rounds.map(({ interactiveMs }) => interactiveMs);
  return [
    {
      name: "console: first load, compressed",
      ...against(FIRST_LOAD_KIB_MAX, kib),
      note: `${kib.toFixed()} KiB of at most ${FIRST_LOAD_KIB_MAX}`,
    },
    {
      name: "console: interactive, without a cache",
      ...against(INTERACTIVE_MS_MAX, median(interactive)),
      p50Ms: median(interactive),
      p99Ms: Math.max(...interactive),
      note: `at most ${INTERACTIVE_MS_MAX} ms`,
    },
    navigationFigure(
      "console: navigation, first time",
      rounds.flatMap(({ first }) => first),
    ),
    navigationFigure(
      "console: navigation, again",
      rounds.flatMap(({ again }) => again),
    ),
  ];
}

/** The slowest page counts, by its median over the rounds. */
function navigationFigure(name: string, navigations: readonly Navigation[]): Figure {
  const pages = [...Map.groupBy(navigations, ({ to }) => to)].map(([to, each]) => ({
    to,
    ms: median(each.map(({ ms }) => ms)),
  }));
  const slowest = pages.toSorted((a, b) => b.ms - a.ms)[0] ?? { to: "", ms: Number.NaN };
  return {
    name,
    ...against(NAVIGATION_MS_MAX, slowest.ms),
    p50Ms: median(navigations.map(({ ms }) => ms)),
    p99Ms: Math.max(...navigations.map(({ ms }) => ms)),
    note: `slowest of ${pages.length} pages: ${slowest.to}, ${slowest.ms.toFixed()} of at most ${NAVIGATION_MS_MAX} ms`,
  };
}
