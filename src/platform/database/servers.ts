import pg from "pg";

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

const ENCRYPTED_MODES = ["require", "verify-ca", "verify-full"];

/** True if the host is this machine, so that what is sent to it crosses no network. */
export const isThisMachine = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);

/** True if a connection to a server of this database crosses a network, and the address does not require TLS. */
export function isUnprotected(databaseUrl: string): boolean {
  return serverUrls(databaseUrl).some(isServerUnprotected);
}

function isServerUnprotected(url: string): boolean {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? hostname;
  if (host === "" || host.startsWith("/") || isThisMachine(host)) return false; // A socket, or this machine.
  return !ENCRYPTED_MODES.includes(searchParams.get("sslmode") ?? "") && searchParams.get("ssl") !== "true";
}

/** If a connection takes longer than this, the database is not available. */
const CONNECT_TIMEOUT_MS = 5_000;

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
export async function openDatabaseSession(databaseUrl: string): Promise<pg.Client> {
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

/** Where one server listens. */
type Server = { readonly host: string; readonly port: number };

/** Finds the server for each new session: its address can change while the service runs. */
export type Servers = {
  /** Null: the one that the address of the database names. @throws NoPrimaryError if there is none now */
  find(): Promise<Server | null>;
  /** No session could be opened on this server, or only one that accepts no writes. */
  failed(server: Server): void;
};

/** No server accepts writes at the moment. A later attempt can find one. */
export class NoPrimaryError extends Error {}

/** Settings that a server reports at the start of a session, without a statement. */
const READ_ONLY = ["in_hot_standby", "default_transaction_read_only"];

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/**
 * A client of pg that opens its session on the server that `servers` finds, and accepts a server only if it accepts
 * writes. So a standby, such as the former primary after a switchover, fails `/readyz` and not each write.
 */
export const clientsOf = (servers: Servers): typeof pg.Client =>
  class extends pg.Client {
    constructor({ query_timeout, ...config }: pg.ClientConfig) {
      super(config);
      if (query_timeout !== undefined) limitTime(this, query_timeout);
      // An error without a listener would end the process. The pool has none between two users of a session, and its
      // end may arrive together with the response before. The next user learns of it from its first statement.
      this.on("error", () => undefined);
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): Promise<pg.Client> | undefined {
      if (callback === undefined)
        return new Promise((resolve, reject) => {
          this.#connect((error) => (error === null ? resolve(this) : reject(error)));
        });
      // Of pg's two types this one has both cases.
      const report = callback as (error: Error | null, client?: pg.Client) => void;
      this.#connect((error) => (error === null ? report(null, this) : report(error)));
      return undefined;
    }

    #connect(report: (error: Error | null) => void): void {
      servers.find().then((server) => this.#connectTo(server, report), report);
    }

    #connectTo(server: Server | null, report: (error: Error | null) => void): void {
      if (server !== null) Object.assign(this, server);
      let isReadOnly = false;
      this.connection.on("parameterStatus", ({ parameterName, parameterValue }: ParameterStatus) => {
        isReadOnly ||= READ_ONLY.includes(parameterName) && parameterValue === "on";
      });
      super.connect((error: Error | null) => {
        if (server !== null && (error !== null || isReadOnly)) servers.failed(server);
        if (!isReadOnly) return report(error);
        this.end(() => undefined);
        report(new NoPrimaryError("The database server accepts no writes: it is a standby."));
      });
    }
  };

type ParameterStatus = { readonly parameterName: string; readonly parameterValue: string };

const DEFAULT_PORT = 5_432;
/** What precedes the servers, the servers, and what follows them. A password may contain an unescaped "@". */
const PARTS = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is;

/**
 * One address for each server of an address such as `postgres://user@one:5432,two:5432/database`. This is the form of
 * PostgreSQL's own programs, which neither the URL standard nor pg can read.
 */
export function serverUrls(databaseUrl: string): [string, ...string[]] {
  const [, before = "", servers = "", after = ""] = PARTS.exec(databaseUrl) ?? [];
  const [first, ...others] = servers.split(",").map((server) => `${before}${server}${after}`);
  return first === undefined || others.length === 0 ? [databaseUrl] : [first, ...others];
}

export function serverOf(url: string): Server {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port) || DEFAULT_PORT };
}

type Done = (error: Error | null, result?: pg.QueryResult) => void;
/** One of the forms of pg's `query`, which both the pool and this file use. */
type Query = (statement: unknown, values: unknown, done: Done) => void;

/**
 * Ends each statement of a client after a time: a server that is gone applies no `statement_timeout`. The session ends too,
 * because its next user would wait for the same statement, and not every user reports an error to the pool.
 *
 * pg has such a limit (`query_timeout`) and promises of its own. But with either of them, what one statement leaves behind
 * keeps the next one alive until the whole heap is collected (docs/design/database.md, "Time limits"), so only its callbacks
 * are used here.
 */
function limitTime(client: pg.Client, limitMs: number): void {
  const query = client.query.bind(client) as unknown as Query;
  const limited: Query = (statement, values, done) => {
    let isOver = false;
    const end: Done = (error, result) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      done(error, result);
    };
    const timer = setTimeout(() => {
      void client.end(); // At once, since a statement is in progress.
      end(new Error("Query read timeout"));
    }, limitMs);
    query(statement, values, end);
  };
  const promised = async (statement: unknown, values: unknown): Promise<pg.QueryResult | undefined> => {
    try {
      return await new Promise((resolve, reject) =>
        limited(statement, values, (error, result) => (error === null ? resolve(result) : reject(error))),
      );
    } catch (error) {
      if (error instanceof Error) Error.captureStackTrace(error); // It leads to the caller, and not to pg's parser.
      throw error;
    }
  };
  const replacement = (statement: unknown, values?: unknown, done?: Done): unknown =>
    done === undefined ? promised(statement, values) : limited(statement, values, done);
  client.query = replacement as pg.Client["query"];
}
