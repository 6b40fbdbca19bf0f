import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { addSmallPartners } from "../connections/small-partners.ts";
import { startWebhookReceiver, stop } from "../processes.ts";
import type { Figure } from "../report.ts";
import { addFacility, closeSite, openSite, type Postgres } from "../site.ts";
import { fillDays } from "./fill-days.ts";
import { readNames, readOwners } from "./names-sql.ts";
import { beginCounting, costsOf, type StatementCost } from "./statement-costs.ts";
import { stepsOf } from "./steps.ts";
import { readStoredSizes, type StoredSize } from "./table-sizes.ts";

type Options = { stored: number; say: (text: string) => void };

/** Longer than events and the delivery log are kept, so that both databases have equally many of them. */
const DAYS_OF_FEW = 100;
/** Connections, each with a merchant of its own. Half of the orders are of the first one. */
const OWNERS = 10;
/** With ten times the orders, an index has at most one more level, and statements that read a bounded part touch as many pages. */
const GROWTH_MAX = 1.5;
/** Fewer pages more are one more level of each index that a statement uses, or chance. */
const PAGES_MORE_MIN = 20;

type Measured = {
  readonly orders: number;
  /** By the step and the statement. */
  readonly costs: ReadonlyMap<string, StatementCost & { readonly step: string }>;
  readonly sizes: readonly StoredSize[];
};

/**
 * Whether stored orders cost anything: what each statement of each request and job reads of a database with many orders,
 * in pages, against one with a tenth of them. Pages do not depend on how busy the machine is.
 */
export async function measureStored(postgres: Postgres, { stored, say }: Options): Promise<Figure[]> {
  const ordersOfDay = Math.ceil(stored / 10 / DAYS_OF_FEW);
  const few = await measureSize(postgres, { dayCount: DAYS_OF_FEW, ordersOfDay }, say);
  const many = await measureSize(postgres, { dayCount: 10 * DAYS_OF_FEW, ordersOfDay }, say, few);
  const grown = [...many.costs].flatMap(([key, cost]) => compare(cost, few.costs.get(key)) ?? []);
  return [
    {
      name: `statements with ${many.orders} stored orders, against ${few.orders}`,
      note: `${grown.length} of ${many.costs.size} read more pages`,
    },
    ...grown,
  ];
}

async function measureSize(
  postgres: Postgres,
  days: { dayCount: number; ordersOfDay: number },
  say: Options["say"],
  few?: Measured,
): Promise<Measured> {
  const orders = days.dayCount * days.ordersOfDay;
  const site = await openSite(postgres, `bench_stored_${orders}`, {
    ROLES: "api,back-office",
    ACCEPTANCE_WINDOW_SECONDS: "1",
  });
  const receiver = await startWebhookReceiver();
  await addFacility(site);
  const file = join(postgres.dataDir, `partners-${orders}.json`);
  await addSmallPartners(site, { count: OWNERS, url: `${receiver.url}/hooks`, file });
  const { owners, facilityId } = await readOwners(site.db);
  const first = owners[0];
  if (first === undefined) throw new Error("There is no owner.");
  await fillDays(site.db, { owners, facilityId, ...days }, (done) => {
    if (done % (100 * days.ordersOfDay) === 0)
      say(`  ${done.toLocaleString("en")} of ${orders.toLocaleString("en")} orders`);
  });
  await vacuum(site.databaseUrl);
  say(`  ${orders.toLocaleString("en")} orders are stored`);
  await beginCounting(site.db);
  const sizes = await readStoredSizes(site.db);
  if (few !== undefined) say(sizeTable(few, { orders, sizes }));
  const partner = await partnerOf(file, first);
  const names = await readNames(site.db, first, facilityId);
  const costs = new Map<string, StatementCost & { step: string }>();
  for (const [index, { step, run }] of stepsOf({ postgres, site, partner, names }).entries()) {
    for (const cost of await costsOf(site.db, run)) {
      costs.set(`${index} ${cost.text}`, { ...cost, step });
      const grown = compare({ ...cost, step }, few?.costs.get(`${index} ${cost.text}`));
      if (grown !== null) say(`  ${grown.name}`);
    }
  }
  await stop(receiver);
  await closeSite(site);
  return { orders, costs, sizes };
}

/** By a connection without a time limit. */
async function vacuum(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("set maintenance_work_mem = '512MB'");
  await client.query("vacuum analyze");
  await client.end();
}

/** The key and the order of an owner. The file of `addSmallPartners` does not name owners, but their products. */
async function partnerOf(file: string, { productIds }: { productIds: readonly string[] }) {
  const partners = JSON.parse(await readFile(file, "utf8")) as { key: string; body: string }[]; // addSmallPartners wrote it.
  const partner = partners.find(({ body }) => body.includes(productIds[0] ?? ""));
  if (partner === undefined) throw new Error("The owner has no key.");
  return partner;
}

/** Null if a statement reads no more of many orders than of few. */
function compare(many: StatementCost & { step: string }, few: StatementCost | undefined): Figure | null {
  if (few === undefined) return null;
  const [manyPages, fewPages] = [many.pages / many.calls, few.pages / few.calls];
  if (manyPages < GROWTH_MAX * fewPages || manyPages < fewPages + PAGES_MORE_MIN) return null;
  return {
    name: `${many.step}: ${Math.round(manyPages)} pages instead of ${Math.round(fewPages)}`,
    ratio: manyPages / fewPages,
    note: many.text.replace(/\s+/g, " ").slice(0, 120),
  };
}

function sizeTable(few: Measured, many: Pick<Measured, "orders" | "sizes">): string {
  const rows = many.sizes.map(({ name, bytes, levels }) => {
    const before = few.sizes.find((size) => size.name === name);
    const perOrder = Math.round(bytes / many.orders);
    return `  ${name.padEnd(45)} ${String(perOrder).padStart(5)} ${String(before?.levels ?? "").padStart(3)} ${String(levels ?? "").padStart(3)}`;
  });
  return `  bytes of each order, levels of an index with ${few.orders} and ${many.orders} orders\n${rows.join("\n")}`;
}
