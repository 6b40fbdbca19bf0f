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

/** What all connections to the database have in common. */
export const CONNECTION = {
  application_name: "partner-orders",
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  // The default of a server is to compile statements that it expects to be expensive: a tenth of a second and more for one
  // that runs in a millisecond, and again for each execution.
  options: "-c jit=off",
} as const satisfies pg.ClientConfig;

/** A session of its own for work without time limits, such as migrations. The caller ends it. */
export async function openSession(databaseUrl: string): Promise<pg.Client> {
  const Client = clientsOf(serversOf(databaseUrl));
  const client = new Client({ ...CONNECTION, connectionString: serverUrls(databaseUrl)[0] });
  await client.connect();
  return client;
}
