import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { endWithBenchmark } from "../processes.ts";
import type { Figure } from "../report.ts";
import {
  accessOf,
  addPartners,
  closeSite,
  openSite,
  type Postgres,
  residentMiB,
  type Site,
} from "../site.ts";
import { type Attack, seedOf } from "./attacks.ts";
import type { Sample, VictimReport } from "./victim.ts";

export type NeighborOptions = {
  /** How long each attack lasts. */
  seconds: number;
  say: (text: string) => void;
};

/** After the attack has ended, everything is normal again within this time. */
const NORMAL_AFTER_MS = 10_000;
const NORMAL_FOR_MS = 4_000;
/** What the victim may notice, on two cores. */
const ORDERS_P99_MS = 250;
const EVENTS_P99_MS = 1_000;
const STAFF_P99_MS = 250;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A partner with normal traffic beside one that attacks, on a service with the default rate limit: attack after attack. */
export async function measureNeighbors(
  postgres: Postgres,
  attacks: readonly Attack[],
  options: NeighborOptions,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [index, attack] of attacks.entries()) {
    const site = await openSite(postgres, `bench_neighbors_${index}`, { RATE_LIMIT_PER_MINUTE: "600" });
    figures.push(...(await measureAttack(site, attack, options)));
    await closeSite(site);
  }
  return figures;
}

async function measureAttack(
  site: Site,
  attack: Attack,
  { seconds, say }: NeighborOptions,
): Promise<Figure[]> {
  const attacker = attack.isOfVictim ? site.partner : (await addPartners(site, 1))[0];
  if (attacker === undefined) throw new Error("There is no attacker.");
  if (attack.seed !== undefined) await site.db.runScript(seedOf(attack.seed, attacker.connection));
  const victim = await startVictim(site);
  await pause(1_000);
  const startedAt = Date.now();
  const attacking = run("attacker.ts", attack.name, JSON.stringify(accessOf(site.service, attacker)));
  const memory = await watchMemory(site, seconds * 1_000);
  const endedAt = Date.now();
  const statuses = await end(attacking);
  await pause(NORMAL_AFTER_MS + NORMAL_FOR_MS);
  const report = await victim.end();
  const during = report.samples.filter(({ at }) => at >= startedAt && at < endedAt);
  const after = report.samples.filter(({ at }) => at >= endedAt + NORMAL_AFTER_MS);
  const failures = report.samples.filter(({ status }) => status >= 500 || status === 0).length;
  say(
    `  beside ${attack.name}: reads ${p99(during, "read")} ms, orders ${p99(during, "order")} ms, events ${p99(during, "event")} ms, lists of the staff ${p99(during, "staff")} ms, ` +
      `after it ${p99(after, "order")} and ${p99(after, "event")} ms; the attacker got ${statuses}`,
  );
  const note = [
    `${failures} failed`,
    `${report.missingSince.length} events missing`,
    `${memory} MiB at most`,
    `after it ${p99(after, "order")} and ${p99(after, "event")} ms`,
  ].join(", ");
  return [
    figure(`orders beside ${attack.name}`, during, "order", ORDERS_P99_MS, note),
    figure(`events beside ${attack.name}`, during, "event", EVENTS_P99_MS),
    figure(
      `lists and searches of operator and warehouse beside ${attack.name}`,
      during,
      "staff",
      STAFF_P99_MS,
    ),
  ];
}

/** The ratio is the goal to what was seen, so that 1 is enough. */
const figure = (
  name: string,
  samples: Sample[],
  kind: Sample["kind"],
  goalMs: number,
  note = "",
): Figure => ({
  name,
  ratio: goalMs / Math.max(1, p99(samples, kind)),
  ratioMin: 1,
  p99Ms: p99(samples, kind),
  note,
});

/** With fewer than a hundred samples, the longest. NaN without any. */
function p99(samples: readonly Sample[], kind: Sample["kind"]): number {
  const times = samples.filter((sample) => sample.kind === kind).map(({ ms }) => ms);
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
}

/** The most memory that the service had during some time, in MiB. */
async function watchMemory(site: Site, forMs: number): Promise<number> {
  const until = Date.now() + forMs;
  let most = 0;
  do {
    most = Math.max(most, await residentMiB(site));
    await pause(500);
  } while (Date.now() < until);
  return most;
}

async function startVictim(site: Site): Promise<{ end(): Promise<VictimReport> }> {
  const child = run("victim.ts", JSON.stringify(accessOf(site.service, site.partner)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next(); // It is ready.
  return {
    async end() {
      child.stdin.end("\n");
      const { value } = await lines.next();
      return JSON.parse(value ?? "") as VictimReport;
    },
  };
}

function run(script: string, ...values: string[]) {
  const child = spawn(process.execPath, [new URL(script, import.meta.url).pathname, ...values], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  endWithBenchmark(child);
  return child;
}

/** Stops a script and returns what it printed. @throws if it has ended before: then it was no attack any more */
async function end(child: ChildProcess): Promise<string> {
  if (child.exitCode !== null)
    throw new Error(`The attacker ended before it was stopped, with ${child.exitCode}.`);
  let text = "";
  child.stdout?.on("data", (bytes: Buffer) => {
    text += bytes.toString();
  });
  child.kill("SIGTERM");
  await once(child, "exit");
  return text.trim();
}
