import { join } from "node:path";
import { expect, vi } from "vitest";
import { anAddress } from "./builders.ts";
import { freePort } from "./free-port.ts";
import { type MainProcess, startMain, temporaryFolder } from "./main-process.ts";
import { createDatabase } from "./test-service.ts";

export const TOKEN = "operator-token-of-this-test-only";

type Started = { main: MainProcess; api: string; backOffice: string; databaseUrl: string };

/** Starts the service and waits until it is ready. `folder` is where its sources are. */
export async function startService(
  environment: Record<string, string> = {},
  folder?: string,
): Promise<Started> {
  const databaseUrl = environment["DATABASE_URL"] ?? (await createDatabase());
  const backOfficePort = environment["BACK_OFFICE_PORT"] ?? (await freePort());
  const variables = {
    DATABASE_URL: databaseUrl,
    PORT: "0",
    BACK_OFFICE_PORT: String(backOfficePort),
    OPERATOR_TOKEN: TOKEN,
    DATA_DIR: join(await temporaryFolder(), "data"),
    ...environment,
  };
  const main = startMain(variables, [], folder);
  const { partnerApiUrl } = await main.logged("ready");
  return { main, api: String(partnerApiUrl), backOffice: `http://127.0.0.1:${backOfficePort}`, databaseUrl };
}

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body.
type Answer = { status: number; headers: Headers; text: string; body: any };

export async function send(url: string, key: string | null, body?: object): Promise<Answer> {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}

/** Makes a merchant, a connection, a key and a product by the back office of a process. */
export async function makePartner(backOffice: string) {
  const make = async (path: string, body: object) => (await send(backOffice + path, TOKEN, body)).body;
  const merchant = await make("/api/merchants", { name: "Merchant", accountEmail: "merchant@example.com" });
  const connection = await make(`/api/merchants/${merchant.id}/connections`, { name: "Partner" });
  const { key } = await make(`/api/connections/${connection.id}/keys`, {});
  const price = { amount: "10.00", currency: "EUR" };
  const product = await make(`/api/merchants/${merchant.id}/products`, { sku: "S", name: "P", price });
  const exposed = await fetch(`${backOffice}/api/connections/${connection.id}/products/${product.id}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(exposed.status).toBe(200);
  const anOrder = (externalOrderId: string, address: object = {}) => ({
    externalOrderId,
    lines: [{ productId: product.id, quantity: 1 }],
    shippingAddress: anAddress(address),
  });
  return { key: String(key), connectionId: String(connection.id), anOrder };
}

/** Looks again until it holds. */
export const eventually = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: 60_000, interval: 50 });
