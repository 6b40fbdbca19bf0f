import { readdir, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { readSourceFiles } from "../../scripts/architecture/source-files.ts";
import {
  findCycles,
  findForeignSql,
  findHttpImports,
  findImportsAcrossWalls,
  findImpureImports,
  findSharedTables,
  findUnknownFolders,
  findUpwardImports,
  type OpenSqlFiles,
  type SharedTables,
} from "./rules.ts";

/** SQL files that other slices may import, by the reason. */
const OPEN_SQL: OpenSqlFiles = {
  "Reads, and changes of one row, that need no rule: a higher layer calls the statement itself": [
    "src/audit/audit-sql.ts",
    "src/audit/made-parts-sql.ts",
    "src/certification/certifications-sql.ts",
    "src/changes/changes-sql.ts",
    "src/webhooks/log/all-deliveries-sql.ts",
    "src/webhooks/events/feed-sql.ts",
    "src/fulfilment/facilities-sql.ts",
    "src/fulfilment/pick-lists-sql.ts",
    "src/fulfilment/work-list-sql.ts",
    "src/merchants/connections-sql.ts",
    "src/merchants/merchants-sql.ts",
    "src/merchants/keys-sql.ts",
    "src/orders/order-details-sql.ts",
    "src/orders/owners-sql.ts",
    "src/orders/reading/list-conditions-sql.ts",
    "src/operations/processes-sql.ts",
    "src/orders/orders-sql.ts",
    "src/orders/reading/overview-sql.ts",
    "src/orders/personal-data-sql.ts",
    "src/orders/returns/returns-sql.ts",
    "src/ledger/ledger-sql.ts",
    "src/ledger/payment-failures-sql.ts",
    "src/payments/account/account-sql.ts",
    "src/stock/stock-movements-sql.ts",
    "src/people/people-sql.ts",
    "src/products/products-sql.ts",
    "src/products/exposure-sql.ts",
    "src/people/tokens-sql.ts",
    "src/webhooks/endpoints/endpoints-sql.ts",
    "src/webhooks/resend/resends-sql.ts",
    "src/webhooks/endpoints/shown-health-sql.ts",
    "src/webhooks/log/delivery-log-sql.ts",
  ],
  "Books: the code that processes an order writes them in its own transaction": [
    "src/ledger/due-payments-sql.ts",
    "src/stock/supply-changes-sql.ts",
    "src/stock/reservations-sql.ts",
    "src/stock/stock-sql.ts",
  ],
  "Locks, timeline and route of an order: payments and routing change orders in their own transactions": [
    "src/orders/routing-sql.ts",
    "src/orders/changes/timeline-sql.ts",
  ],
  "Events are published, and erased, in the transaction of the change they describe": [
    "src/mail/mails-sql.ts",
    "src/webhooks/faults/faults-sql.ts",
    "src/webhooks/log/erase-sql.ts",
    "src/webhooks/publishing-sql.ts",
    "src/webhooks/endpoints/owners-sql.ts",
  ],
  "Conditions of partial indexes on orders": ["src/orders/conditions-sql.ts"],
  "Figures for `doctor`": [
    "src/orders/conditions-sql.ts",
    "src/payments/retries-sql.ts",
    "src/webhooks/conditions-sql.ts",
  ],
};

/** The slice that calls each SQL function, and so writes what the function writes. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  changed_products: "orders",
  move_goods: "stock",
  place_orders: "orders",
  publish_events: "webhooks",
};

/** Tables that several slices write, each slice with the reason. */
const SHARED_TABLES: SharedTables = {
  changes: {
    changes: "records and numbers what has changed",
    orders: "records new orders in the call that stores them",
  },
  orders: {
    changes: "notes when an order changed, if the change was not of its row",
    orders: "the slice of the table",
  },
  due_payments: {
    ledger: "charges and refunds orders that exist, and records the outcomes",
    orders: "stores the first charge of a new order in the call that stores the order",
  },
};

const source = await readSourceFiles("src", "packages", "web");

/** The SQL functions, as files of the slices that call them. */
const readFunctions = async () =>
  Promise.all(
    (await readdir("functions")).map(async (file) => {
      const slice = FUNCTIONS[file.replace(".sql", "")];
      const text = await readFile(`functions/${file}`, "utf8");
      return { path: `src/${slice}/functions/${file}`, imports: [], texts: [text.replaceAll(/--.*$/gm, "")] };
    }),
  );

async function readTables(): Promise<string[]> {
  const names = (await readdir("migrations")).filter((name) => name.endsWith(".sql"));
  const texts = await Promise.all(names.map((name) => readFile(`migrations/${name}`, "utf8")));
  return texts.flatMap((text) => [...text.matchAll(/^create table (\w+)/gm)].map(([, table = ""]) => table));
}

it("src: every folder has a layer", () => expect(findUnknownFolders(source)).toEqual([]));

it("src: imports point to lower layers only", () => expect(findUpwardImports(source)).toEqual([]));

it("src: no file imports itself by way of others", () => expect(findCycles(source)).toEqual([]));

it("src/lifecycle is pure: it imports types only", () => expect(findImpureImports(source)).toEqual([]));

it("only the listeners and src/http know HTTP", () => expect(findHttpImports(source)).toEqual([]));

it("SQL files are imported within their slice, or are listed as open", () =>
  expect(findForeignSql(source, OPEN_SQL)).toEqual([]));

it("each table is written by one slice, or is listed as shared", async () =>
  expect(
    findSharedTables([...source, ...(await readFunctions())], await readTables(), SHARED_TABLES),
  ).toEqual([]));

it("each SQL function has the slice that calls it", async () =>
  expect((await readdir("functions")).sort()).toEqual(Object.keys(FUNCTIONS).map((name) => `${name}.sql`)));

it("packages and web know only the HTTP API", () => expect(findImportsAcrossWalls(source)).toEqual([]));
