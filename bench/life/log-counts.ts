import type { Database } from "../../src/platform/database/database.ts";

/** What happened to a table, or to an index, between two positions of the log. */
export type LogCount = {
  /** The table; of a partition, the one that it belongs to. */
  readonly table: string;
  /** Null for the rows of the table. */
  readonly index: string | null;
  readonly inserts: number;
  readonly updates: number;
  /** Of the updates, those that wrote no index. */
  readonly hotUpdates: number;
  readonly deletes: number;
  readonly locks: number;
  readonly entries: number;
  readonly records: number;
  readonly bytes: number;
};

export type LogCounts = {
  readonly relations: readonly LogCount[];
  readonly statements: readonly { readonly text: string; readonly calls: number }[];
  /** All that the log got, commits and the work on catalogs included. */
  readonly bytes: number;
  readonly records: number;
};

/** Settings of a server whose log is counted: pages are never logged whole, and nothing but the work itself writes. */
export const COUNTED = {
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.max": "5000",
  fsync: "off",
  full_page_writes: "off",
  autovacuum: "off",
  checkpoint_timeout: "1h",
  max_wal_size: "16GB",
};

export const beginLogCounts = (db: Database): Promise<void> =>
  db.runScript("create extension pg_stat_statements; create extension pg_walinspect");

/**
 * Runs `work` and counts what it wrote, by the records of PostgreSQL's log: it has each row and each entry of an index, where
 * the statistics of tables have no entries. Nothing else may use the database.
 */
export async function countLog(db: Database, work: () => Promise<unknown>): Promise<LogCounts> {
  await db.runScript("select pg_stat_statements_reset()");
  const from = await markLog(db);
  await work();
  const statements = await db.query<{ text: string; calls: number }>({
    name: "bench-life-statements",
    text: `
      select s.query as text, sum(s.calls)::integer as calls
      from pg_stat_statements s
      where s.dbid = (select oid from pg_database where datname = current_database())
        and s.query not like '%bench-%' and s.query not like '%pg_stat_statements%'
      group by s.query order by calls desc`,
    values: [],
  });
  const to = await markLog(db);
  const [all] = await db.query<{ bytes: number; records: number }>({
    name: "bench-life-log",
    text: "select ($2::pg_lsn - $1::pg_lsn)::float8 as bytes, count(*)::integer as records from pg_get_wal_records_info($1, $2)",
    values: [from, to],
  });
  const relations = await db.query<LogCount>({
    name: "bench-life-relations",
    text: RELATIONS,
    values: [from, to],
  });
  return { relations, statements, bytes: all?.bytes ?? 0, records: all?.records ?? 0 };
}

/** A position of the log, which is written up to it. */
async function markLog(db: Database): Promise<string> {
  const [row] = await db.query<{ at: string }>({
    name: "bench-life-mark",
    text: "select pg_logical_emit_message(false, 'bench', '', true)::text as at",
    values: [],
  });
  if (row === undefined) throw new Error("The log has a position.");
  return row.at;
}

/**
 * The first page of a record says what it is about. A split of a leaf stores an entry as well; one of a page above stores none,
 * and neither does an insert into it. A GIN index keeps a list of new entries, and sorts them in later: what is added to the
 * list at once counts as one.
 */
const RELATIONS = `
  with record as (
    select reltablespace, relfilenode, resource_manager as manager, split_part(record_type, '+', 1) as type, description,
           record_length as bytes
    from pg_get_wal_block_info($1, $2, false)
    where block_id = 0 and relforknumber = 0 and reldatabase = (select oid from pg_database where datname = current_database())
  ), counted as (
    select reltablespace, relfilenode,
           count(*) filter (where manager = 'Heap' and type = 'INSERT')
             + coalesce(sum(substring(description from 'ntuples: (\\d+)')::integer) filter (where type = 'MULTI_INSERT'), 0) as inserts,
           count(*) filter (where manager = 'Heap' and type in ('UPDATE', 'HOT_UPDATE')) as updates,
           count(*) filter (where manager = 'Heap' and type = 'HOT_UPDATE') as hot_updates,
           count(*) filter (where manager = 'Heap' and type = 'DELETE') as deletes,
           count(*) filter (where type in ('LOCK', 'LOCK_UPDATED')) as locks,
           count(*) filter (where manager = 'Btree' and (
             type in ('INSERT_LEAF', 'INSERT_POST')
             or (type in ('SPLIT_L', 'SPLIT_R') and description ~ 'level: 0')
           )) + count(*) filter (where manager = 'Gin' and type = 'UPDATE_META_PAGE') as entries,
           count(*) as records, sum(bytes) as bytes
    from record
    group by reltablespace, relfilenode
  ), relation as (
    select c.oid, counted.*
    from counted join pg_class c on c.oid = pg_filenode_relation(counted.reltablespace, counted.relfilenode)
    where c.relnamespace in ('public'::regnamespace, 'pg_toast'::regnamespace)
  ), named as (
    select relation.*,
           coalesce(i.indrelid, relation.oid) as heap,
           case when i.indexrelid is not null then coalesce(pg_partition_root(i.indexrelid), i.indexrelid) end as index
    from relation left join pg_index i on i.indexrelid = relation.oid
  ), owned as (
    select named.*, coalesce(t.oid, heap) as owner, t.oid is not null as is_toast
    from named left join pg_class t on t.reltoastrelid = heap
    where coalesce(t.relnamespace, 'public'::regnamespace) = 'public'::regnamespace
  )
  select coalesce(pg_partition_root(owner), owner::regclass)::text || case when is_toast then ' (long values)' else '' end as table,
         case when is_toast and index is not null then '(long values)' else index::regclass::text end as index,
         sum(inserts)::integer as inserts, sum(updates)::integer as updates, sum(hot_updates)::integer as "hotUpdates",
         sum(deletes)::integer as deletes, sum(locks)::integer as locks, sum(entries)::integer as entries,
         sum(records)::integer as records, sum(bytes)::integer as bytes
  from owned
  group by 1, 2
  order by bytes desc`;
