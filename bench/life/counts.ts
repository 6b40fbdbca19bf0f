import { countDeliveries } from "../backlog.ts";
import { CONNECTIONS, createOrders } from "../loads.ts";
import { countJobs } from "../order-jobs.ts";
import { startService, startWebhookReceiver, stop } from "../processes.ts";
import { aligned, type Figure } from "../report.ts";
import { addFacility, closeSite, openSite, type Postgres, type Site } from "../site.ts";
import { beginLogCounts, countLog, type LogCount, type LogCounts } from "./log-counts.ts";
import { addEndpoint, completeOrder, countUnsentMails, eachOf, readReadyOrders, shipOrder } from "./staff.ts";

type Options = { count: number; say: (text: string) => void };

/** For an order over its whole life. */
const ENTRIES_MAX = 60;
const LOG_BYTES_MAX = 15_000;
/** Requests of the staff at a time. */
const STAFF = 4;
/** Longer than the pauses of the jobs that write something for each order. */
const JOBS_PAUSE_MS = 2_500;

type Stage = { readonly name: string; readonly counts: LogCounts };

/**
 * What an order costs over its life, in counts that do not depend on how busy the machine is: its stages one after the other,
 * each for all orders, with the jobs in a process of their own that runs between the requests.
 */
export async function measureLifeCounts(postgres: Postgres, { count, say }: Options): Promise<Figure[]> {
  const stages = await runStages(postgres, { count, say });
  const whole = stages.map(({ counts }) => counts);
  say(`\n${tables(stages, count)}`);
  return [
    ...figuresOf("without staff", whole.slice(0, 2), count),
    ...figuresOf("whole life", whole, count, { entries: ENTRIES_MAX, bytes: LOG_BYTES_MAX }),
  ];
}

async function runStages(postgres: Postgres, { count, say }: Options): Promise<Stage[]> {
  const site = await openSite(postgres, "bench_life", {
    ROLES: "api,back-office",
    ACCEPTANCE_WINDOW_SECONDS: "1",
  });
  const receiver = await startWebhookReceiver();
  await addFacility(site);
  await addEndpoint(site, `${receiver.url}/hooks`);
  await beginLogCounts(site.db);
  const runJobs = async (): Promise<void> => {
    const worker = await startService(site.databaseUrl, postgres.dataDir, { ROLES: "worker" });
    while (!(await isIdle(site))) await pause(100);
    await pause(JOBS_PAUSE_MS);
    await stop(worker);
  };
  await runJobs(); // What it does once only, and the first plans.
  const idle = await countLog(site.db, runJobs);
  const stages: Stage[] = [];
  const run = async (name: string, work: () => Promise<unknown>, before?: LogCounts): Promise<void> => {
    const counts = await countLog(site.db, work);
    stages.push({ name, counts: before === undefined ? counts : without(counts, before) });
    say(`  ${name}`);
  };
  await run("create", () => createOrders(site, { amount: count, connections: Math.min(CONNECTIONS, count) }));
  await run("jobs", runJobs, idle);
  const ids = await readReadyOrders(site, count);
  await run("ship", () => eachOf(ids, STAFF, (id) => shipOrder(site, id)));
  await run("its jobs", runJobs, idle);
  await run("complete", () => eachOf(ids, STAFF, (id) => completeOrder(site, id)));
  await run("its jobs", runJobs, idle);
  await verify(site, count);
  await stop(receiver);
  await closeSite(site);
  return stages;
}

async function isIdle(site: Site): Promise<boolean> {
  const jobs = await countJobs(site);
  const { due } = await countDeliveries(site);
  return (
    jobs.accepted === jobs.orders &&
    jobs.due + jobs.unrouted + jobs.unpaid + due + (await countUnsentMails(site)) === 0
  );
}

async function verify(site: Site, count: number): Promise<void> {
  const { orders, accepted, paid } = await countJobs(site);
  const { delivered } = await countDeliveries(site);
  if (orders !== count || accepted !== count || paid !== 2 * count || delivered !== 3 * count)
    throw new Error(
      `Of ${count} orders ${orders} are stored, ${accepted} accepted, with ${paid} charges and ${delivered} deliveries.`,
    );
}

/** Without what jobs do when there is nothing to do. */
const without = (counts: LogCounts, idle: LogCounts): LogCounts => {
  const calls = new Map(idle.statements.map(({ text, calls }) => [text, calls]));
  const relations = new Map(
    idle.relations.map((relation) => [`${relation.table} ${relation.index}`, relation]),
  );
  return {
    bytes: counts.bytes - idle.bytes,
    records: counts.records - idle.records,
    statements: counts.statements.map(({ text, calls: all }) => ({
      text,
      calls: Math.max(0, all - (calls.get(text) ?? 0)),
    })),
    relations: counts.relations.map((relation) =>
      minus(relation, relations.get(`${relation.table} ${relation.index}`)),
    ),
  };
};

