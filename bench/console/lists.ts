import { DAY_MS, SECOND_MS } from "../../src/platform/time.ts";
import { against, type Figure, median } from "../report.ts";
import { addPartners, closeSite, openSite, type Postgres, type Site } from "../site.ts";
import { storeOrders } from "./stored-orders.ts";

type Options = { readonly stored: number; readonly rounds: number; readonly say: (text: string) => void };

const PARTNERS = 10;
/** Requests of each kind in a round. */
const REQUESTS = 5;
const SEARCH_MS_MAX = 100;
const OVERVIEW_MS_MAX = 300;
/** The job counts the days of the overview. */
const COUNTED_WITHIN_MS = 600 * SECOND_MS;

/** Reads of many orders by a person: searches, lists and the overview, as the console requests them, one at a time. */
export async function measureLists(postgres: Postgres, { stored, rounds, say }: Options): Promise<Figure[]> {
  const site = await openSite(postgres, "bench_lists");
  try {
    const partners = await addPartners(site, PARTNERS);
    await storeOrders(site.db, partners, stored, (done) => say(`lists: ${done} of ${stored} orders stored`));
    for (const table of ["orders", "order_lines"]) await site.db.runScript(`vacuum analyze ${table}`);
    await waitForDays(site);
    return await measureRequests(site, await requestsOf(site, stored), rounds);
  } finally {
    await closeSite(site);
  }
}

type Request = { readonly name: string; readonly path: string; readonly msMax: number };

async function requestsOf({ service }: Site, stored: number): Promise<Request[]> {
  const search = (name: string, text: string, filter = ""): Request => ({
    name: `search: ${name}`,
    path: `/orders?limit=50&q=${encodeURIComponent(text)}${filter}`,
    msMax: SEARCH_MS_MAX,
  });
  const list = (name: string, query: string): Request => ({
    name: `orders: ${name}`,
    path: `/orders?limit=50&${query}`,
    msMax: SEARCH_MS_MAX,
  });
  const { data } = await read(service, "/orders?limit=1");
  const twoMonthsAgo = new Date(Date.now() - 60 * DAY_MS).toISOString();
  return [
    search("id", data[0]?.id ?? ""),
    search("external id", `shop-${Math.floor(stored / 2)}`),
    search("beginning of many external ids", "shop-1"),
    search("last name", "Lastname123"),
    search("first and last name", "First3 Lastname123"),
    search("beginning of every last name", "last"),
    search("first name", "First17"),
    search("no match", "no such order"),
    search("frequent words that no order has together", "First3 Lastname124 London"),
    search("first name, and a status that none has", "First17", "&status=RETURNED"),
    search("first name, before a day two months ago", "First17", `&createdUntil=${twoMonthsAgo}`),
    list("newest", ""),
    list("on hold", "onHold=true"),
    list("new", "status=NEW"),
    list("returned, of which there is none", "status=RETURNED"),
    { name: "overview: 30 days", path: "/overview?days=30", msMax: OVERVIEW_MS_MAX },
    { name: "overview: 90 days", path: "/overview?days=90", msMax: OVERVIEW_MS_MAX },
  ];
}

async function measureRequests({ service }: Site, requests: Request[], rounds: number): Promise<Figure[]> {
  const timesMs = new Map<string, number[]>(requests.map(({ name }) => [name, []]));
  for (const { path } of requests) await read(service, path); // The service has planned its statements then.
  for (let round = 0; round < rounds * REQUESTS; round += 1)
    for (const { name, path } of requests) {
      const startedMs = performance.now();
      await read(service, path);
      timesMs.get(name)?.push(performance.now() - startedMs);
    }
  return requests.map(({ name, msMax }) => {
    const times = timesMs.get(name) ?? [];
    return {
      name: `lists: ${name}`,
      ...against(msMax, median(times)),
      p50Ms: median(times),
      p99Ms: Math.max(...times),
      note: `at most ${msMax} ms`,
    };
  });
}

/** Waits until the worker has counted the orders of each day. */
async function waitForDays({ service }: Site): Promise<void> {
  const firstDay = Date.now() - 88 * DAY_MS;
  for (const endMs = performance.now() + COUNTED_WITHIN_MS; performance.now() < endMs; ) {
    const { completeSince } = await read(service, "/overview?days=90");
    if (Date.parse(completeSince ?? "") < firstDay) return;
    await new Promise((resolve) => setTimeout(resolve, SECOND_MS));
  }
  throw new Error("The worker has not counted the orders of each day.");
}

type Read = { data: { id: string }[]; completeSince?: string };

async function read({ backOfficeUrl, token }: Site["service"], path: string): Promise<Read> {
  const answer = await fetch(`${backOfficeUrl}/api${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!answer.ok) throw new Error(`${path} returned ${answer.status}.`);
  return (await answer.json()) as Read; // Only these fields are used.
}
