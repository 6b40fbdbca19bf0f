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

export type DatabaseFigures = {
  /** As PostgreSQL names it: 18.4. */
  readonly version: string;
  readonly sizeBytes: number;
  readonly connectionCount: number;
  readonly connectionsMax: number;
};

/** Size and connections of this database, of all programs together. */
export async function readDatabaseFigures(db: Queryable): Promise<DatabaseFigures> {
  const [row] = await db.query<{
    version: string;
    size: bigint;
    connections: number;
    connections_max: number;
  }>({
    name: "read-database-figures",
    text: `
      select split_part(current_setting('server_version'), ' ', 1) as version,
        pg_database_size(current_database()) as size,
        (select count(*)::integer from pg_stat_activity where datname = current_database()) as connections,
        current_setting('max_connections')::integer as connections_max`,
    values: [],
  });
  return {
    version: row?.version ?? "",
    sizeBytes: Number(row?.size ?? 0),
    connectionCount: row?.connections ?? 0,
    connectionsMax: row?.connections_max ?? 0,
  };
}
