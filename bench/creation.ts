import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LoadResult } from "./load-generator.ts";
import { createOrders, creation } from "./loads.ts";
import { generateLoad, hasPgbench, startBareServer, stop } from "./processes.ts";
import { insertOrders, openReference } from "./reference/reference.ts";
import { type Figure, median } from "./report.ts";
import { closeSite, emptyOrders, openSite, type Postgres } from "./site.ts";

export type CreationOptions = { rounds: number; seconds: number; say: (text: string) => void };

const WARM_UP_SECONDS = 3;
/** Orders in the statement that PostgreSQL is measured with, and clients that send it: what the service does at most. */
const GROUP_SIZE = 64;
const GROUPS = 2;
const CLIENTS = [64, 256] as const;
/** With few clients, groups are smaller, and the service waits for them. */
const RATIO_MIN = { 64: 0.6, 256: 0.7 };
const P99_MAX_MS = 25;

/** The results of one round, per second. */
type Round = { bound: number; results: Record<(typeof CLIENTS)[number], LoadResult> };

/**
 * Creation by a process without jobs, against the bound of the same machine: what is left if it does nothing but receive
 * the requests (as the bare server does) and store the rows (as PostgreSQL does alone, in groups, from its own data), so
 * `1 / (1/E + 1/D)`. Then the time of a creation at half of that load.
 */
export async function measureCreation(
  postgres: Postgres,
  { rounds, seconds, say }: CreationOptions,
): Promise<Figure[]> {
  if (!(await hasPgbench()))
    return [
      {
        name: "create an order, against the bound",
        note: "pgbench is not installed (Debian: postgresql-contrib)",
      },
    ];
  const site = await openSite(postgres, "bench_creation", { ROLES: "api,back-office" });
  const reference = await openReference(postgres, "bench_groups");
  const echo = join(postgres.dataDir, "empty.json");
  await writeFile(echo, "{}");
  const bare = await startBareServer(echo, echo);
  const measured: Round[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const time = round === 0 ? WARM_UP_SECONDS : seconds; // Round 0 warms up and is not counted.
    await emptyOrders(site);
    await site.db.runScript("checkpoint");
    const { perSecond: requests } = await generateLoad(creation(site, bare.url, { seconds: time }));
    const stored = await insertOrders(reference, { ordersEach: GROUP_SIZE, clients: GROUPS, seconds: time });
    const results = {
      64: await createOrders(site, { seconds: time, connections: 64 }),
      256: await createOrders(site, { seconds: time, connections: 256 }),
    };
    const bound = 1 / (1 / requests + 1 / stored);
    const figures = [requests, stored, bound, ...CLIENTS.map((clients) => results[clients].perSecond)];
    say(`  creation ${round}: ${figures.map(Math.round).join(" / ")}`);
    if (round > 0) measured.push({ bound, results });
  }
  const figures = CLIENTS.map((clients) => figureOf(clients, measured));
  const half = Math.round((figures[0]?.perSecond ?? 0) / 2);
  // As before each round: the files of the log are used again (docs/design/database.md, "Embedded PostgreSQL").
  await site.db.runScript("checkpoint");
  const calm = await createOrders(site, { seconds, perSecond: half });
  await Promise.all([closeSite(site), reference.db.close(), stop(bare)]);
  return [
    ...figures,
    {
      name: "create an order at half of the load of 64 clients",
      perSecond: calm.perSecond,
      p50Ms: calm.p50Ms,
      p99Ms: calm.p99Ms,
      p99MaxMs: P99_MAX_MS,
    },
  ];
}

function figureOf(clients: (typeof CLIENTS)[number], rounds: readonly Round[]): Figure {
  const results = rounds.map((round) => round.results[clients]);
  return {
    name: `create an order with ${clients} clients, against the bound`,
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    referencePerSecond: median(rounds.map(({ bound }) => bound)),
    ratio: median(rounds.map((round) => round.results[clients].perSecond / round.bound)),
    ratioMin: RATIO_MIN[clients],
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
  };
}
