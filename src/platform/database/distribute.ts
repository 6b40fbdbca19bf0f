import pg from "pg";
import type { Queryable } from "./database.ts";
import { pendingMigrations } from "./migrate.ts";
import { openDatabaseSession } from "./servers.ts";

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
  const client = await openDatabaseSession(url);
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
        `The table ${table.name} is ${table.placement}, but should be ${tablePlacement(table)}: undo it with undistribute_table.`,
      );
    await moveTable(db, table, tablePlacement(table), shardCount);
    report(`${table.name}: ${tablePlacement(table)}`);
  }
  // Also after an interrupted run that had moved all of them. It does nothing if no row is left.
  await deleteRowsLeft(db, ROOT);
  return tables.length;
}

/** The version of Citus in this database. Null on a plain PostgreSQL. */
export async function readCitusVersion(db: Queryable): Promise<string | null> {
  const [row] = await db.query<{ version: string }>({
    name: "read-citus-version",
    text: "select extversion as version from pg_extension where extname = 'citus'",
    values: [],
  });
  return row?.version ?? null;
}

/** How many nodes can hold parts of tables, and whether the coordinator can hold copies. */
export async function readNodes(db: Queryable): Promise<{ count: number; hasCoordinator: boolean }> {
  const [row] = await db.query<{ count: number; has_coordinator: boolean }>({
    name: "read-citus-nodes",
    text: `
      select count(*) filter (where shouldhaveshards)::int as count,
        coalesce(bool_or(groupid = 0), false) as has_coordinator
      from pg_dist_node
      where isactive and noderole = 'primary'`,
    values: [],
  });
  return { count: row?.count ?? 0, hasCoordinator: row?.has_coordinator ?? false };
}

/** The tables of the service, by their names. Works on a database with Citus only. */
export async function listTables(db: Queryable): Promise<Table[]> {
  const rows = await db.query<TableRow>({
    name: "list-tables-and-placements",
    text: `
      select c.relname as name, c.relpersistence = 'u' as is_unlogged, a.attname as key_column, d.partmethod as method, d.repmodel as replication,
        column_to_column_name(d.logicalrelid, d.partkey) as distribution_column,
        d.colocationid = root.colocationid as is_beside_root,
        array(
          select distinct parent.relname::text
          from pg_constraint f
          join pg_class parent on parent.oid = f.confrelid
          where f.conrelid = c.oid and f.contype = 'f'
        ) as references
      from pg_class c
      left join pg_index i on i.indrelid = c.oid and i.indisprimary
      left join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
      left join pg_dist_partition d on d.logicalrelid = c.oid
      left join pg_dist_partition root on root.logicalrelid = to_regclass($1)
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      order by c.relname`,
    values: [ROOT],
  });
  return rows.map(tableOf);
}

type TableRow = {
  name: string;
  is_unlogged: boolean;
  key_column: string | null;
  /** h: by the hash of a column; n: by none; null: no table of Citus. */
  method: string | null;
  /** t: a copy on each node, written by two-phase commit. */
  replication: string | null;
  distribution_column: string | null;
  is_beside_root: boolean | null;
  references: string[];
};

const tableOf = (row: TableRow): Table => ({
  name: row.name,
  isUnlogged: row.is_unlogged,
  keyColumn: row.key_column,
  references: row.references,
  placement: placementOfRow(row),
});

function placementOfRow({ name, method, replication, ...row }: TableRow): Placement | "elsewhere" {
  if (method === null) return "on the coordinator";
  if (method === "n" && replication === "t") return "on each node";
  const isByMerchant =
    method === "h" && row.distribution_column === distributionColumnOf(name) && (row.is_beside_root ?? false);
  return isByMerchant ? "by merchant" : "elsewhere";
}

/** Copies the rows of a table to the nodes. What it references has been moved before. */
async function moveTable(
  db: Queryable,
  { name, isUnlogged }: Pick<Table, "name" | "isUnlogged">,
  to: Placement,
  shardCount: number,
): Promise<void> {
  if (isUnlogged) await logTable(db, name);
  if (to === "on each node") await createReferenceTable(db, name);
  else if (name === ROOT) await distributeRoot(db, shardCount);
  else await distributeBesideRoot(db, name);
}

/** The rows of an unlogged table cannot follow when a shard moves while it is written. */
const logTable = (db: Queryable, name: string) =>
  db.query({ name: "", text: `alter table ${pg.escapeIdentifier(name)} set logged`, values: [] });

const createReferenceTable = (db: Queryable, name: string) =>
  db.query({
    name: "create-reference-table",
    text: "select create_reference_table($1::regclass)",
    values: [name],
  });

