import pg from "pg";
import { activeSpan, traced } from "../telemetry/tracing.ts";
import { parseUtcTimestamp } from "../time.ts";
import { clientsOf, connectionTo, NoPrimaryError, type Servers, serversOf } from "./servers.ts";

/** Runs one statement. A pool uses any connection, a transaction its own. */
export type Queryable = {
  query<Row extends object>(statement: Statement): Promise<Row[]>;
  /** True if Citus splits the tables over several nodes. A pool asks the database once. */
  isDistributed(): Promise<boolean>;
  /** The pool behind it, if it is a share of one. What is known of the nodes belongs to the pool. */
  readonly pool?: Queryable;
  /** Of a transaction: what it does once, after its work and before its commit, by a name. */
  readonly beforeCommit?: Map<string, () => Promise<void>>;
};

/** A named statement is prepared once per connection, so PostgreSQL parses it once. */
type Statement = { name: string; text: string; values: unknown[] };

export type Database = Queryable & {
  /** Runs `work` in one transaction: commits when it returns, rolls back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Runs text of several statements without parameters: migrations and partitions. */
  runScript(sql: string): Promise<void>;
  /** Runs `work` with a connection of its own. */
  withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /** Closes the connections. One that is in use is cut off after a quarter of a second. */
  close(): Promise<void>;
};

export type DatabaseOptions = {
  url: string;
  /** Finds the server for each new connection. By default that of `url`, or the primary among those of `url`. */
  servers?: Servers;
  connectionsMax: number;
  /** A statement that runs longer is ended by the server; 15 s by default. */
  statementTimeoutMs?: number;
  /** A statement that waits longer for a lock is ended by the server. Without it only `statementTimeoutMs` ends it. */
  lockTimeoutMs?: number;
  /** Called with errors of idle connections, which the pool replaces. */
  onIdleError: (error: Error) => void;
};

/** How much a pool is used. */
type PoolUse = {
  readonly inUse: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
  /** The time of all statements and transactions so far, in milliseconds. */
  readonly totalMs: number;
};

/**
 * A database with connections of its own. Connections are opened when they are needed, and closed when they are idle.
 */
export type Pool = Database & { use(): PoolUse };

/** The time of statements in progress when the connections are closed. */
const CLOSE_MS = 250;
/** No statement of the service needs this long. One that does will not end. */
const STATEMENT_TIMEOUT_MS = 15_000;
/** The server's time to report that it has ended a statement. */
const REPORT_TIMEOUT_MS = 1_000;

const parseAnyTime = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);
/** The driver's own parser takes three times as long. */
const parseTimestamp = (text: string): unknown => parseUtcTimestamp(text) ?? parseAnyTime(text);

const types: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    // Amounts are bigint, so 64-bit integers must not be rounded to numbers.
    if (oid === pg.types.builtins.INT8 && format !== "binary") return BigInt;
    if (oid === pg.types.builtins.TIMESTAMPTZ && format !== "binary") return parseTimestamp;
    return pg.types.getTypeParser(oid, format) as (text: string) => unknown; // pg types it as any.
  },
};

export function openDatabase(options: DatabaseOptions): Pool {
  const pool = openPool(options);
  const clients = new Set<pg.PoolClient>();
  pool.on("connect", (client) => clients.add(client));
  pool.on("remove", (client) => clients.delete(client));

  async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      return await work(client);
    } catch (error) {
      if (error instanceof Error && isOutOfReach(error)) broken = error;
      throw error;
    } finally {
      client.release(broken); // A broken connection leaves the pool, as one does that the server has ended.
    }
  }

  let totalMs = 0;
  async function timed<T>(work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await work;
    } finally {
      totalMs += performance.now() - startedAt;
    }
  }

  const query: Queryable["query"] = (statement) => timed(runOn(pool, statement));
  const distribution: Distribution = { isDistributed: null };
  return {
    query,
    isDistributed: () => isDistributed(query, distribution),
    transaction: (work) =>
      timed(asSpan("transaction", () => withClient((client) => inTransaction(client, distribution, work)))),
    runScript: async (sql) => {
      await timed(pool.query(sql));
    },
    withClient,
    async close() {
      const cutOff = setTimeout(() => {
        // It waits for no statement.
        for (const client of clients) void client.end().catch(() => undefined);
      }, CLOSE_MS);
      await pool.end();
      clearTimeout(cutOff);
    },
    use: () => ({ inUse: pool.totalCount - pool.idleCount, waiting: pool.waitingCount, totalMs }),
  };
}

function openPool({
  url,
  servers = serversOf(url),
  connectionsMax,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  lockTimeoutMs,
  onIdleError,
}: DatabaseOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionTo(url),
    Client: clientsOf(servers),
    max: connectionsMax,
    statement_timeout: statementTimeoutMs,
    ...(lockTimeoutMs !== undefined && { lock_timeout: lockTimeoutMs }),
    // The client has a limit too: a server that is gone applies no statement_timeout.
    query_timeout: statementTimeoutMs + REPORT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    types,
  });
  pool.on("error", onIdleError);
  return pool;
}

