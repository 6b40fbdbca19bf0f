import type { Clock } from "../../platform/clock.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** As PostgreSQL tells it: 180004 is 18.4. */
export async function readVersionNumber(db: Queryable): Promise<number> {
  const [row] = await db.query<{ version: string }>({
    name: "read-version",
    text: "select current_setting('server_version_num') as version",
    values: [],
  });
  return Number(row?.version);
}

/** How far this machine's clock is ahead; the database's is read in the middle of the question, as far as anybody can tell. */
export async function readClockAheadMs(db: Queryable, clock: Clock): Promise<number> {
  const asked = clock.now().getTime();
  const [row] = await db.query<{ now: Date }>({
    name: "read-database-clock",
    text: "select clock_timestamp() as now",
    values: [],
  });
  const middle = (asked + clock.now().getTime()) / 2;
  return middle - (row?.now.getTime() ?? middle);
}
