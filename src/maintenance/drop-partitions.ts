import type pg from "pg";
import type { Context } from "../platform/context.ts";
import type { Database } from "../platform/database/database.ts";
import { DAY_TABLES, type DayTable, listPartitions } from "../platform/database/day-partitions.ts";
import { EVENTS_KEPT_MS, LOG_KEPT_MS } from "../platform/retention.ts";
import { eachUntilDone, runInTurn } from "../platform/run-in-turn.ts";
import { before, DAY_MS } from "../platform/time.ts";
import { detachPartition, dropTable, listDetached, whileDroppingAlone } from "./drop-partitions-sql.ts";

const KEPT_MS: Record<DayTable, number> = { events: EVENTS_KEPT_MS, attempts: LOG_KEPT_MS };

/** Drops partitions whose whole day is older than the retention time (decision 0030). Returns how many it dropped. */
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
