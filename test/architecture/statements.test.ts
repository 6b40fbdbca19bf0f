import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Shared tables with the id of a merchant: keys are looked up before it is known, and tokens end what they have set of all merchants. */
const SHARED = ["api_keys", "webhook_endpoint_parts"];

/** Tables that belong to a merchant: every other table with its id. */
const DISTRIBUTED = readdirSync("migrations")
  .map((name) => readFileSync(join("migrations", name), "utf8"))
  .flatMap((sql) => [...sql.matchAll(/^create (?:unlogged )?table (\w+) \((.*?)^\)/gms)])
  .filter(([, table = "", columns = ""]) => !SHARED.includes(table) && /^ {2}merchant_id /m.test(columns))
  .map(([, table = ""]) => table);

/**
 * Statements over all merchants that name none, each with its reason (docs/design/distribution.md, "The merchant is the unit").
 */
const OVER_ALL_MERCHANTS: Readonly<Record<string, string>> = {
  "count-held-orders": "A metric.",
  "count-paused-endpoints": "A metric.",
  "count-queued-mails": "A metric.",
  "find-connection-keys": "Finds the merchants of connections for the back office, by their ids.",
  "list-key-ids-in-use": "A check at the start.",
  "read-last-change-position": "Before a day of changes is dropped.",
  "read-audit-entry": "Finds the merchant of an entry for the back office, by an index.",
  "read-oldest-due-mail": "A metric.",
  "read-oldest-due-payment": "A metric.",
  "read-oldest-payment-retry": "A metric.",
  "read-oldest-recovery": "A metric.",
  "read-product-merchants": "Finds the merchants of products for the back office, by an index.",
};

type Statement = { readonly name: string; readonly text: string };

const SOURCES: readonly (readonly [path: string, source: string])[] = readdirSync("src", {
  recursive: true,
  encoding: "utf8",
})
  .filter((path) => path.endsWith(".ts"))
  .map((path) => [path, readFileSync(join("src", path), "utf8")]);

const STATEMENTS: readonly Statement[] = SOURCES.flatMap(([, source]) => [
  ...source.matchAll(/name: "([\w-]+)",\s*text:\s*(`[^`]*`|"[^"]*")/g),
]).map(([, name = "", text = ""]) => ({ name, text }));

const KEYWORDS = new Set(
  "as cross for group join left limit on order select set using values where".split(" "),
);

/** The columns that a statement returns compare nothing. */
const withoutSelected = (text: string): string => text.replace(/^\W*select\b.*?\bfrom\b/s, "from");

/** References to tables of merchants that the statement does not compare with, or join by, the merchant. */
function referencesWithoutMerchant({ text }: Statement): string[] {
  const references = [...text.matchAll(/\b(?:from|join|update|into|using) (\w+)(?: (?:as )?(\w+))?/g)];
  return references.flatMap(([, table = "", alias]) => {
    if (!DISTRIBUTED.includes(table)) return [];
    const isAlias = alias !== undefined && !KEYWORDS.has(alias);
    const named = isAlias ? new RegExp(`\\b${alias}\\.merchant_id\\b`) : /(?<!\.)\bmerchant_id\b/;
    return named.test(withoutSelected(text)) ? [] : [table];
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

// Citus passes no parameters to the nodes there (docs/design/distribution.md, "Merchant by merchant").
it("uses no parameter in the update on conflict of an insert from a list", () => {
  const updates = STATEMENTS.filter((statement) => /do update/.test(updateOnConflict(statement)));
  expect(updates.length).toBeGreaterThan(2);
  expect(
    updates.filter((statement) => /\$\d/.test(updateOnConflict(statement))).map(({ name }) => name),
  ).toEqual([]);
});

// Citus updates by no function of a column whose result depends on the time zone (docs/design/distribution.md, "The merchant is the unit").
it("adds intervals to columns in UTC where it updates", () => {
  const added = STATEMENTS.filter(({ text }) => /\bupdate \w+[^;]*_at [+-] interval/.test(text));
  expect(added.map(({ name }) => name)).toEqual([]);
});

/**
 * Statements that are put together from pieces, each with the alternatives that the pieces are. A star stands for a piece of the
 * name. Tests run every alternative.
 */
const COMPOSED: Readonly<Record<string, string>> = {
  "claim-deliveries or claim-deliveries-on-node":
    "Records lost claims in the same statement, or before it on Citus, where a statement for one node cannot insert them.",
  "fulfilment/work-list-sql.ts": "A part for each facility, because Citus limits no part of a join.",
  "grant-requests":
    "One expression stands in four places: an update on conflict has no `from` that could name it.",
  "lease-endpoints": "Locks endpoints in one order, which Citus does not need and cannot run.",
  "limit-lock-waits-*": "`set` takes no parameters.",
  "list-audit-entries-*": "The log of all, of a merchant or of a subject, each by its own index.",
  "list-changes-of-*": "Those of all merchants, or the next ones of each, each by its own index.",
  "list-changed-products*": "With or without a connection, each by its own index.",
  "list-deliveries*": "With or without the filter by attempts, which reads fewer deliveries.",
  "list-deliveries-of-endpoint*": "The same, by the index of the endpoint.",
  "list-deliveries-of-order*": "The same, by the index of the order.",
  "list-endpoints-of-*": "Those of all, of merchants, or of connections as well, each with its own plan.",
  "list-merchants-to-mail-payments-*": "Failures or resolutions, each by its own index.",
  "list-products**": "With or without a SKU and a connection, each by its own index.",
  "list-products-by-exposure*": "With or without another connection, each by its own index.",
  "list-stock**": "Of all merchants or of one, of all products or of a SKU, each by its own index.",
  "list-stock-movements or list-stock-movements-of-product":
    "Of a facility or of a product, each by its own index.",
  "list-stock-of-merchant*": "Of all products or of a SKU, each by its own index.",
  "orders/reading/found-orders-sql.ts":
    "The filters of the order list, and what finds orders by their names.",
  "orders/reading/list-orders-sql.ts":
    "The filters and sort orders of the order list, each with its own index.",
  "platform/database/distribute.ts": "`alter table` takes no parameters.",
  "read-orders": "One text of what is read of a whole order, whichever way it is found.",
  "read-orders-by-external-id": "The same, by the partner's own id.",
  "read-orders-by-key": "The same, for orders of several merchants.",
  "read-without-*": "`set` takes no parameters.",
  "save-order or save-orders": "One order or many: PostgreSQL plans the one row that it is told of.",
};

/** Text of SQL that never varies (src/platform/fold-text.ts). */
const FOLDED = /\$\{folded\([^)]*\)\}/g;

/** The names of statements whose text has pieces or comes from a function; of a statement without a name, the file. */
const composed = SOURCES.flatMap(([path, source]) =>
  [
    ...source
      .replace(FOLDED, "")
      .matchAll(/\bname: (?!"[A-Z])([^\n]*?),(?: \/\/[^\n]*)?\s*text:(?:\s*`[^`]*\$\{|\s*[^`"'\s])/g),
  ].map(([, name = ""]) => {
    const names = [...name.replace(/\$\{[^}]*\}/g, "*").matchAll(/["`]([\w*-]+)["`]/g)].map(
      ([, each]) => each,
    );
    return names.length === 0 ? path : names.join(" or ");
  }),
);

it("has no statement put together from pieces that are not alternatives", () => {
  expect([...new Set(composed)].sort()).toEqual(Object.keys(COMPOSED).sort());
});
