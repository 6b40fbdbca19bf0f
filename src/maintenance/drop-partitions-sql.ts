import type pg from "pg";
import type { DayTable, Partition } from "../platform/database/day-partitions.ts";

/** Other statements would queue behind one that waits for its lock. So it fails soon, and the next run does it. */
const LOCK_TIMEOUT_MS = 3_000;

/**
 * Runs `work`. Returns null if another worker is dropping partitions. The lock only keeps concurrent workers from
 * making each other's statements fail.
 */
export async function whileDroppingAlone<T>(
  client: pg.PoolClient,
  work: () => Promise<T>,
): Promise<T | null> {
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
 * Detaches a partition concurrently, so that orders can be placed at the same time. PostgreSQL does this in two
 * transactions. If it is interrupted between them, the partition stays marked as being detached, and no other one can
 * be detached before this is finished. Citus cannot do it concurrently (decision 0165): there it waits for a lock that
 * keeps others from the table, and fails after the limit of `whileDroppingAlone`.
 */
export async function detachPartition(
  client: pg.PoolClient,
  table: DayTable,
  { name, isDetaching }: Partition,
  isDistributed: boolean,
): Promise<void> {
  const concurrently = isDistributed ? "" : "concurrently";
  const how = isDetaching ? "finalize" : concurrently;
  await client.query(`alter table ${table} detach partition ${name} ${how}`);
}

export async function dropTable(client: pg.PoolClient, name: string): Promise<void> {
  await client.query(`drop table if exists ${name}`);
}

/** Tables that are named like a partition but are none: they were detached and not dropped. Oldest first. */
export async function listDetached(
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
