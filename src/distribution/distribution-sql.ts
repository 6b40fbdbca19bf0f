import pg from "pg";
import type { Queryable } from "../platform/database/database.ts";
import { distributionColumnOf, type Placement, ROOT, type Table } from "./placement.ts";

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
export async function moveTable(
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
export async function deleteRowsLeft(db: Queryable, name: string): Promise<void> {
  await db.query({
    name: "delete-rows-left",
    text: "select truncate_local_data_after_distributing_table($1::regclass)",
    values: [name],
  });
}

/** Functions that write rows of one merchant, which their first argument names. */
export async function listFunctionsOfMerchants(db: Queryable): Promise<string[]> {
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
