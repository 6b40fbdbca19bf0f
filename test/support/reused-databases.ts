import type { Pool } from "../../src/platform/database/database.ts";

/** A database of one test. `giveBack` must be called when nothing uses it any more. */
export type TestDatabase = { readonly url: string; readonly db: Pool; giveBack(): Promise<void> };

/**
 * Databases whose tests have finished, with open connections, for the next tests of the file. To empty one takes some
 * milliseconds. A new one, with its connections and their plans, takes a tenth of a second of processor time. A database in
 * which more has changed than rows is dropped with the file.
 */
class ReusedDatabases {
  readonly #idle: { readonly url: string; readonly pool: Pool }[] = [];
  /** Of a new copy of the template. */
  #template: Promise<Shape> | undefined;

  take(): TestDatabase | undefined {
    const left = this.#idle.pop();
    return left && this.#lent(left.url, left.pool);
  }

  /** @param pool connections of a new copy of the template */
  async lend(url: string, pool: Pool): Promise<TestDatabase> {
    this.#template ??= readShape(pool);
    await this.#template;
    return this.#lent(url, pool);
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map(({ pool }) => pool.close()));
  }

  #lent(url: string, pool: Pool): TestDatabase {
    let isOver = false;
    // What a test has left running must not reach the database of the next one.
    const checked =
      <Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
      async (...given: Given): Promise<Result> => {
        if (isOver) throw new Error("The database is no longer that of this test.");
        return call(...given);
      };
    const db = {
      ...pool,
      query: checked(pool.query),
      transaction: checked(pool.transaction),
      runScript: checked(pool.runScript),
      withClient: checked(pool.withClient),
    } as Pool;
    const giveBack = async () => {
      isOver = true;
      const template = await this.#template;
      const isEmpty = template !== undefined && (await empty(pool, template).catch(() => false));
      if (isEmpty) this.#idle.push({ url, pool });
      else await pool.close();
    };
    return { url, db, giveBack };
  }
}

export const reused = new ReusedDatabases();

/** The address of a database for connections that are kept. */
export function addressOfKept(url: string): string {
  const address = new URL(url);
  address.searchParams.set("application_name", CONNECTIONS);
  return address.href;
}

/** All but the rows of a test: definitions, statistics, sequences, and the rows that the template has. */
type Shape = { readonly hash: string; readonly filled: readonly string[] };

/** The name of the connections that are kept. */
const CONNECTIONS = "test-kept";

/** The planner takes every table without statistics for one of ten pages, so up to this size what was deleted changes no plan. */
const PAGES_MAX = 10;

async function readShape(pool: Pool): Promise<Shape> {
  const rows = await pool.query<{ name: string }>({
    name: "test-filled-tables",
    text: `
      select oid::regclass::text as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0
      order by 1`,
    values: [],
  });
  const filled = rows.map(({ name }) => name);
  return { filled, hash: await hashOf(pool, filled) };
}

async function hashOf(pool: Pool, filled: readonly string[]): Promise<string> {
  const [row] = await pool.query<{ hash: string }>({
    name: "test-shape",
    text: `
      select md5(string_agg(part, ';' order by part)) as hash from (
        select concat('class ', oid, ' ', xmin, ' ', relname, ' ', reltuples) from pg_class
          where relnamespace = 'public'::regnamespace
        union all select concat('columns ', count(*), ' ', max(xmin::text::bigint)) from pg_attribute
        union all select concat('trigger ', oid, ' ', xmin) from pg_trigger
        union all select concat('function ', oid, ' ', xmin) from pg_proc where pronamespace = 'public'::regnamespace
        union all select concat('constraint ', oid, ' ', xmin) from pg_constraint
        union all select concat('sequence ', sequencename, ' ', last_value) from pg_sequences
        union all select concat('setting ', setconfig::text) from pg_db_role_setting
          where setdatabase = (select oid from pg_database where datname = current_database())
        union all select concat('session ', pid) from pg_stat_activity
          where datname = current_database() and application_name <> '${CONNECTIONS}'
        ${filled.map((table) => `union all select concat('${table} ', t) from ${table} t`).join(" ")}
      ) as parts(part)`,
    values: [],
  });
  return row?.hash ?? "";
}

/** Deletes the rows that the template does not have. Returns false if more than rows has changed. */
async function empty(pool: Pool, { hash, filled }: Shape): Promise<boolean> {
  if (pool.use().inUse > 0 || (await hashOf(pool, filled)) !== hash) return false;
  const tables = await pool.query<{ name: string; pages: number }>({
    name: "test-used-tables",
    text: `
      select oid::regclass::text as name, (pg_relation_size(oid) / 8192)::integer as pages from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0
        and oid::regclass::text <> all ($1::text[])`,
    values: [filled],
  });
  if (tables.some(({ pages }) => pages > PAGES_MAX)) return false;
  const deletes = tables.map(({ name }) => `delete from ${name};`).join(" ");
  await pool.runScript(`begin; set local session_replication_role = replica; ${deletes} commit`);
  return true;
}
