import type { Database } from "../platform/database/database.ts";

/** Statistics of smaller tables say little about the values to come. */
const GROWN_BYTES = 512 * 1024;

/**
 * Analyzes tables that have grown and have no statistics yet. Returns how many. Without statistics the planner takes any
 * two columns of an index for a key, and may read every row of a connection for one. Autovacuum would analyze the tables
 * only a minute later.
 */
export async function gatherFirstStatistics(db: Database): Promise<number> {
  const tables = await db.query<{ name: string }>({
    name: "list-tables-without-statistics",
    text: `
      select c.oid::regclass::text as name
      from pg_class c
      where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
        and c.reltuples < 0 and pg_relation_size(c.oid) >= $1`,
    values: [GROWN_BYTES],
  });
  for (const { name } of tables) await db.runScript(`analyze ${name}`);
  return tables.length;
}
