import { creation } from "./loads.ts";
import { preloadOrders } from "./preload.ts";
import { generateLoad, startService, stop } from "./processes.ts";
import type { Figure } from "./report.ts";
import { addFacility, closeSite, openSite, type Postgres, residentMiB, type Site } from "./site.ts";

type Options = { dueOrders: number; seconds: number; say: (text: string) => void };

const CREATED_PER_SECOND = 500;
const ACCEPTED_PER_SECOND_MIN = 2_000;

/** The jobs of workers for real orders while more are created: acceptance, routing, charging. */
export const measureOrderJobs = async (postgres: Postgres, options: Options): Promise<Figure[]> => [
  await measureAcceptance(postgres, options),
  await measureRoutingAndCharging(postgres, options),
];

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Counts = {
  orders: number;
  due: number;
  accepted: number;
  unrouted: number;
  unpaid: number;
  paid: number;
};

/** Where the orders are in the work of the jobs. */
export async function countJobs({ db }: Pick<Site, "db">): Promise<Counts> {
  const [row] = await db.query<{ [name in keyof Counts]: bigint }>({
    name: "bench-count-orders",
    text: `
      select (select count(*) from orders) as orders,
             (select count(*) from orders where status = 'NEW' and acceptance_due_at <= now()) as due,
             (select count(*) from timeline_entries where operation = 'accept') as accepted,
             (select count(*) from orders where status = 'ACCEPTED' and routed_at is null) as unrouted,
             (select count(*) from due_payments) as unpaid,
             (select count(*) from ledger_entries where outcome = 'succeeded') as paid`,
    values: [],
  });
  if (row === undefined) throw new Error("A count has a row.");
  const { orders, due, accepted, unrouted, unpaid, paid } = row;
  return {
    orders: Number(orders),
    due: Number(due),
    accepted: Number(accepted),
    unrouted: Number(unrouted),
    unpaid: Number(unpaid),
    paid: Number(paid),
  };
}

/** Stored orders are accepted while others are created at a steady rate. */
async function measureAcceptance(postgres: Postgres, { dueOrders, seconds, say }: Options): Promise<Figure> {
  const site = await openSite(postgres, "bench_acceptance", { ROLES: "api,back-office" });
  const { connection, productIds } = site.partner;
  await preloadOrders(site.db, { connection, productIds, state: "due" }, dueOrders, () => undefined);
  await site.db.runScript("analyze orders");
  const load = generateLoad(
    creation(site, site.service.url, { seconds: 2 * seconds, perSecond: CREATED_PER_SECOND }),
  );
  await pause(1_000);
  const worker = await startService(site.databaseUrl, postgres.dataDir, { ROLES: "worker" });
  const startedAt = performance.now();
  while ((await countJobs(site)).due > 0) await pause(100);
  const perSecond = dueOrders / ((performance.now() - startedAt) / 1_000);
  const created = await load;
  await stop(worker);
  const { accepted } = await countJobs(site);
  if (accepted !== dueOrders || created.failed > 0)
    throw new Error(`${accepted} of ${dueOrders} orders were accepted; ${created.failed} creations failed.`);
  await closeSite(site);
  say(`  acceptance: ${Math.round(perSecond)} a second, beside ${Math.round(created.perSecond)} creations`);
  return {
    name: `accept ${dueOrders.toLocaleString("en")} due orders, against ${ACCEPTED_PER_SECOND_MIN} a second`,
    perSecond,
    referencePerSecond: ACCEPTED_PER_SECOND_MIN,
    ratio: perSecond / ACCEPTED_PER_SECOND_MIN,
    ratioMin: 1,
    note: `beside ${Math.round(created.perSecond)} creations a second`,
  };
}

/** Orders are created at a steady rate, accepted a second later, routed and charged twice. The backlogs must stay bounded. */
async function measureRoutingAndCharging(postgres: Postgres, { seconds, say }: Options): Promise<Figure> {
  const site = await openSite(postgres, "bench_routing", { ACCEPTANCE_WINDOW_SECONDS: "1" });
  await addFacility(site);
  const seen: (Counts & { residentMiB: number })[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      seen.push({ ...(await countJobs(site)), residentMiB: await residentMiB(site) });
      await pause(500);
    }
  })();
  const created = await generateLoad(
    creation(site, site.service.url, { seconds: 4 * seconds, perSecond: CREATED_PER_SECOND }),
  );
  const atEnd = await countJobs(site);
  isOver = true;
  await watching;
  const finished = await finish(site);
  if (created.failed > 0) throw new Error(`${created.failed} creations failed.`);
  if (finished.paid !== 2 * finished.orders)
    throw new Error("An order was not charged for goods and shipping.");
  await closeSite(site);
  const worst = (name: "unrouted" | "unpaid"): number => Math.max(...seen.map((counts) => counts[name]));
  const memory = [1, 2, 3, 4].map((part) => seen.at(Math.ceil((part * seen.length) / 4) - 1)?.residentMiB);
  const routedPerSecond = (atEnd.accepted - atEnd.unrouted) / (4 * seconds);
  say(`  routing: backlogs of ${worst("unrouted")} orders and ${worst("unpaid")} charges at most`);
  return {
    name: `route and charge orders that are created, against ${CREATED_PER_SECOND} a second`,
    perSecond: routedPerSecond,
    referencePerSecond: created.perSecond,
    ratio: routedPerSecond / created.perSecond,
    // The orders of the last seconds are not accepted yet when the load ends.
    ratioMin: 0.9,
    note: `backlog at most ${worst("unrouted")} orders, ${worst("unpaid")} charges; memory at each quarter ${memory.join(", ")} MiB`,
  };
}

async function finish(site: Site): Promise<Counts> {
  for (;;) {
    const counts = await countJobs(site);
    if (counts.due + counts.unrouted + counts.unpaid === 0 && counts.accepted === counts.orders)
      return counts;
    await pause(200);
  }
}
