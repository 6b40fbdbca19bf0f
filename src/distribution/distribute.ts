import type { Queryable } from "../platform/database/database.ts";
import { pendingMigrations } from "../platform/database/migrate.ts";
import { openSession } from "../platform/database/servers/open-session.ts";
import {
  deleteRowsLeft,
  distributeFunction,
  listFunctionsOfMerchants,
  listTables,
  moveTable,
  readCitusVersion,
  readNodes,
} from "./distribution-sql.ts";
import { placementOf, ROOT, tablesToMove } from "./placement.ts";

/** The database cannot be distributed as it is. The message says what to do. */
export class CannotDistributeError extends Error {}

/**
 * Distributes the tables of a migrated database over the nodes of Citus, also if they have rows. Each table moves in
 * a transaction of its own: a run that was interrupted is continued by the next one. No process of the service may
 * write at the same time.
 * @param report is called after each table
 * @returns how many tables were moved
 * @throws CannotDistributeError
 */
export async function distribute(
  url: string,
  shardCount: number,
  report: (message: string) => void,
): Promise<number> {
  const client = await openSession(url);
  const db: Queryable = {
    query: async (statement) => (await client.query(statement)).rows,
    isDistributed: async () => true,
  };
  try {
    await client.query("select pg_advisory_lock(7305220, 1)"); // The lock of migrations.
    await rejectUnready(db);
    await client.query(SETTINGS);
    const count = await moveTables(db, shardCount, report);
    for (const name of await listFunctionsOfMerchants(db)) await client.query(distributeFunction(name));
    return count;
  } finally {
    await client.end(); // This also releases the lock.
  }
}

/**
 * Without the first setting Citus takes over every table that references a copied one, and can then no longer
 * distribute it. With the second one a command on a partitioned table uses one connection for each node.
 */
const SETTINGS = `
  set client_min_messages = error;
  set citus.enable_local_reference_table_foreign_keys = off;
  set citus.multi_shard_modify_mode = 'sequential'`;

async function rejectUnready(db: Queryable): Promise<void> {
  if ((await readCitusVersion(db)) === null)
    throw new CannotDistributeError(
      "The database lacks Citus: run create extension citus in it on the coordinator and on each worker.",
    );
  const { count, hasCoordinator } = await readNodes(db);
  if (!hasCoordinator)
    throw new CannotDistributeError(
      "The coordinator does not know its own address: run select citus_set_coordinator_host('<host>', <port>).",
    );
  if (count === 0)
    throw new CannotDistributeError(
      "Citus has no node for data: run select citus_add_node('<host>', <port>) for each worker.",
    );
  const pending = await pendingMigrations(db);
  if (pending.length > 0)
    throw new CannotDistributeError(`The database lacks ${pending.length} migrations: run migrate before.`);
}

async function moveTables(
  db: Queryable,
  shardCount: number,
  report: (message: string) => void,
): Promise<number> {
  const tables = tablesToMove(await listTables(db));
  for (const table of tables) {
    if (table.placement !== "on the coordinator")
      throw new CannotDistributeError(
        `The table ${table.name} is ${table.placement}, but should be ${placementOf(table)}: undo it with undistribute_table.`,
      );
    await moveTable(db, table, placementOf(table), shardCount);
    report(`${table.name}: ${placementOf(table)}`);
  }
  // Also after an interrupted run that had moved all of them. It does nothing if no row is left.
  await deleteRowsLeft(db, ROOT);
  return tables.length;
}
