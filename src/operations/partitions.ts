import type pg from "pg";
import { noteDropped } from "../changes/read-changes.ts";
import type { Context } from "../platform/context.ts";
import type { Database, Queryable } from "../platform/database/database.ts";
import {
  DAY_TABLES,
  type DayTable,
  ensureDayPartitions,
  listPartitions,
  PARTITIONS_AHEAD_MIN_MS,
  type Partition,
  partitionsAheadMs,
} from "../platform/database/day-partitions.ts";
import { eachUntilDone, runInTurn } from "../platform/run-in-turn.ts";
import { before, CHANGES_KEPT_MS, DAY_MS, EVENTS_KEPT_MS, HOUR_MS, LOG_KEPT_MS } from "../platform/time.ts";

const KEPT_MS: Record<DayTable, number> = {
  events: EVENTS_KEPT_MS,
  attempts: LOG_KEPT_MS,
  changes: CHANGES_KEPT_MS,
};

/**
 * Drops partitions whose whole day is older than the retention time (docs/design/database.md, "Retention"). Returns how many it
 * dropped.
 */
export async function dropOldPartitions({ db, clock }: Context, stopping?: AbortSignal): Promise<number> {
  const now = clock.now();
  return db.withClient(async (client) => {
    const dropped = await whileDroppingAlone(client, () =>
      runInTurn(
        eachUntilDone(DAY_TABLES),
        (table) => dropOldest(db, client, table, before(now, KEPT_MS[table])),
        stopping,
      ),
    );
    return dropped ?? 0;
  });
}

/** Drops one table, first those that an interrupted run has left. */
async function dropOldest(
  db: Database,
  client: pg.PoolClient,
  table: DayTable,
  keptSince: Date,
): Promise<number> {
  const partitions = await listPartitions(db, table);
  const oldest = partitions.find(({ isDetaching }) => isDetaching) ?? partitions[0];
  const isOld = oldest !== undefined && oldest.to <= keptSince;
  if (isOld && table === "changes") await noteDropped(db, oldest);
  if (oldest !== undefined && (isOld || oldest.isDetaching))
    await detachPartition(client, table, oldest, await db.isDistributed());
  const name = isOld ? oldest.name : await findLeftover(client, table, keptSince);
  if (name === null) return 0;
  await dropTable(client, name);
  return 1;
}

async function findLeftover(client: pg.PoolClient, table: DayTable, keptSince: Date): Promise<string | null> {
  const detached = await listDetached(client, table);
  return detached.find(({ day }) => endOfDay(day) <= keptSince.getTime())?.name ?? null;
}

const endOfDay = (day: string): number =>
  Date.parse(day.replace(/^(\d{4})(\d{2})(\d{2})$/, "$1-$2-$3")) + DAY_MS;

/** Other statements would queue behind one that waits for its lock. So it fails soon, and the next run does it. */
const LOCK_TIMEOUT_MS = 3_000;

/**
 * Runs `work`. Returns null if another worker is dropping partitions. The lock only keeps concurrent workers from
 * making each other's statements fail.
 */
async function whileDroppingAlone<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T | null> {
  const { rows } = await client.query<{ alone: boolean }>("select pg_try_advisory_lock(7305220, 3) as alone");
  if (rows[0]?.alone !== true) return null;
  try {
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    return await work();
  } finally {
    await client.query("reset lock_timeout");
    await client.query("select pg_advisory_unlock(7305220, 3)");
  }
}

/**
 * Detaches a partition concurrently, so that orders can be placed at the same time. PostgreSQL does this in two transactions.
 * If it is interrupted between them, the partition stays marked as being detached, and no other one can be detached before this
 * is finished. Citus cannot do it concurrently (docs/design/distribution.md, "Placement of tables"): there it waits for a lock
 * that keeps others from the table, and fails after the limit of `whileDroppingAlone`.
 */
async function detachPartition(
  client: pg.PoolClient,
  table: DayTable,
  { name, isDetaching }: Partition,
  isDistributed: boolean,
): Promise<void> {
  const concurrently = isDistributed ? "" : "concurrently";
  const how = isDetaching ? "finalize" : concurrently;
  await client.query(`alter table ${table} detach partition ${name} ${how}`);
}

async function dropTable(client: pg.PoolClient, name: string): Promise<void> {
  await client.query(`drop table if exists ${name}`);
}

/** Tables that are named like a partition but are none: they were detached and not dropped. Oldest first. */
async function listDetached(
  client: pg.PoolClient,
  table: DayTable,
): Promise<{ name: string; day: string }[]> {
  const { rows } = await client.query<{ name: string; day: string }>(
    `select oid::regclass::text as name, right(relname, 8) as day
     from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'r' and not relispartition
       and relname ~* ('^' || $1 || '_[0-9]{8}$')
     order by day`,
    [table],
  );
  return rows;
}

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

/** Creates partitions ahead. If some are still missing, logs an error while rows can still be stored. */
export async function makePartitions(context: Context): Promise<number> {
  try {
    await ensureDayPartitions(context.db, context.clock.now());
  } finally {
    await checkPartitionsAhead(context);
  }
  return 0;
}

async function checkPartitionsAhead({ db, clock, log }: Context): Promise<void> {
  for (const table of DAY_TABLES) {
    const aheadMs = await partitionsAheadMs(db, table, clock.now());
    if (aheadMs >= PARTITIONS_AHEAD_MIN_MS) continue;
    log.error(
      { table, aheadHours: Math.floor(aheadMs / HOUR_MS) },
      "partitions missing: rows cannot be stored after the last one",
    );
  }
}

/** Tables of at least this size without statistics, with their names as SQL identifiers. */
async function listTablesWithoutStatistics(db: Queryable, bytesMin: number): Promise<string[]> {
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
const analyzeTable = (db: Database, name: string): Promise<void> =>
  db.runScript(`analyze (skip_locked) ${name}`);
