import type pg from "pg";
import { serversOf } from "./find-primary.ts";
import { clientsOf } from "./primary-client.ts";
import { serverUrls } from "./server-list.ts";

/** If a connection takes longer than this, the database is not available. */
export const CONNECT_TIMEOUT_MS = 5_000;

/**
 * After this time without data, the system asks whether the other machine still exists, and closes the connection if
 * it does not answer for ten seconds. The default of the system is two hours.
 */
const KEEP_ALIVE_AFTER_MS = 10_000;

/**
 * The default of a server is to compile statements that it expects to be expensive: a tenth of a second and more for one
 * that runs in a millisecond, and again for each execution.
 */
const OPTIONS = "-c jit=off";

/** What all connections to the database have in common. */
const CONNECTION = {
  application_name: "partner-orders",
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  options: OPTIONS,
} as const satisfies pg.ClientConfig;

/** A session of its own for work without time limits, such as migrations. The caller ends it. */
export async function openSession(databaseUrl: string): Promise<pg.Client> {
  const Client = clientsOf(serversOf(databaseUrl));
  const client = new Client(connectionTo(databaseUrl));
  await client.connect();
  return client;
}

export const connectionTo = (databaseUrl: string) => ({
  ...CONNECTION,
  connectionString: withOptions(serverUrls(databaseUrl)[0]),
});

/** pg takes the options of an address in place of ours. So ours are added to them, as the last, which PostgreSQL prefers. */
function withOptions(url: string): string {
  const [address = "", query = ""] = url.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const options = parameters.get("options");
  if (options === null) return url;
  parameters.set("options", `${options} ${OPTIONS}`);
  return `${address}?${parameters}`;
}
