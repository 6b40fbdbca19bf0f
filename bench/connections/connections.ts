import { join } from "node:path";
import { creation } from "../loads.ts";
import { generateLoad, type Started, startService, startWebhookReceiver, stop } from "../processes.ts";
import { type Figure, median } from "../report.ts";
import { addFacility, closeSite, countOrders, openSite, type Postgres, type Site } from "../site.ts";
import { addSmallPartners } from "./small-partners.ts";

type Options = { rounds: number; orders: number; connectionCount: number; say: (text: string) => void };

const FEW = 10;
const RATIO_MIN = 0.8;

/** The rates that are compared, each in orders a second. */
const STAGES = ["creations", "deliveries", "acceptances", "routings", "charges"] as const;
type Speeds = Record<(typeof STAGES)[number], number>;

type Side = { readonly site: Site; readonly partnersFile: string };

/**
 * The same orders over few connections and over many, round by round: first they are created without a worker, then a
 * worker delivers, accepts, routes and charges all of them, one after the other.
 */
export async function measureConnections(postgres: Postgres, options: Options): Promise<Figure[]> {
  const { rounds, connectionCount, say } = options;
  const receiver = await startWebhookReceiver();
  const few = await openSide(postgres, FEW, receiver);
  const many = await openSide(postgres, connectionCount, receiver);
  const seen: { few: Speeds; many: Speeds }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const speeds = {
      few: await measureRound(postgres, few, options),
      many: await measureRound(postgres, many, options),
    };
    say(`  ${FEW} connections, round ${round}: ${toText(speeds.few)}`);
    say(`  ${connectionCount} connections, round ${round}: ${toText(speeds.many)}`);
    if (round > 0) seen.push(speeds); // Round 0 warms up and is not counted.
  }
  await Promise.all([closeSite(few.site), closeSite(many.site), stop(receiver)]);
  return STAGES.map((stage) => ({
    name: `${stage} over ${connectionCount.toLocaleString("en")} connections, against ${FEW}`,
    perSecond: median(seen.map((speeds) => speeds.many[stage])),
    referencePerSecond: median(seen.map((speeds) => speeds.few[stage])),
    ratio: median(seen.map((speeds) => speeds.many[stage] / speeds.few[stage])),
    ratioMin: RATIO_MIN,
  }));
}

const toText = (speeds: Speeds): string =>
  STAGES.map((stage) => `${Math.round(speeds[stage])} ${stage}`).join(", ");

async function openSide(postgres: Postgres, count: number, receiver: Started): Promise<Side> {
  const site = await openSite(postgres, `bench_connections_${count}`, { ROLES: "api,back-office" });
  await addFacility(site);
  const partnersFile = join(postgres.dataDir, `partners-${count}.json`);
  await addSmallPartners(site, { count, url: `${receiver.url}/hooks`, file: partnersFile });
  return { site, partnersFile };
}

const TABLES = `orders, order_lines, shipments, events, timeline_entries, ledger_entries, due_payments,
  account_entries, merchant_accounts, stock_reservations, attempts, due_deliveries, deliveries`;

/** Nothing but the deliveries is due: each of the others has a statement that makes it due. */
export const DEFER = `
  update orders set acceptance_due_at = now() + interval '1 day', hold_reasons = '{out_of_stock}';
  update due_payments set due_at = now() + interval '1 day'`;
export const ACCEPT = "update orders set acceptance_due_at = created_at + interval '1 second'";
export const ROUTE = "update orders set hold_reasons = '{}'";
export const CHARGE = "update due_payments set due_at = now() where attempt_count = 0";

async function measureRound(postgres: Postgres, side: Side, { orders }: Options): Promise<Speeds> {
  const { site, partnersFile } = side;
  await site.db.runScript(`truncate ${TABLES} cascade; update facility_stock set reserved = 0; checkpoint`);
  const created = await generateLoad(creation(site, site.service.url, { amount: orders, partnersFile }));
  const stored = await countOrders(site);
  if (created.failed > 0 || stored !== orders)
    throw new Error(`${created.failed} creations failed, ${stored} orders are stored.`);
  const creations = orders / (await creationSeconds(site));
  await site.db.runScript(DEFER);
  const worker = startService(site.databaseUrl, postgres.dataDir, { ROLES: "worker" });
  const makeDue = (script: string) => () => site.db.runScript(script);
  const deliveries = await measureStage(site, "delivered", orders, () => worker);
  const acceptances = await measureStage(site, "accepted", orders, makeDue(ACCEPT));
  const routings = await measureStage(site, "routed", orders, makeDue(ROUTE)); // Beside the charges for shipping.
  while ((await countFinished(site)).charged < orders) await pause(25);
  const charges = await measureStage(site, "charged", orders, makeDue(CHARGE));
  await stop(await worker);
  return { creations, deliveries, acceptances, routings, charges };
}

/** From the first order to the last. The generator counts in whole seconds. */
async function creationSeconds({ db }: Site): Promise<number> {
  const [row] = await db.query<{ seconds: number }>({
    name: "bench-creation-seconds",
    text: "select extract(epoch from max(created_at) - min(created_at))::float8 as seconds from orders",
    values: [],
  });
  return row?.seconds ?? Number.NaN;
}

type Counts = { delivered: number; accepted: number; routed: number; charged: number };

export async function countFinished({ db }: Pick<Site, "db">): Promise<Counts> {
  const [row] = await db.query<Record<keyof Counts, bigint>>({
    name: "bench-count-finished",
    text: `
      select (select count(*) from deliveries where status = 'succeeded') as delivered,
             (select count(*) from orders where status = 'ACCEPTED') as accepted,
             (select count(*) from orders where facility_id is not null) as routed,
             (select count(*) from ledger_entries where outcome = 'succeeded') as charged`,
    values: [],
  });
  if (row === undefined) throw new Error("A count has a row.");
  return {
    delivered: Number(row.delivered),
    accepted: Number(row.accepted),
    routed: Number(row.routed),
    charged: Number(row.charged),
  };
}

/** Makes work due and counts until all of it is done; returns orders a second, from the last moment without any. */
async function measureStage(
  site: Site,
  name: keyof Counts,
  orders: number,
  makeDue: () => Promise<unknown>,
): Promise<number> {
  const before = (await countFinished(site))[name];
  await makeDue();
  const startedAt = performance.now();
  let beganAt = startedAt;
  for (;;) {
    const done = (await countFinished(site))[name] - before;
    const now = performance.now();
    if (done > orders) throw new Error(`${name}: ${done} instead of ${orders}.`);
    if (done === orders) return orders / ((now - beganAt) / 1_000);
    if (done === 0) beganAt = now;
    if (now - startedAt > 120_000) throw new Error(`${name}: ${done} of ${orders} after two minutes.`);
    await pause(25);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
