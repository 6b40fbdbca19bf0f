import type { Database } from "../../src/platform/database/database.ts";

/** What PostgreSQL has counted of a statement: how often it ran, and the pages that it read or changed, in memory or not. */
export type StatementCost = { readonly text: string; readonly calls: number; readonly pages: number };

/** Settings of a server that counts them. How much it reads does not depend on how it writes. */
export const COUNTING = {
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.max": "5000",
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
};

export const beginCounting = (db: Database): Promise<void> =>
  db.runScript(
    "create extension if not exists pg_stat_statements; create extension if not exists pageinspect",
  );

/** Runs `work` and returns what its statements cost, the most expensive first. Nothing else may use the database. */
export async function costsOf(db: Database, work: () => Promise<unknown>): Promise<StatementCost[]> {
  await db.runScript("select pg_stat_statements_reset()");
  await work();
  return db.query<StatementCost>({
    name: "read-statement-costs",
    text: `
      select s.query as text, sum(s.calls)::integer as calls, sum(s.shared_blks_hit + s.shared_blks_read)::float8 as pages
      from pg_stat_statements s
      where s.dbid = (select oid from pg_database where datname = current_database())
        and s.query not like '%pg_stat_statements%'
      group by s.query
      order by pages desc`,
    values: [],
  });
}