const distributeRoot = (db: Queryable, shardCount: number) =>
  db.query({
    name: "distribute-root",
    text: "select create_distributed_table($1::regclass, $2, colocate_with => 'none', shard_count => $3)",
    values: [ROOT, distributionColumnOf(ROOT), shardCount],
  });

const distributeBesideRoot = (db: Queryable, name: string) =>
  db.query({
    name: "distribute-beside-root",
    text: "select create_distributed_table($1::regclass, $2, colocate_with => $3)",
    values: [name, distributionColumnOf(name), ROOT],
  });

/** Deletes the rows of moved tables that are left on the coordinator, where no statement reads them. */
async function deleteRowsLeft(db: Queryable, name: string): Promise<void> {
  await db.query({
    name: "delete-rows-left",
    text: "select truncate_local_data_after_distributing_table($1::regclass)",
    values: [name],
  });
}

/** Functions that write rows of one merchant, which their first argument names. */
async function listFunctionsOfMerchants(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ name: string }>({
    name: "list-functions-of-merchants",
    text: `
      select p.proname as name
      from pg_proc p
      where p.pronamespace = current_schema()::regnamespace and p.proargnames[1] = 'of_merchant'
      order by p.proname`,
    values: [],
  });
  return rows.map(({ name }) => name);
}

/** The command after which a call of a function runs on the node of its merchant. It may be repeated. */
export const distributeFunction = (name: string): string =>
  `select create_distributed_function('${name}'::regproc::regprocedure, 'of_merchant', colocate_with => '${ROOT}', force_delegation => true)`;

/** Where the rows of a table are: docs/design/distribution.md, "Placement of tables". */
type Placement =
  /** Split over the nodes by the merchant. Rows of one merchant in all these tables are on one node. */
  | "by merchant"
  /** A copy on each node, because tables of merchants reference it, or are joined with it. */
  | "on each node"
  /** On the coordinator alone. */
  | "on the coordinator";

/** A table as the catalog describes it. Partitions are no tables of their own here. */
export type Table = {
  readonly name: string;
  /** Its changes are not in the log. Only on the coordinator (docs/design/distribution.md, "Placement of tables"). */
  readonly isUnlogged: boolean;
  /** The first column of the primary key, by which a table can be split. */
  readonly keyColumn: string | null;
  /** Other tables that its foreign keys name. */
  readonly references: readonly string[];
  /** Where it is now. */
  readonly placement: Placement | "elsewhere";
};

/** The first table to be distributed. All others are placed beside it. */
export const ROOT = "merchants";
const ROOT_COLUMN = "id";
/**
 * The first column in the primary key of each table that belongs to a merchant
 * (docs/design/distribution.md, "The merchant is the unit").
 */
const MERCHANT_COLUMN = "merchant_id";

/**
 * Small tables that are mostly read, and that statements of merchants need on their node
 * (docs/design/distribution.md, "Placement of tables").
 */
const ON_EACH_NODE: ReadonlySet<string> = new Set(["facilities", "facility_rates"]);

/** Where a table should be. */
export function tablePlacement({ name, keyColumn }: Pick<Table, "name" | "keyColumn">): Placement {
  if (name === ROOT || keyColumn === MERCHANT_COLUMN) return "by merchant";
  return ON_EACH_NODE.has(name) ? "on each node" : "on the coordinator";
}

export const distributionColumnOf = (table: string): string =>
  table === ROOT ? ROOT_COLUMN : MERCHANT_COLUMN;

/** A database is distributed as soon as one of its tables is. */
export const hasDistributedTables = (tables: readonly Table[]): boolean =>
  tables.some(({ placement }) => placement !== "on the coordinator");

export const misplacedTables = (tables: readonly Table[]): Table[] =>
  tables.filter((table) => table.placement !== tablePlacement(table));

/**
 * The tables that `distribute` has to move, in an order that Citus permits: copies for each node first, then the root,
 * then each table after those that it references.
 */
export function tablesToMove(tables: readonly Table[]): Table[] {
  const misplaced = misplacedTables(tables);
  const moved = new Map<string, Table>();
  const move = (table: Table): void => {
    if (moved.has(table.name)) return;
    for (const name of table.references) {
      const referenced = misplaced.find((other) => other.name === name);
      if (referenced !== undefined && referenced !== table) move(referenced);
    }
    moved.set(table.name, table);
  };
  for (const table of misplaced) if (tablePlacement(table) === "on each node") move(table);
  for (const table of misplaced) if (table.name === ROOT) move(table);
  for (const table of misplaced) move(table);
  return [...moved.values()];
}