async function runOn<Row extends object>(
  client: pg.Pool | pg.PoolClient,
  statement: Statement,
): Promise<Row[]> {
  const result = await asSpan(statement.name, () => client.query<Row>(statement));
  return result.rows;
}

/** A span within the one in progress, with the wait for a connection. The name of a statement says enough of its text. */
function asSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
  const parent = activeSpan();
  if (parent === null) return work();
  const attributes = { "db.system.name": "postgresql", "db.query.summary": name };
  const errorTypeOf = (error: unknown): string => sqlState(error) ?? "unavailable";
  return traced({ name, kind: "client", attributes, parent }, work, errorTypeOf);
}

async function inTransaction<T>(
  client: pg.PoolClient,
  distribution: Distribution,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  await client.query("begin");
  try {
    const query: Queryable["query"] = (statement) => runOn(client, statement);
    const beforeCommit = new Map<string, () => Promise<void>>();
    const result = await work({
      query,
      isDistributed: () => isDistributed(query, distribution),
      beforeCommit,
    });
    for (const step of beforeCommit.values()) await step();
    await client.query("commit");
    return result;
  } catch (error) {
    // If the connection is lost, the server rolls back on its own. A rollback statement would also wait.
    if (!isOutOfReach(error)) await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

/** The SQLSTATE of an error from PostgreSQL. Null for any other error. */
export const sqlState = (error: unknown): string | null =>
  error instanceof pg.DatabaseError ? (error.code ?? null) : null;

/** True if a row was not stored because another one has what must be unique. */
export const isTaken = (error: unknown): boolean => sqlState(error) === "23505";

// 40001 serialization failure, 40P01 deadlock: the same work can succeed if it is repeated.
export const isRetryable = (error: unknown): boolean => ["40001", "40P01"].includes(sqlState(error) ?? "");

/**
 * True if one statement ran into its time limit, or into that of waiting for a lock: the connection is as good as
 * before.
 */
export const isTimedOut = (error: unknown): boolean => ["57014", "55P03"].includes(sqlState(error) ?? "");

/**
 * True if the server reports that it cannot reach another one: a node of Citus is down. The connection is as good as before,
 * and statements for merchants on other nodes run.
 */
export const isNodeLost = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  error.severity === "ERROR" &&
  (/^(08|57P0[1-3])/.test(error.code ?? "") ||
    (error.code === "XX000" && BROKEN_AT_NODE.test(error.message)));

/**
 * What Citus reports, as an internal error, if an open connection to a node breaks: at a commit it passes on what its client
 * library says. Only the message identifies it.
 */
const BROKEN_AT_NODE =
  /^(failure on connection marked as essential|SSL (SYSCALL error|connection has been closed)|server closed the connection|could not (send data to|receive data from) server|no connection to the server|connection not open|invalid socket)/;

/**
 * True if the database itself is not available to any caller: the connection is lost or cannot be made. A deadlock, a
 * statement timeout or a lost node of Citus is `isUnavailable` for its own caller, but does not concern others.
 */
export const isOutOfReach = (error: unknown): boolean =>
  isUnavailable(error) &&
  !isRetryable(error) &&
  !isTimedOut(error) &&
  !isNodeLost(error) &&
  !(error instanceof UnavailableError);

const UNAVAILABLE_STATES = /^(08...|40003|57P0[1-5]|57014|55P03|53...|25P0[34]|25006)$/;
const UNAVAILABLE_CODES = new Set([
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ERR_STREAM_DESTROYED",
  "ETIMEDOUT",
  "EAI_AGAIN",
]);
const UNAVAILABLE_MESSAGES =
  /Connection terminated|timeout exceeded|timeout expired|Query read timeout|not queryable|establishing an SSL connection|ended|after calling end/i;

/** Thrown if the service itself rejects work. The response is the same as for an unavailable database. */
export class UnavailableError extends Error {}

/** True if the database cannot be reached, or is shutting down, starting or overloaded. A retry can succeed. */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null) return UNAVAILABLE_STATES.test(state) || isRetryable(error) || isNodeLost(error);
  if (!(error instanceof Error)) return false;
  if (error instanceof UnavailableError || error instanceof NoPrimaryError) return true;
  // pg reports lost connections and its own timeouts as plain errors. Only the message identifies them.
  return (
    UNAVAILABLE_CODES.has((error as NodeJS.ErrnoException).code ?? "") ||
    UNAVAILABLE_MESSAGES.test(error.message)
  );
}

/**
 * An array parameter in PostgreSQL's form, for values that need no quotes, such as UUIDs, numbers and ISO times. The
 * driver would search every element for characters to escape, at a higher cost than everything else.
 */
