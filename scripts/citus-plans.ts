import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Where a statement runs on Citus. Each plan needs more than the one before. */
const PLANS = ["on the coordinator", "on one shard", "in steps", "on several shards", "not planned"] as const;
type Plan = (typeof PLANS)[number];

/** A statement that was explained: it can have several plans, for other values or another text. */
export type PlannedStatement = { readonly name: string; readonly plan: Plan };

/** A statement that needs more than one shard, and why it may. */
type WideStatement = PlannedStatement & { readonly reason: string };

const LIST = "test/distribution/wide-statements.json";

export const readList = (): WideStatement[] => JSON.parse(readFileSync(LIST, "utf8"));

/**
 * The plan in an explanation by Citus. `in steps`: the coordinator reads a part, and sends its rows to the nodes that run
 * the next part.
 */
export function planIn(explanation: string): Plan {
  const tasks = [...explanation.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count));
  if (tasks.some((count) => count > 1)) return "on several shards";
  if (/Distributed Subplan|INSERT\/SELECT/.test(explanation) || tasks.length > 1) return "in steps";
  return tasks.length === 0 ? "on the coordinator" : "on one shard";
}

/** The widest plan of each statement that needs more than one shard, by name. */
export function widestPlans(planned: Iterable<PlannedStatement>): Map<string, Plan> {
  const widest = new Map<string, Plan>();
  for (const { name, plan } of planned)
    if (PLANS.indexOf(plan) > PLANS.indexOf(widest.get(name) ?? "on one shard")) widest.set(name, plan);
  return widest;
}

/** Statements that need more than the list permits. */
export const findUnlisted = (plans: ReadonlyMap<string, Plan>, list: readonly WideStatement[]): string[] =>
  [...plans]
    .filter(([name, plan]) => {
      const listed = list.find((entry) => entry.name === name);
      return listed === undefined || PLANS.indexOf(plan) > PLANS.indexOf(listed.plan);
    })
    .map(([name, plan]) => `${name} runs ${plan}, which ${LIST} does not permit`);

/** Entries that no statement of a run needed. Rows of a few merchants can be on one shard by chance. */
export const findNeedless = (plans: ReadonlyMap<string, Plan>, list: readonly WideStatement[]): string[] =>
  list
    .filter(({ name, plan }) => plans.get(name) !== plan)
    .map(({ name, plan }) => `${LIST} permits ${name} to run ${plan}, which this run did not need`);

/** The list for these plans, by name. It keeps the reasons. */
const listOf = (plans: ReadonlyMap<string, Plan>, old: readonly WideStatement[]): WideStatement[] =>
  [...plans]
    .map(([name, plan]) => ({ name, plan, reason: old.find((entry) => entry.name === name)?.reason ?? "" }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** `citus-plans.ts FILE` compares the plans of a complete run with the list. `citus-plans.ts FILE --write` renews the list. */
function main([file = "", option]: readonly string[]): void {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const plans = widestPlans(lines.map((line): PlannedStatement => JSON.parse(line)));
  const list = readList();
  if (option === "--write") {
    writeFileSync(LIST, `${JSON.stringify(listOf(plans, list), null, 2)}\n`);
    return;
  }
  const unlisted = findUnlisted(plans, list);
  process.stdout.write([...unlisted, ...findNeedless(plans, list)].map((line) => `${line}\n`).join(""));
  process.exitCode = unlisted.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