const NUMBERS = [
  "inserts",
  "updates",
  "hotUpdates",
  "deletes",
  "locks",
  "entries",
  "records",
  "bytes",
] as const;

const minus = (count: LogCount, idle: LogCount | undefined): LogCount => ({
  ...count,
  ...Object.fromEntries(NUMBERS.map((name) => [name, Math.max(0, count[name] - (idle?.[name] ?? 0))])),
});

const sumOf = <Item>(items: readonly Item[], value: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + value(item), 0);

/** The sums of all relations, and of the statements. */
const total = (parts: readonly LogCounts[]) => {
  const relations = parts.flatMap((part) => part.relations);
  return {
    statements: sumOf(parts, (part) => sumOf(part.statements, ({ calls }) => calls)),
    inserts: sumOf(relations, ({ inserts }) => inserts),
    updates: sumOf(relations, ({ updates }) => updates),
    hotUpdates: sumOf(relations, ({ hotUpdates }) => hotUpdates),
    deletes: sumOf(relations, ({ deletes }) => deletes),
    locks: sumOf(relations, ({ locks }) => locks),
    entries: sumOf(relations, ({ entries }) => entries),
    records: sumOf(parts, ({ records }) => records),
    bytes: sumOf(parts, ({ bytes }) => bytes),
  };
};

function figuresOf(
  life: string,
  parts: readonly LogCounts[],
  count: number,
  max?: { entries: number; bytes: number },
): Figure[] {
  const { statements, inserts, updates, deletes, entries, bytes } = total(parts);
  return [
    { name: `an order, ${life}: statements`, count: statements / count },
    { name: `an order, ${life}: rows written`, count: (inserts + updates + deletes) / count },
    {
      name: `an order, ${life}: index entries`,
      count: entries / count,
      ...(max && { countMax: max.entries }),
    },
    { name: `an order, ${life}: bytes of log`, count: bytes / count, ...(max && { countMax: max.bytes }) },
  ];
}

/** For developers: where the counts are. All are for one order. */
function tables(stages: readonly Stage[], count: number): string {
  const each = (value: number): string =>
    value / count >= 0.005 ? (value / count).toFixed(value / count < 100 ? 2 : 0) : "";
  const parts = stages.map(({ counts }) => counts);
  const columns = [...stages.map(({ counts }) => total([counts])), total(parts)];
  const byStage = [
    ["an order", ...stages.map(({ name }) => name), "whole life"],
    ...Object.keys(total([])).map((key) => [
      WORDS[key as keyof typeof WORDS],
      ...columns.map((column) => each(column[key as keyof typeof WORDS])),
    ]),
  ];
  const relations = [
    ...Map.groupBy(
      parts.flatMap((part) => part.relations),
      ({ table }) => table,
    ),
  ].toSorted(([, a], [, b]) => sumOf(b, ({ bytes }) => bytes) - sumOf(a, ({ bytes }) => bytes));
  const byTable = [
    ["table", "inserts", "updates", "HOT", "deletes", "locks", "entries", "bytes", "entries by index"],
    ...relations
      .map(([table, rows]) => [
        table,
        ...(["inserts", "updates", "hotUpdates", "deletes", "locks", "entries", "bytes"] as const).map(
          (name) => each(sumOf(rows, (row) => row[name])),
        ),
        [...Map.groupBy(rows, ({ index }) => index)]
          .map(([index, own]) => [index ?? "", each(sumOf(own, ({ entries }) => entries))] as const)
          .filter(([index, entries]) => index !== "" && entries !== "")
          .map(([index, entries]) => `${index} ${entries}`)
          .join(", "),
      ])
      .filter((row) => row.slice(1).some((cell) => cell !== "")),
  ];
  const statements = stages.map(({ name, counts }) => [
    `\nstatements of ${name}`,
    ...counts.statements
      .filter(({ calls }) => calls / count >= 0.5)
      .map(({ text, calls }) => `${each(calls).padStart(6)}  ${text.replace(/\s+/g, " ").slice(0, 110)}`),
  ]);
  return [aligned(byStage), "", aligned(byTable), ...statements.flat()].join("\n");
}

const WORDS = {
  statements: "statements",
  inserts: "rows inserted",
  updates: "rows updated",
  hotUpdates: "of them HOT",
  deletes: "rows deleted",
  locks: "rows locked",
  entries: "index entries",
  records: "log records",
  bytes: "log bytes",
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
