import type { Database, Queryable } from "../platform/database/database.ts";

/** Tables of at least this size without statistics, with their names as SQL identifiers. */
export async function listTablesWithoutStatistics(db: Queryable, bytesMin: number): Promise<string[]> {
  const tables = await db.query<{ name: string }>({
    name: "list-tables-without-statistics",
    text: `
      select c.oid::regclass::text as name
      from pg_class c
      where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
        and c.reltuples < 0 and pg_relation_size(c.oid) >= $1`,
    values: [bytesMin],
  });
  return tables.map(({ name }) => name);
}

/** Does nothing if another process is analyzing the table. */
export const analyzeTable = (db: Database, name: string): Promise<void> =>
  db.runScript(`analyze (skip_locked) ${name}`);
