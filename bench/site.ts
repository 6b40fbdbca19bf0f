import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConnectionKey } from "../src/platform/connection-key.ts";
import { type Database, openDatabase } from "../src/platform/database/database.ts";
import { startEmbeddedPostgres } from "../src/platform/embedded-postgres/embedded-postgres.ts";
import { fromTypeId, toTypeId } from "../src/platform/ids.ts";
import type { PartnerAccess } from "./neighbors/partner-client.ts";
import { type Started, startService, stop } from "./processes.ts";

/** A partner of a running service, with what a load needs to create orders. */
export type Partner = {
  key: string;
  /** As the tables name it. */
  connection: ConnectionKey;
  productIds: string[];
  /** Of its merchant, for the back office. */
  merchantToken: string;
};

/** The service on its own database, as an operator would run it, with one partner. */
export type Site = {
  service: Started & { backOfficeUrl: string; token: string };
  databaseUrl: string;
  db: Database;
  partner: Partner;
};

export type Postgres = { url: string; dataDir: string; stop(): Promise<void> };

/** One PostgreSQL with full durability for the whole run, in a temporary folder. */
export async function startPostgres(settings: Record<string, string> = {}): Promise<Postgres> {
  const dataDir = await mkdtemp(join(tmpdir(), "partner-orders-bench-"));
  const postgres = await startEmbeddedPostgres({ dataDir, settings });
  return {
    url: postgres.url,
    dataDir,
    stop: async () => {
      await postgres.stop();
      // A server with much to write may still be stopping.
      await rm(dataDir, { recursive: true, force: true, maxRetries: 60, retryDelay: 500 });
    },
  };
}

/** @param checkout the directory whose service is started, if it is not this one */
export async function openSite(
  postgres: Postgres,
  name: string,
  environment: Record<string, string> = {},
  checkout?: string,
): Promise<Site> {
  const admin = openDatabase({ url: postgres.url, connectionsMax: 1, onIdleError: () => undefined });
  await admin.runScript(`create database ${name}`);
  await admin.close();
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  const service = await startService(url.href, postgres.dataDir, environment, checkout);
  const partner = await createPartner(service.backOfficeUrl, service.token);
  const db = openDatabase({ url: url.href, connectionsMax: 2, onIdleError: () => undefined });
  return { service, databaseUrl: url.href, db, partner };
}

export async function closeSite(site: Site): Promise<void> {
  await site.db.close();
  await stop(site.service);
}

/** Further partners of the site, each with its own merchant and two products. */
export async function addPartners({ service }: Pick<Site, "service">, count: number): Promise<Partner[]> {
  const partners: Partner[] = [];
  for (let index = 0; index < count; index += 1) {
    partners.push(await createPartner(service.backOfficeUrl, service.token, 2));
  }
  return partners;
}

/** An operator's request to a site's back office, which must succeed. */
async function requestBackOffice(
  { backOfficeUrl, token }: Pick<Site["service"], "backOfficeUrl" | "token">,
  method: string,
  path: string,
  body?: object,
): Promise<{ id: string; key: string; token: string }> {
  const answer = await fetch(`${backOfficeUrl}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path} returned ${answer.status}.`);
  return (await answer.json()) as { id: string; key: string; token: string }; // Only these fields are used.
}

/** A facility that ships the products of the site's orders. */
export async function addFacility({ service, partner }: Site): Promise<void> {
  const { id } = await requestBackOffice(service, "POST", "/facilities", {
    name: "Depot",
    countryCode: "GB",
  });
  const rate = { countryCode: "GB", maxWeightGrams: 30_000, price: { amount: "5.00", currency: "EUR" } };
  await requestBackOffice(service, "PUT", `/facilities/${id}/rates`, { rates: [rate] });
  for (const productId of partner.productIds.slice(0, 2))
    await requestBackOffice(service, "PUT", `/facilities/${id}/stock/${productId}`, { onHand: 1_000_000 });
}

/** A merchant with products, all exposed to its only connection. */
async function createPartner(backOfficeUrl: string, token: string, products = 50): Promise<Partner> {
  const call = (method: string, path: string, body?: object) =>
    requestBackOffice({ backOfficeUrl, token }, method, path, body);
  const merchant = await call("POST", "/merchants", {
    name: "Merchant",
    accountEmail: "merchant@example.com",
  });
  const connection = await call("POST", `/merchants/${merchant.id}/connections`, { name: "Partner" });
  const productIds: string[] = [];
  for (let index = 0; index < products; index += 1) {
    const product = {
      sku: `SKU-${index}`,
      name: `Product ${index}`,
      price: { amount: "15.00", currency: "EUR" },
    };
    const { id } = await call("POST", `/merchants/${merchant.id}/products`, product);
    await call("PUT", `/connections/${connection.id}/products/${id}`);
    productIds.push(id);
  }
  const { key } = await call("POST", `/connections/${connection.id}/keys`, {});
  const grant = { name: "Merchant", role: "merchant", merchantIds: [merchant.id] };
  const { token: merchantToken } = await call("POST", "/tokens", grant);
  return { key, connection: keyOf(merchant.id, connection.id), productIds, merchantToken };
}

/** How a client reaches the service as this partner, and as its merchant. */
export const accessOf = (
  { url, backOfficeUrl, token }: Pick<Site["service"], "url" | "backOfficeUrl" | "token">,
  { key, productIds, connection, merchantToken }: Partner,
): PartnerAccess => ({
  url,
  key,
  productIds,
  backOffice: {
    url: backOfficeUrl,
    token: merchantToken,
    operatorToken: token,
    merchantId: toTypeId("mer", connection.merchantId),
    connectionId: toTypeId("con", connection.connectionId),
  },
});

const keyOf = (merchant: string, connection: string): ConnectionKey => ({
  merchantId: fromTypeId("mer", merchant) ?? "",
  connectionId: fromTypeId("con", connection) ?? "",
});

export async function countOrders({ db }: Pick<Site, "db">): Promise<number> {
  const [row] = await db.query<{ orders: bigint; lines: bigint; events: bigint }>({
    name: "count-orders",
    text: `
      select (select count(*) from orders) as orders, (select count(*) from order_lines) as lines,
             (select count(*) from events where order_id is not null) as events`,
    values: [],
  });
  const orders = Number(row?.orders);
  if (Number(row?.lines) !== 2 * orders || Number(row?.events) !== orders)
    throw new Error("An order lacks lines or its event.");
  return orders;
}

export const emptyOrders = ({ db }: Pick<Site, "db">): Promise<void> =>
  db.runScript("truncate orders, order_lines, shipments, events, ledger_entries, due_payments cascade");

/** Memory of a site's process. */
export async function residentMiB({ service }: Pick<Site, "service">): Promise<number> {
  const metrics = await (await fetch(`${service.backOfficeUrl}/metrics`)).text();
  return Math.round(Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1]) / 2 ** 20);
}
