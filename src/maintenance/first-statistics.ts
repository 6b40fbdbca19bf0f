import type { Database } from "../platform/database/database.ts";
import { analyzeTable, listTablesWithoutStatistics } from "./statistics-sql.ts";

/** Statistics of smaller tables do not predict later values. */
const GROWN_BYTES = 512 * 1024;

/**
 * Analyzes tables that have grown and have no statistics yet. Returns how many it analyzed. Without statistics, the
 * planner takes any two columns of an index for a key, and may read every row of a connection to find one. Autovacuum
 * would analyze the tables only a minute later.
 */
export async function gatherFirstStatistics(db: Database): Promise<number> {
  const tables = await listTablesWithoutStatistics(db, GROWN_BYTES);
  for (const name of tables) await analyzeTable(db, name);
  return tables.length;
}
