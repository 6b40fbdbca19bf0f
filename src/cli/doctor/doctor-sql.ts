import type { Clock } from "../../platform/clock.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** As PostgreSQL reports it: 180004 is 18.4. */
export async function readVersionNumber(db: Queryable): Promise<number> {
  const [row] = await db.query<{ version: string }>({
    name: "read-version",
    text: "select current_setting('server_version_num') as version",
    values: [],
  });
  return Number(row?.version);
}

/** How far the clock of this machine is ahead. The database is assumed to read its own clock halfway through the query. */
export async function readClockAheadMs(db: Queryable, clock: Clock): Promise<number> {
  const started = clock.now().getTime();
  const [row] = await db.query<{ now: Date }>({
    name: "read-database-clock",
    text: "select clock_timestamp() as now",
    values: [],
  });
  const middle = (started + clock.now().getTime()) / 2;
  return middle - (row?.now.getTime() ?? middle);
}
