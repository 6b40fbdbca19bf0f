import { toTypeId } from "../src/platform/ids.ts";
import { readProcessorTimes } from "./life/processor-times.ts";
import type { Load } from "./load-generator.ts";
import { creation, loadOf } from "./loads.ts";
import { generateLoad } from "./processes.ts";
import { type Figure, median } from "./report.ts";
import { closeSite, openSite, type Postgres, type Site } from "./site.ts";

type Options = { rounds: number; seconds: number; say: (text: string) => void };

/** Of one side: the speed of each round, and sums of all rounds. */
type Seen = { speeds: number[]; requests: number; service: number; postgres: number };

/** More than a process knows, if so many were created. */
const READ_ORDERS = 50_000;

const LOADS: Record<string, (site: Site, seconds: number) => Promise<Load>> = {
  "create an order with 64 clients": async (site, seconds) =>
    creation(site, site.service.url, { seconds, connections: 64 }),
  "create an order with 256 clients": async (site, seconds) =>
    creation(site, site.service.url, { seconds, connections: 256 }),
  "read an order": async (site, seconds) =>
    loadOf(site, "", site.service.url, { seconds, paths: await readPaths(site) }),
};

/**
 * The services of another checkout and of this one beside each other, each without jobs and with a database of its own in the
 * same PostgreSQL. The loads alternate between them round by round, so that a machine whose speed drifts moves both; processor
 * time depends less than speed on what else the machine does. Reads nothing of a database but ids, so the schemas may differ.
 */
export async function measurePair(
  postgres: Postgres,
  directory: string,
  { rounds, seconds, say }: Options,
): Promise<Figure[]> {
  const roles = { ROLES: "api,back-office" };
  const sites = {
    there: await openSite(postgres, "bench_there", roles, directory),
    here: await openSite(postgres, "bench_here", roles),
  };
  const figures: Figure[] = [];
  for (const [name, loadFor] of Object.entries(LOADS)) {
    const seen = { there: newSeen(), here: newSeen() };
    for (let round = 0; round <= rounds; round += 1) {
      // The first of a round is not always the same.
      const sides = round % 2 === 0 ? (["there", "here"] as const) : (["here", "there"] as const);
      for (const side of sides) {
        const site = sites[side];
        // Round 0 warms up and is not counted.
        await measureOnce(postgres, site, await loadFor(site, seconds), round === 0 ? newSeen() : seen[side]);
      }
    }
    const figure = figureOf(name, seen);
    say(`  ${name}: ${figure.ratio?.toFixed(2)}, ${figure.note}`);
    figures.push(figure);
  }
  await Promise.all([closeSite(sites.there), closeSite(sites.here)]);
  return figures;
}

const newSeen = (): Seen => ({ speeds: [], requests: 0, service: 0, postgres: 0 });

async function measureOnce(postgres: Postgres, site: Site, load: Load, seen: Seen): Promise<void> {
  const read = () => readProcessorTimes(postgres, { service: site.service.child.pid, receiver: undefined });
  const before = await read();
  const { ok, failed, perSecond } = await generateLoad(load);
  const after = await read();
  if (failed > 0) throw new Error(`${failed} requests failed.`);
  seen.speeds.push(perSecond);
  seen.requests += ok;
  seen.service += after.service - before.service;
  seen.postgres += after.postgres - before.postgres;
}

async function readPaths({ db }: Site): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "bench-pair-orders",
    text: "select id from orders limit $1",
    values: [READ_ORDERS],
  });
  return rows.map(({ id }) => `/v1/orders/${toTypeId("ord", id)}`);
}

function figureOf(name: string, { there, here }: { there: Seen; here: Seen }): Figure {
  const ratios = here.speeds.map((speed, round) => speed / (there.speeds[round] ?? Number.NaN));
  const micros = (part: "service" | "postgres"): string => {
    const [before, now] = [there, here].map((seen) => seen[part] / seen.requests);
    return `${before?.toFixed(0)} to ${now?.toFixed(0)} µs (${((now ?? 0) / (before ?? 0)).toFixed(2)})`;
  };
  return {
    name: `${name}, against the other checkout`,
    perSecond: median(here.speeds),
    referencePerSecond: median(there.speeds),
    ratio: median(ratios),
    note: `ratios from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}; service ${micros("service")}, PostgreSQL ${micros("postgres")}`,
  };
}
