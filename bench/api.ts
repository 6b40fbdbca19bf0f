import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { toTypeId } from "../src/platform/ids.ts";
import type { LoadResult } from "./load-generator.ts";
import { createOrders, creation, loadOf } from "./loads.ts";
import { preloadOrders } from "./preload.ts";
import { generateLoad, hasPgbench, type Started, startBareServer, stop } from "./processes.ts";
import { insertOrders, openReference, type Reference } from "./reference/reference.ts";
import { type Figure, median } from "./report.ts";
import { closeSite, emptyOrders, openSite, type Postgres, residentMiB, type Site } from "./site.ts";

const WARM_UP_SECONDS = 3;

export type ApiOptions = {
  rounds: number;
  seconds: number;
  /** Orders stored before the measurement of a full table. */
  stored: number;
  /** Orders created for the measurement of memory; 0 leaves it out. */
  memoryOrders: number;
  say: (text: string) => void;
};

async function measureCreation(
  { empty, full, direct, bare }: { empty: Site; full: Site; direct: Reference; bare: Started },
  { rounds, seconds, stored, say }: ApiOptions,
): Promise<Figure[]> {
  const results = {
    service: [] as LoadResult[],
    full: [] as LoadResult[],
    bare: [] as number[],
    direct: [] as number[],
  };
  const pgbench = await hasPgbench();
  for (let round = 0; round <= rounds; round += 1) {
    const time = round === 0 ? WARM_UP_SECONDS : seconds; // Round 0 warms up and is not counted.
    await emptyOrders(empty);
    await empty.db.runScript("checkpoint");
    const bareResult = await generateLoad(creation(empty, bare.url, { seconds: time }));
    const serviceResult = await createOrders(empty, { seconds: time });
    const fullResult = await createOrders(full, { seconds: time });
    const directResult = pgbench
      ? await insertOrders(direct, { ordersEach: 1, clients: 32, seconds: time })
      : Number.NaN;
    say(
      `  create ${round}: ${[bareResult.perSecond, serviceResult.perSecond, fullResult.perSecond, directResult].map(Math.round).join(" / ")}`,
    );
    if (round === 0) continue;
    results.bare.push(bareResult.perSecond);
    results.service.push(serviceResult);
    results.full.push(fullResult);
    results.direct.push(directResult);
  }
  const speeds = results.service.map(({ perSecond }) => perSecond);
  const fullSpeeds = results.full.map(({ perSecond }) => perSecond);
  const latency = {
    p50Ms: median(results.service.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(results.service.map(({ p99Ms }) => p99Ms)),
  };
  return [
    {
      name: "create an order, against a bare server",
      ...compare(speeds, results.bare),
      ...latency,
    },
    pgbench
      ? { name: "create an order, against single inserts", ...compare(speeds, results.direct), ratioMin: 0.7 }
      : {
          name: "create an order, against single inserts",
          note: "pgbench is not installed (Debian: postgresql-contrib)",
        },
    {
      name: `create with ${stored.toLocaleString("en")} orders stored, against an empty table`,
      ...compare(fullSpeeds, speeds),
      ratioMin: 0.9,
      p50Ms: median(results.full.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(results.full.map(({ p99Ms }) => p99Ms)),
    },
  ];
}

/** Medians, and the median of the ratios round by round: a machine whose speed drifts moves both sides of a round. */
function compare(ours: readonly number[], theirs: readonly number[]) {
  const ratio = median(ours.map((speed, round) => speed / (theirs[round] ?? Number.NaN)));
  return { perSecond: median(ours), referencePerSecond: median(theirs), ratio };
}

async function measureRead(
  name: string,
  site: Site,
  paths: string[],
  bare: Started,
  { rounds, seconds, say }: ApiOptions,
): Promise<Figure> {
  const ours: LoadResult[] = [];
  const theirs: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const time = round === 0 ? WARM_UP_SECONDS : seconds;
    const reference = await generateLoad(loadOf(site, "", bare.url, { paths, seconds: time }));
    const result = await generateLoad(loadOf(site, "", site.service.url, { paths, seconds: time }));
    if (result.failed > 0 || reference.failed > 0) throw new Error(`${result.failed} reads failed.`);
    say(`  ${name} ${round}: ${Math.round(reference.perSecond)} / ${Math.round(result.perSecond)}`);
    if (round === 0) continue;
    ours.push(result);
    theirs.push(reference.perSecond);
  }
  return {
    name: `${name}, against a bare server`,
    ...compare(
      ours.map(({ perSecond }) => perSecond),
      theirs,
    ),
    ratioMin: 0.5,
    p50Ms: median(ours.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(ours.map(({ p99Ms }) => p99Ms)),
  };
}

/** More orders than a process knows, each read again only after all others. */
const UNKNOWN_ORDERS = 100_000;

async function measureUnknownReads(site: Site, bare: Started, options: ApiOptions): Promise<Figure> {
  const rows = await site.db.query<{ id: string }>({
    name: "unknown-orders",
    text: "select id from orders limit $1",
    values: [UNKNOWN_ORDERS],
  });
  const paths = rows.map(({ id }) => `/v1/orders/${toTypeId("ord", id)}`);
  const figure = await measureRead(
    "read an order that the process does not know",
    site,
    paths,
    bare,
    options,
  );
  return rows.length < UNKNOWN_ORDERS / 2
    ? { ...figure, note: `some are known: only ${rows.length} are stored` }
    : figure;
}

async function measureMemory(site: Site, { memoryOrders, say }: ApiOptions): Promise<Figure> {
  const parts = 5;
  const seen = [await residentMiB(site)];
  for (let part = 1; part <= parts; part += 1) {
    await createOrders(site, { amount: Math.ceil(memoryOrders / parts) });
    seen.push(await residentMiB(site));
    say(`  memory after ${Math.ceil((part * memoryOrders) / parts)} creations: ${seen.at(-1)} MiB`);
  }
  return {
    name: `memory over ${memoryOrders.toLocaleString("en")} creations`,
    note: `${seen.join(", ")} MiB`,
  };
}

/**
 * Creates a thousand orders to read. Also returns the service's response to a read: the bare server returns the same
 * bytes.
 */
async function createOrdersToRead(
  site: Site,
): Promise<{ orderPaths: string[]; order: string; products: string }> {
  await createOrders(site, { amount: 1_000 });
  const rows = await site.db.query<{ external_order_id: string }>({
    name: "orders-to-read",
    text: "select external_order_id from order_requests",
    values: [],
  });
  const headers = { authorization: `Bearer ${site.partner.key}` };
  const read = async (path: string) => (await fetch(site.service.url + path, { headers })).text();
  const ids = rows.map((row) => row.external_order_id);
  const order = await read(`/v1/orders/${ids[0]}`);
  const orderPaths = await Promise.all(
    ids.map(async (id) => `/v1/orders/${(JSON.parse(await read(`/v1/orders/${id}`)) as { id: string }).id}`),
  );
  return { orderPaths, order, products: await read("/v1/products") };
}

/** After a bulk load, so that neither autovacuum nor its checkpoint disturbs the measurement. */
async function vacuumAndCheckpoint(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query("vacuum analyze");
  await client.query("checkpoint");
  await client.end();
}

/** Creations, reads, and the memory of the service during them, against a bare server and against single inserts. */
export async function measureApi(postgres: Postgres, options: ApiOptions): Promise<Figure[]> {
  const { stored, memoryOrders, say } = options;
  const [empty, full, direct] = [
    await openSite(postgres, "bench_empty"),
    await openSite(postgres, "bench_full"),
    await openReference(postgres, "bench_direct"),
  ];
  await preloadOrders(full.db, full.partner, stored, (done) => say(`  ${done} orders stored`));
  await vacuumAndCheckpoint(full.databaseUrl);

  const { orderPaths, order, products } = await createOrdersToRead(empty);
  const [orderFile, productsFile] = [
    join(postgres.dataDir, "order.json"),
    join(postgres.dataDir, "products.json"),
  ];
  await Promise.all([writeFile(orderFile, order), writeFile(productsFile, products)]);
  const bare = await startBareServer(orderFile, productsFile);
  const figures: Figure[] = [
    await measureRead("read an order that the process knows", empty, orderPaths, bare, options),
    await measureUnknownReads(full, bare, options),
    await measureRead("list 50 products", empty, ["/v1/products"], bare, options),
    ...(await measureCreation({ empty, full, direct, bare }, options)),
  ];
  if (memoryOrders > 0) figures.push(await measureMemory(empty, options));

  await Promise.all([closeSite(empty), closeSite(full), direct.db.close(), stop(bare)]);
  return figures;
}
