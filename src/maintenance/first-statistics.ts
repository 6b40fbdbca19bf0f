import type { Database } from "../platform/database/database.ts";

/** From this size on a table's statistics say something about its values. */
const GROWN_BYTES = 512 * 1024;

/**
 * Analyses tables that have grown but of which the planner knows nothing yet; answers how many. All keys of `orders`
 * begin with the connection, so without statistics they look alike to the planner, and a foreign key's look-up may
 * walk through every order of a connection. PostgreSQL itself would notice a minute later.
 */
export async function gatherFirstStatistics(db: Database): Promise<number> {
  const tables = await db.query<{ name: string }>({
    name: "list-unknown-tables",
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
