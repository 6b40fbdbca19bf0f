import { readFile } from "node:fs/promises";
import { type Database, openDatabase } from "../../src/platform/database/database.ts";
import { runPgbench } from "../processes.ts";
import type { Postgres } from "../site.ts";

/** A database with the frozen tables that creations are compared with, whatever the service's schema is. */
export type Reference = { readonly databaseUrl: string; readonly db: Database };

/** The rows of `schema.sql` that new orders reference. */
export const ROWS = {
  merchant_id: "00000000-0000-7000-8000-000000000001",
  connection_id: "00000000-0000-7000-8000-000000000002",
  product_1: "00000000-0000-7000-8000-000000000003",
  product_2: "00000000-0000-7000-8000-000000000004",
};

const path = (name: string): string => new URL(name, import.meta.url).pathname;

export async function openReference(
  { url: server }: Pick<Postgres, "url">,
  name: string,
): Promise<Reference> {
  const admin = openDatabase({ url: server, connectionsMax: 1, onIdleError: () => undefined });
  await admin.runScript(`create database ${name}`);
  await admin.close();
  const url = new URL(server);
  url.pathname = `/${name}`;
  const db = openDatabase({ url: url.href, connectionsMax: 2, onIdleError: () => undefined });
  await db.runScript(await readFile(path("schema.sql"), "utf8"));
  return { databaseUrl: url.href, db };
}

type Inserting = {
  /** Orders of one statement. */
  readonly ordersEach: number;
  readonly clients: number;
  readonly seconds: number;
};

/** PostgreSQL alone stores the rows of orders. Returns orders per second. */
export async function insertOrders(
  { databaseUrl, db }: Reference,
  { ordersEach, ...how }: Inserting,
): Promise<number> {
  await db.runScript("truncate orders, order_lines, shipments, events, ledger_entries, due_payments cascade");
  const variables = { ...ROWS, orders: `${ordersEach}` };
  const { transactions, perSecond } = await runPgbench(
    databaseUrl,
    path("insert-orders.sql"),
    variables,
    how,
  );
  const [row] = await db.query<{ orders: bigint }>({
    name: "count-reference-orders",
    text: "select count(*) as orders from orders",
    values: [],
  });
  if (Number(row?.orders) !== transactions * ordersEach)
    throw new Error(`PostgreSQL has stored ${row?.orders} orders in ${transactions} statements.`);
  return perSecond * ordersEach;
}
