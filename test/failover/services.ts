import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../support/free-port.ts";
import { end, type Program, run, until } from "./programs.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const TOKEN = "operator-token-of-the-failover-run";

/** A process of the service with all roles. */
export type Service = {
  readonly name: string;
  readonly api: string;
  readonly backOffice: string;
  readonly program: Program;
  stop(): Promise<void>;
};

/** One process for each way to the database. They share secrets, as in production. */
export async function startServices(
  folder: string,
  databaseUrls: Readonly<Record<string, string>>,
): Promise<Service[]> {
  const webhookKey = randomBytes(32).toString("base64");
  const services: Service[] = [];
  for (const [name, databaseUrl] of Object.entries(databaseUrls)) {
    const [port, backOfficePort] = [await freePort(), await freePort()];
    const env = {
      DATABASE_URL: databaseUrl,
      DATA_DIR: join(folder, `service-${name}`),
      PORT: String(port),
      BACK_OFFICE_PORT: String(backOfficePort),
      OPERATOR_TOKEN: TOKEN,
      WEBHOOK_SECRET_KEYS: webhookKey,
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
      RATE_LIMIT_PER_MINUTE: "0",
      REQUEST_LOG_SAMPLE: "0",
      SHUTDOWN_DELAY_MS: "0",
    };
    const program = run(folder, `service-${name}`, process.execPath, [MAIN], { env });
    const backOffice = `http://127.0.0.1:${backOfficePort}`;
    services.push({ name, api: `http://127.0.0.1:${port}`, backOffice, program, stop: () => end(program) });
    await until(`the service ${name} is ready`, 120_000, async () =>
      (await fetch(`${backOffice}/readyz`)).ok ? true : null,
    );
  }
  return services;
}

/** A connection with a key and a product. */
export type Partner = { readonly key: string; readonly productId: string };

export async function makePartner({ backOffice, api }: Service, receiverUrl: string): Promise<Partner> {
  const call = async (method: string, url: string, token: string, body?: object) => {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: string; key: string }; // Each of these has one of the two.
  };
  const make = (path: string, body: object) => call("POST", `${backOffice}/api${path}`, TOKEN, body);
  const merchant = await make("/merchants", { name: "Merchant", accountEmail: "merchant@example.com" });
  const connection = await make(`/merchants/${merchant.id}/connections`, { name: "Partner" });
  const { key } = await make(`/connections/${connection.id}/keys`, {});
  const price = { amount: "10.00", currency: "EUR" };
  const product = await make(`/merchants/${merchant.id}/products`, { sku: "S", name: "P", price });
  await call("PUT", `${backOffice}/api/connections/${connection.id}/products/${product.id}`, TOKEN, {});
  const eventTypes = ["order.created", "order.canceled"];
  await call("POST", `${api}/v1/webhook-endpoints`, key, { url: receiverUrl, eventTypes });
  return { key, productId: product.id };
}
