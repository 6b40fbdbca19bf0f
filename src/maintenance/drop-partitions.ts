import type pg from "pg";
import type { Context } from "../platform/context.ts";
import type { Database } from "../platform/database/database.ts";
import { DAY_TABLES, type DayTable, listPartitions } from "../platform/database/day-partitions.ts";
import { EVENTS_KEPT_MS, LOG_KEPT_MS } from "../platform/retention.ts";
import { eachUntilDone, runInTurn } from "../platform/run-in-turn.ts";
import { before, DAY_MS } from "../platform/time.ts";

const KEPT_MS: Record<DayTable, number> = { events: EVENTS_KEPT_MS, attempts: LOG_KEPT_MS };
/** Others would queue behind a statement that waits for its lock. It fails instead, and the next run tries again. */
const LOCK_TIMEOUT_MS = 3_000;

/** Drops partitions whose whole day is older than the retention time. Returns how many (decision 0030). */
export async function dropOldPartitions({ db, clock }: Context, stopping?: AbortSignal): Promise<number> {
  const now = clock.now();
  return db.withClient(async (client) => {
    // Only prevents that concurrent workers make each other's statements fail.
    const { rows } = await client.query<{ alone: boolean }>(
      "select pg_try_advisory_lock(7305220, 3) as alone",
    );
    if (rows[0]?.alone !== true) return 0;
    try {
      await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
      return await runInTurn(
        eachUntilDone(DAY_TABLES),
        (table) => dropOldest(db, client, table, before(now, KEPT_MS[table])),
        stopping,
      );
    } finally {
      await client.query("reset lock_timeout");
      await client.query("select pg_advisory_unlock(7305220, 3)");
    }
  });
}

/**
 * Drops one table; first those that an interrupted run has left. A partition is detached concurrently, so that orders can
 * be placed at the same time. PostgreSQL does this in two transactions. If it is interrupted between them, the partition
 * stays marked as being detached, and no other can be detached until this is finished.
 */
async function dropOldest(
  db: Database,
  client: pg.PoolClient,
  table: DayTable,
  keptSince: Date,
): Promise<number> {
  const partitions = await listPartitions(db, table);
  const oldest = partitions.find(({ isDetaching }) => isDetaching) ?? partitions[0];
  const isOld = oldest !== undefined && oldest.to <= keptSince;
  if (oldest !== undefined && (isOld || oldest.isDetaching)) {
    const how = oldest.isDetaching ? "finalize" : "concurrently";
    await client.query(`alter table ${table} detach partition ${oldest.name} ${how}`);
  }
  const name = isOld ? oldest.name : await findLeftover(client, table, keptSince);
  if (name === null) return 0;
  await client.query(`drop table if exists ${name}`);
  return 1;
}

/** Finds a table that was detached but not dropped, by its name. */
async function findLeftover(client: pg.PoolClient, table: DayTable, keptSince: Date): Promise<string | null> {
  const { rows } = await client.query<{ name: string; day: string }>(
    `select oid::regclass::text as name, right(relname, 8) as day
     from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'r' and not relispartition
       and relname ~* ('^' || $1 || '_[0-9]{8}$')
     order by day`,
    [table],
  );
  const leftover = rows.find(({ day }) => endOfDay(day) <= keptSince.getTime());
  return leftover?.name ?? null;
}

const endOfDay = (day: string): number =>
  Date.parse(day.replace(/^(\d{4})(\d{2})(\d{2})$/, "$1-$2-$3")) + DAY_MS;
