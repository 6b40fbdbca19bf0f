import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Tables that belong to a merchant: every table with its id, but for the keys, which are looked up before it is known. */
const DISTRIBUTED = readdirSync("migrations")
  .map((name) => readFileSync(join("migrations", name), "utf8"))
  .flatMap((sql) => [...sql.matchAll(/^create (?:unlogged )?table (\w+) \((.*?)^\)/gms)])
  .filter(([, table, columns = ""]) => table !== "api_keys" && /^ {2}merchant_id /m.test(columns))
  .map(([, table = ""]) => table);

/** Statements over all merchants that name none, each with its reason (decision 0054). */
const OVER_ALL_MERCHANTS: Readonly<Record<string, string>> = {
  "count-held-orders": "A metric.",
  "count-paused-endpoints": "A metric.",
  "count-queued-mails": "A metric.",
  "find-product-by-id": "Finds the merchant of a product for the back office, by an index.",
  "list-key-ids-in-use": "A check at the start.",
  "read-oldest-due-mail": "A metric.",
  "read-oldest-due-payment": "A metric.",
  "read-oldest-payment-retry": "A metric.",
  "read-oldest-recovery": "A metric.",
};

type Statement = { readonly name: string; readonly text: string };

const STATEMENTS: readonly Statement[] = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => readFileSync(join("src", path), "utf8"))
  .flatMap((source) => [...source.matchAll(/name: "([\w-]+)",\s*text:\s*(`[^`]*`|"[^"]*")/g)])
  .map(([, name = "", text = ""]) => ({ name, text }));

const KEYWORDS = new Set(
  "as cross for group join left limit on order select set using values where".split(" "),
);

/** References to tables of merchants that the statement does not compare with, or join by, the merchant. */
function referencesWithoutMerchant({ text }: Statement): string[] {
  const references = [...text.matchAll(/\b(?:from|join|update|into|using) (\w+)(?: (?:as )?(\w+))?/g)];
  return references.flatMap(([, table = "", alias]) => {
    if (!DISTRIBUTED.includes(table)) return [];
    const isAlias = alias !== undefined && !KEYWORDS.has(alias);
    const named = isAlias ? new RegExp(`\\b${alias}\\.merchant_id\\b`) : /(?<!\.)\bmerchant_id\b/;
    return named.test(text) ? [] : [table];
  });
}

it("knows the statements and the tables of merchants", () => {
  expect(DISTRIBUTED.length).toBeGreaterThan(20);
  expect(STATEMENTS.length).toBeGreaterThan(150);
});

it("names the merchant at every reference to a table that belongs to one", () => {
  const found = STATEMENTS.filter((statement) => referencesWithoutMerchant(statement).length > 0);
  expect(found.map(({ name }) => name).sort()).toEqual(Object.keys(OVER_ALL_MERCHANTS).sort());
});

/** What follows `on conflict` of an insert from a list, if the table is one of merchants. */
function updateOnConflict({ text }: Statement): string {
  const [, table = "", rest = ""] =
    /insert into (\w+)(?: as \w+)? \([^)]*\)\s+select\b(.*)$/s.exec(text) ?? [];
  return DISTRIBUTED.includes(table) ? rest.slice(rest.search(/\bon conflict\b/)) : "";
}

// Citus passes no parameters to the nodes there (decision 0166).
it("uses no parameter in the update on conflict of an insert from a list", () => {
  const updates = STATEMENTS.filter((statement) => /do update/.test(updateOnConflict(statement)));
  expect(updates.length).toBeGreaterThan(2);
  expect(
    updates.filter((statement) => /\$\d/.test(updateOnConflict(statement))).map(({ name }) => name),
  ).toEqual([]);
});
