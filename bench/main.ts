import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { measureAgainst } from "./against.ts";
import { measureApi } from "./api.ts";
import { measureConnections } from "./connections/connections.ts";
import { measureConsole } from "./console/console.ts";
import { measureLists } from "./console/lists.ts";
import { measureCreation } from "./creation.ts";
import { measureLifeCounts } from "./life/counts.ts";
import { measureLife } from "./life/life.ts";
import { COUNTED } from "./life/log-counts.ts";
import { CONNECTIONS } from "./loads.ts";
import { ATTACKS, attacksOf } from "./neighbors/attacks.ts";
import { measureNeighbors } from "./neighbors/neighbors.ts";
import { measureOrderJobs } from "./order-jobs.ts";
import { measurePair } from "./pair.ts";
import { stopAll } from "./processes.ts";
import { comparison, type Figure, readReport, table, writeReport } from "./report.ts";
import { closeSite, openSite, type Postgres, startPostgres } from "./site.ts";
import { COUNTING } from "./stored/statement-costs.ts";
import { measureStored } from "./stored/stored.ts";
import { measureWebhooks } from "./webhooks.ts";
import { generatorName } from "./wrk.ts";

const { values, positionals, tokens } = parseArgs({
  allowPositionals: true,
  tokens: true,
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "5" },
    /** Orders stored before the measurement of a full table. */
    stored: { type: "string", default: "1000000" },
    /** Orders created for the measurement of memory; 0 leaves it out. */
    memory: { type: "string", default: "1000000" },
    /** Deliveries of the webhooks' backlog. */
    deliveries: { type: "string", default: "100000" },
    /** Due orders for the measurement of the workers' jobs. */
    due: { type: "string", default: "100000" },
    /** Orders of the comparison of few connections with many. */
    orders: { type: "string", default: "10000" },
    /** Of a life, only the counts of so many orders. */
    count: { type: "string" },
    /** Orders that one stage of a life may have or wait for. */
    open: { type: "string", default: "3000" },
    /** The connections of its larger side. */
    "connection-count": { type: "string", default: "5000" },
    /** The report of an earlier run, to compare with: a copy of bench/results/latest.json. */
    compare: { type: "string" },
    /** The directory of another checkout: `pair` starts its service, other parts run its benchmark in turn with this one. */
    against: { type: "string" },
    /** Only the attacks whose names contain this; may be repeated, so that the suite can be run in parts. */
    attack: { type: "string", multiple: true, default: [""] },
    /** How long each attack lasts, beside a partner with normal traffic. */
    "attack-seconds": { type: "string", default: "15" },
  },
});
const settings = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  stored: Number(values.stored),
  memoryOrders: Number(values.memory),
  deliveries: Number(values.deliveries),
  dueOrders: Number(values.due),
};

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Parts that can be measured alone: `npm run bench -- jobs`. Without a name, the default parts. */
const PARTS: Record<string, (postgres: Postgres) => Promise<Figure[]>> = {
  creation: (postgres) => measureCreation(postgres, { ...settings, say }),
  api: (postgres) => measureApi(postgres, { ...settings, say }),
  webhooks: async (postgres) => {
    const site = await openSite(postgres, "bench_webhooks");
    const figures = await measureWebhooks(site, { ...settings, say });
    await closeSite(site);
    return figures;
  },
  jobs: (postgres) => measureOrderJobs(postgres, { ...settings, say }),
  life: (postgres) =>
    values.count === undefined
      ? measureLife(postgres, { seconds: 4 * settings.seconds, open: Number(values.open), say })
      : measureLifeCounts(postgres, { count: Number(values.count), say }),
  pair: (postgres) => measurePair(postgres, resolve(values.against ?? "."), { ...settings, say }),
  connections: (postgres) =>
    measureConnections(postgres, {
      rounds: settings.rounds,
      orders: Number(values.orders),
      connectionCount: Number(values["connection-count"]),
      say,
    }),
  console: (postgres) => measureConsole(postgres, { rounds: settings.rounds, say }),
  lists: (postgres) => measureLists(postgres, { stored: settings.stored, rounds: settings.rounds, say }),
  stored: (postgres) => measureStored(postgres, { stored: settings.stored, say }),
  neighbors: (postgres) =>
    measureNeighbors(postgres, attacksOf(values.attack), { seconds: Number(values["attack-seconds"]), say }),
};
const DEFAULT_PARTS = ["creation", "api", "webhooks", "jobs"];

async function measure(postgres: Postgres): Promise<void> {
  say(
    `${settings.rounds} rounds of ${settings.seconds} s each, ${CONNECTIONS} connections; PostgreSQL and the services are starting …`,
  );
  const figures: Figure[] = [];
  for (const name of parts) figures.push(...((await PARTS[name]?.(postgres)) ?? []));
  process.stdout.write(`\n${table(figures)}\n`);
  if (earlier !== null) process.stdout.write(`\n${comparison(figures, earlier)}\n`);
  const generator = await generatorName();
  process.stdout.write(`\nLoads as fast as possible are generated by ${generator}.\n`);
  const report = { ...settings, connections: CONNECTIONS, generator, parts };
  say(`\nWritten to ${await writeReport(figures, report)}`);
}

function endWith(error: Error): never {
  say(`There is nothing to compare with: ${error.message}`);
  process.exit(2);
}

const parts = positionals.length > 0 ? positionals : DEFAULT_PARTS;
const unknown = parts.find((name) => !(name in PARTS));
if (unknown !== undefined) {
  say(`There is no part ${unknown}. The parts are ${Object.keys(PARTS).join(", ")}.`);
  process.exit(2);
}
const noAttack = values.attack.find((text) => attacksOf([text]).length === 0);
if (noAttack !== undefined) {
  say(
    `No attack has ${noAttack} in its name. The attacks are:\n  ${ATTACKS.map(({ name }) => name).join("\n  ")}`,
  );
  process.exit(2);
}
if (values.against !== undefined && !parts.includes("pair")) {
  const own = ["against", "rounds", "compare"];
  const parameters = tokens.flatMap((token) => {
    if (token.kind === "positional") return [token.value];
    return token.kind === "option" && !own.includes(token.name) ? [token.rawName, token.value ?? ""] : [];
  });
  process.stdout.write(
    `\n${await measureAgainst(resolve(values.against), parameters, { ...settings, say })}\n`,
  );
  process.exit();
}
// Read first: this run writes its own report over the latest one.
const earlier = values.compare === undefined ? null : await readReport(values.compare).catch(endWith);
const counting = parts.includes("stored")
  ? COUNTING
  : parts.includes("life") && values.count !== undefined
    ? COUNTED
    : {};
const postgres = await startPostgres(counting);
try {
  await measure(postgres);
} finally {
  await stopAll();
  await postgres.stop();
}
