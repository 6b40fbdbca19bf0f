import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import { type PlannedStatement, planIn } from "../../scripts/citus-plans.ts";

type Statement = { readonly name: string; readonly text: string; readonly values?: readonly unknown[] };
type Call = { readonly statement: Statement; readonly client: pg.Client };

/** How often a statement is explained: for the values of its first call, and for larger lists. */
const EXPLAINED_MAX = 4;

/** Statements that calls have run since the last explanation, and how many values each had at most, in all files. */
const pending = new Map<string, Call[]>();
const explained = new Map<string, { count: number; size: number }>();

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => readFileSync(join("src", path), "utf8"));
const wordsAfterName = (pattern: RegExp): string[] =>
  sources.flatMap((source) =>
    [...source.matchAll(pattern)].flatMap(([, ...words]) => words.filter((word) => word !== undefined)),
  );
const NAMES = new Set(wordsAfterName(/\bname: (?:[^"\n]*\? )?"([\w-]+)"(?: : "([\w-]+)")?/g));
/** Of names that end with what the statement selects by. */
const BEGINNINGS = wordsAfterName(/\bname: `([\w-]+)/g);
const isNamedInSource = (name: string): boolean =>
  NAMES.has(name) || BEGINNINGS.some((beginning) => name.startsWith(beginning));

/** Remembers the statements of the service that clients run from now on. */
export function recordStatements(): void {
  const { query } = pg.Client.prototype;
  if (query.name === "recording") return;
  pg.Client.prototype.query = function recording(this: pg.Client, ...call: unknown[]) {
    const [statement] = call;
    if (isStatement(statement)) remember({ statement, client: this });
    return Reflect.apply(query, this, call);
  } as typeof query; // pg types each form of its calls.
}

const isStatement = (value: unknown): value is Statement =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  "text" in value &&
  typeof value.name === "string" &&
  isNamedInSource(value.name) &&
  /^\s*(with|select|insert|update|delete)\b/.test(String(value.text)); // Citus explains nothing else.

function remember(call: Call): void {
  const key = keyOf(call.statement);
  const { count, size } = explained.get(key) ?? { count: 0, size: -1 };
  if (count >= EXPLAINED_MAX || sizeOf(call.statement) <= size) return;
  explained.set(key, { count: count + 1, size: sizeOf(call.statement) });
  pending.set(key, [...(pending.get(key) ?? []), call]);
}

const keyOf = ({ name, text }: Statement): string => `${name}: ${text}`;

const sizeOf = ({ values = [] }: Statement): number =>
  values.reduce<number>(
    (size, value) => size + (Array.isArray(value) ? value.length : Number((value ?? null) !== null)),
    0,
  );

/** How Citus plans the statements that were remembered since the last time. */
export async function explainStatements(): Promise<PlannedStatement[]> {
  const calls = [...pending.values()].flat();
  pending.clear();
  const planned: PlannedStatement[] = [];
  for (const [database, own] of Map.groupBy(calls, ({ client }) => client.database ?? ""))
    planned.push(...(await explainIn(database, own)));
  return planned;
}

/** At the coordinator itself: a proxy that the client used may be gone. */
async function explainIn(database: string, calls: readonly Call[]): Promise<PlannedStatement[]> {
  const url = new URL(inject("citusNodes")[0] ?? "");
  url.pathname = `/${database}`;
  const client = new pg.Client(url.href);
  try {
    await client.connect();
    const { rows } = await client.query("select from pg_dist_partition where partmethod = 'h' limit 1");
    if (rows.length === 0) return forget(calls);
    const planned: PlannedStatement[] = [];
    for (const call of calls) {
      const plan = await planOf(client, call.statement);
      if (plan === null) forget([call]);
      else planned.push({ name: call.statement.name, plan });
    }
    return planned;
  } catch (error) {
    // It was no database of Citus, or it is gone.
    if (error instanceof pg.DatabaseError) return forget(calls);
    throw error;
  } finally {
    await client.end();
  }
}

/** Another file can run them on Citus. */
function forget(calls: readonly Call[]): [] {
  for (const { statement } of calls) explained.delete(keyOf(statement));
  return [];
}

/** As PostgreSQL names what Citus cannot plan. */
const FEATURE_NOT_SUPPORTED = "0A000";

/**
 * Citus runs some statements with parameters that it does not explain with them. Those have literals instead. Null if the
 * test has left the database without something that the statement needs.
 */
async function planOf(
  client: pg.Client,
  { text, values = [] }: Statement,
): Promise<PlannedStatement["plan"] | null> {
  const literals = values.map((value) => literalOf(value));
  const written = text.replaceAll(/\$(\d+)\b/g, (_, number) => literals[Number(number) - 1] ?? "null");
  return planFor(client, text, [...values])
    .catch(() => planFor(client, written, []))
    .catch((error) => {
      if (!(error instanceof pg.DatabaseError)) throw error;
      return error.code === FEATURE_NOT_SUPPORTED ? "not planned" : null;
    });
}

async function planFor(
  client: pg.Client,
  text: string,
  values: unknown[],
): Promise<PlannedStatement["plan"]> {
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain (costs off) ${text}`, values);
  return planIn(rows.map((row) => row["QUERY PLAN"]).join("\n"));
}

/** As pg sends it, but quoted. */
function literalOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Buffer.isBuffer(value)) return `'\\x${value.toString("hex")}'`;
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString());
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map(elementOf).join(",")}}`);
  return pg.escapeLiteral(typeof value === "object" ? JSON.stringify(value) : String(value));
}

function elementOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return `{${value.map(elementOf).join(",")}}`;
  if (value instanceof Date) return value.toISOString();
  return JSON.stringify(Buffer.isBuffer(value) ? `\\x${value.toString("hex")}` : String(value));
}

/** Adds to the file that CITUS_PLANS names, if it is set. */
export function writePlans(planned: readonly PlannedStatement[]): void {
  const file = process.env["CITUS_PLANS"];
  if (file !== undefined)
    appendFileSync(file, planned.map((statement) => `${JSON.stringify(statement)}\n`).join(""));
}
