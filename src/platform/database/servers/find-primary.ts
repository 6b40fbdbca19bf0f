import { clientsOf, NoPrimaryError, type Server, type Servers } from "./primary-client.ts";
import { serverOf, serverUrls } from "./server-list.ts";

/** A server that needs longer to open a session is skipped. It is less than the time of a connection of a pool. */
const SEARCH_MS = 2_500;

/** The servers of a database's address: the one that it names, or of several the one that accepts writes. */
export function serversOf(databaseUrl: string): Servers {
  const urls = serverUrls(databaseUrl);
  if (urls.length === 1) return { find: async () => null, failed: () => undefined };
  return primaryAmong(urls);
}

/** Remembers the server that it found until it fails, so that a session costs no search. */
function primaryAmong(urls: readonly string[]): Servers {
  let found: Server | null = null;
  let search: Promise<Server> | null = null;

  async function look(): Promise<Server> {
    try {
      found = await firstWritable(urls);
      return found;
    } finally {
      search = null;
    }
  }

  return {
    find: async () => {
      if (found !== null) return found;
      search ??= look();
      return await search;
    },
    failed: (server) => {
      if (server === found) found = null;
    },
  };
}

async function firstWritable(urls: readonly string[]): Promise<Server> {
  try {
    return await Promise.any(urls.map(writable));
  } catch (cause) {
    throw new NoPrimaryError("None of the database servers accepts writes.", { cause });
  }
}

async function writable(connectionString: string): Promise<Server> {
  const Client = clientsOf({ find: async () => null, failed: () => undefined });
  const client = new Client({
    connectionString,
    application_name: "partner-orders looks for the primary",
    connectionTimeoutMillis: SEARCH_MS,
  });
  client.on("error", () => undefined); // It is closed anyway.
  try {
    await client.connect();
    return serverOf(connectionString);
  } finally {
    void client.end().catch(() => undefined);
  }
}