export const plainArray = (values: readonly (string | number)[]): string => `{${values.join()}}`;

/** Time after which use is forgotten, at the latest twice as long. */
const WINDOW_MS = 60_000;

/** Takes note of the database time of a connection's call. */
export type Spent = (owner: string, ms: number) => void;

/** How connections use the pools of partners: what the metrics show. */
export class DatabaseUsage {
  readonly #queues = new Map<string, (() => number)[]>();
  #previous = new Map<string, number>();
  #current = new Map<string, number>();
  #currentSince = performance.now();

  /** Counts the database time of a call of this connection. */
  spent(owner: string, ms: number): void {
    this.#forgetOld();
    this.#current.set(owner, (this.#current.get(owner) ?? 0) + ms);
  }

  /** The connections that used most database time in the last minute or two, with that time in milliseconds. */
  top(count: number): [owner: string, ms: number][] {
    this.#forgetOld();
    const sums = new Map(this.#previous);
    for (const [owner, ms] of this.#current) sums.set(owner, (sums.get(owner) ?? 0) + ms);
    return [...sums].sort(([, a], [, b]) => b - a).slice(0, count);
  }

  /** Adds a queue of calls that wait before they use a connection of this pool. */
  addQueue(pool: string, waiting: () => number): void {
    this.#queues.set(pool, [...(this.#queues.get(pool) ?? []), waiting]);
  }

  waitingFor(pool: string): number {
    return (this.#queues.get(pool) ?? []).reduce((sum, waiting) => sum + waiting(), 0);
  }

  #forgetOld(): void {
    const now = performance.now();
    if (now - this.#currentSince < WINDOW_MS) return;
    this.#previous = now - this.#currentSince < 2 * WINDOW_MS ? this.#current : new Map();
    this.#current = new Map();
    this.#currentSince = now;
  }
}

type Query = <Row extends object>(statement: {
  name: string;
  text: string;
  values: unknown[];
}) => Promise<Row[]>;

/** What a pool knows of its database. Null: it has not asked yet. */
type Distribution = { isDistributed: boolean | null };

/** True if Citus splits the tables over several nodes. Only `distribute` changes it, while no service runs. */
export async function isDistributed(query: Query, known: Distribution): Promise<boolean> {
  known.isDistributed ??= (await hasCitus(query)) && (await hasDistributedTables(query));
  return known.isDistributed;
}

async function hasCitus(query: Query): Promise<boolean> {
  const [row] = await query<{ found: boolean }>({
    name: "has-citus",
    text: "select exists (select from pg_extension where extname = 'citus') as found",
    values: [],
  });
  return row?.found ?? false;
}

async function hasDistributedTables(query: Query): Promise<boolean> {
  const [row] = await query<{ found: boolean }>({
    name: "has-distributed-tables",
    text: "select exists (select from pg_dist_partition where partmethod = 'h') as found",
    values: [],
  });
  return row?.found ?? false;
}

/**
 * From here to the end of the transaction, PostgreSQL plans each statement for its parameters and the present tables, instead
 * of keeping a plan. A plan that was made for an empty table would read a full one once for each row of a batch. It also finds
 * the rows of a batch by their index. By default it takes a page in memory to be as expensive as a random read of a disk, and
 * reads a table of ten thousand rows to the end for each batch of a hundred (docs/design/database.md, "Shared batches").
 */
export async function planBatch(tx: Queryable): Promise<void> {
  await tx.query({
    name: "plan-batch",
    text: `
      select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('random_page_cost', '1.1', true)`,
    values: [],
  });
}

/**
 * From here to the end of the transaction, PostgreSQL reads an index entry by entry, and ends at the limit of a statement.
 * It expects few entries between two values of an index without statistics, and would collect all of them in a bitmap
 * before it returns the first, also a million. Or, if it expects the limit to take many entries, it would read all of the table.
 */
export async function readToLimits(tx: Queryable): Promise<void> {
  await passSettingsToNodes(tx);
  for (const way of ["bitmapscan", "seqscan"])
    await tx.query({ name: `read-without-${way}`, text: `set local enable_${way} to off`, values: [] });
}

/** From here to the end of the transaction, a statement that waits longer for a lock fails. */
export async function limitLockWaits(tx: Queryable, ms: number): Promise<void> {
  await passSettingsToNodes(tx);
  await tx.query({ name: `limit-lock-waits-${ms}`, text: `set local lock_timeout to ${ms}`, values: [] });
}

/**
 * From here to the end of the transaction, Citus passes on to the nodes what `set local` sets. Other ways to set a value
 * it does not pass on.
 */
async function passSettingsToNodes(tx: Queryable): Promise<void> {
  if (!(await tx.isDistributed())) return;
  await tx.query({
    name: "pass-settings-to-nodes",
    text: "set local citus.propagate_set_commands to 'local'",
    values: [],
  });
}
