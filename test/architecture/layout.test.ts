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
    "src/events/feed-sql.ts",
    "src/events/new-events-sql.ts",
    "src/fulfilment/facilities/facilities-sql.ts",
    "src/fulfilment/work-list/pick-lists-sql.ts",
    "src/fulfilment/work-list/work-figures-sql.ts",
    "src/fulfilment/work-list/work-list-sql.ts",
    "src/merchants/connections-sql.ts",
    "src/merchants/find-merchants-sql.ts",
    "src/merchants/keys-sql.ts",
    "src/merchants/merchants-sql.ts",
    "src/orders/lists/count-test-orders-sql.ts",
    "src/orders/order-details-sql.ts",
    "src/orders/order-facilities-sql.ts",
    "src/orders/order-owners-sql.ts",
    "src/orders/orders-sql.ts",
    "src/orders/overview/overview-sql.ts",
    "src/orders/personal-data/personal-data-sql.ts",
    "src/ledger/find-charge-sql.ts",
    "src/ledger/list-charges-sql.ts",
    "src/ledger/failures/open-failures-sql.ts",
    "src/payments/account/account-entries-sql.ts",
    "src/payments/account/account-sql.ts",
    "src/payments/account/statement-sql.ts",
    "src/payments/stripe/stripe-methods-sql.ts",
    "src/stock/orders-moved-sql.ts",
    "src/people/auth/accounts-sql.ts",
    "src/people/own-account/passkeys-sql.ts",
    "src/people/people-sql.ts",
    "src/people/sessions/sessions-sql.ts",
    "src/products/catalog-sql.ts",
    "src/products/find-products-sql.ts",
    "src/products/exposure/product-exposure-sql.ts",
    "src/products/products-sql.ts",
    "src/tokens/tokens-sql.ts",
    "src/views/views-sql.ts",
    "src/webhooks/endpoints/all-endpoints-sql.ts",
    "src/webhooks/endpoints/endpoints-sql.ts",
    "src/webhooks/resend/resends-sql.ts",
    "src/webhooks/health/delivery-figures-sql.ts",
    "src/webhooks/log/order-events-sql.ts",
  ],
  "Books: the code that processes an order writes them in its own transaction": [
    "src/ledger/claim-payments-sql.ts",
    "src/ledger/due-payments-sql.ts",
    "src/ledger/failures/payment-failures-sql.ts",
    "src/ledger/ledger-sql.ts",
    "src/ledger/refunds/refunds-sql.ts",
    "src/stock/supply-changes-sql.ts",
    "src/stock/reservations-sql.ts",
    "src/stock/stock-movements-sql.ts",
    "src/stock/stock-of-product-sql.ts",
    "src/stock/stock-sql.ts",
  ],
  "Locks, timeline and route of an order: payments and routing change orders in their own transactions": [
    "src/orders/changes/lock-orders-sql.ts",
    "src/orders/routing/routing-sql.ts",
    "src/orders/routing/waiting-orders-sql.ts",
    "src/orders/timeline/timeline-sql.ts",
  ],
  "Events are published, and erased, in the transaction of the change they describe": [
    "src/mail/mails-sql.ts",
    "src/webhooks/log/erase-deliveries-sql.ts",
    "src/webhooks/log/erase-responses-sql.ts",
    "src/webhooks/publishing/rewrite-events-sql.ts",
    "src/webhooks/publishing/events-sql.ts",
    "src/webhooks/publishing/wanted-types-sql.ts",
  ],
  "Conditions of partial indexes on orders": ["src/orders/conditions-sql.ts"],
  "Figures for `doctor`": [
    "src/distribution/distribution-sql.ts",
    "src/mail/backlog-sql.ts",
    "src/orders/backlog-sql.ts",
    "src/payments/backlog-sql.ts",
    "src/webhooks/backlog-sql.ts",
  ],
  "Which keys are needed, over all that they encrypt": ["src/webhooks/secrets/reseal-secrets-sql.ts"],
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
  ledger_entries: {
    ledger: "charges and refunds orders that exist",
    orders: "stores the first charge of a new order in the call that stores the order",
  },
  due_payments: {
    ledger: "makes entries due, and records their outcomes",
    orders: "makes the first charge of a new order due",
  },
  events: {
    events: "gives them their positions in the feed",
    webhooks: "publishes the events of transitions and products, and erases those of test orders",
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

it("only src/api knows HTTP", () => expect(findHttpImports(source)).toEqual([]));

it("SQL files are imported within their slice, or are listed as open", () =>
  expect(findForeignSql(source, OPEN_SQL)).toEqual([]));

it("each table is written by one slice, or is listed as shared", async () =>
  expect(
    findSharedTables([...source, ...(await readFunctions())], await readTables(), SHARED_TABLES),
  ).toEqual([]));

it("each SQL function has the slice that calls it", async () =>
  expect((await readdir("functions")).sort()).toEqual(Object.keys(FUNCTIONS).map((name) => `${name}.sql`)));

it("src, packages and web do not import each other", () =>
  expect(findImportsAcrossWalls(source)).toEqual([]));
