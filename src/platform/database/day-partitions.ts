import { momentOf, uuidAt } from "../ids.ts";
import { DAY_MS } from "../time.ts";
import type { Database, Queryable } from "./database.ts";

/** Tables that grow constantly and are purged day by day. Each is partitioned by day on its own time-ordered id. */
export const DAY_TABLES = ["events", "attempts", "changes"] as const;
export type DayTable = (typeof DAY_TABLES)[number];

/** Days that are created ahead, so that no worker need run for two weeks. */
const DAYS_AHEAD = 14;
/** If less than this is ahead, creating partitions has failed for almost two weeks. */
export const PARTITIONS_AHEAD_MIN_MS = 2 * DAY_MS;
// Ids can be a little older than the time at which they are stored, so the day before has a partition too.
const DAYS_BEHIND = 1;

/** Creates the daily partitions around a time. Any process can call it at any time. */
export async function ensureDayPartitions(db: Database, now: Date): Promise<void> {
  const today = Math.floor(now.getTime() / DAY_MS);
  for (const table of DAY_TABLES) {
    for (let day = Math.max(0, today - DAYS_BEHIND); day <= today + DAYS_AHEAD; day += 1)
      await db.runScript(partitionScript(table, new Date(day * DAY_MS), new Date((day + 1) * DAY_MS)));
  }
}

/**
 * Creates a separate table and attaches it: the lock on the parent is so weak that orders can still be placed. The
 * advisory lock only makes concurrent processes wait for each other.
 */
function partitionScript(table: DayTable, from: Date, to: Date): string {
  const name = `${table}_${from.toISOString().slice(0, 10).replaceAll("-", "")}`;
  return `
    do $$
    begin
      if to_regclass('${name}') is null then
        perform pg_advisory_xact_lock(7305220, 2);
        -- Read from the table itself: to_regclass still uses the catalog cache from before the wait.
        if not exists (select from pg_class where relname = '${name}' and relnamespace = current_schema()::regnamespace) then
          create table ${name} (like ${table} including all);
          alter table ${table} attach partition ${name} for values from ('${uuidAt(from)}') to ('${uuidAt(to)}');
        end if;
      end if;
    end
    $$`;
}

export type Partition = {
  /** The name as an SQL identifier, with quotes if necessary. */
  readonly name: string;
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  /** A detach was started and not finished: the partition is not used, but still exists. */
  readonly isDetaching: boolean;
};

/**
 * The partitions of a table, oldest first. They are found by their bounds and not by their names, so that partitions
 * that an operator created or renamed are included.
 */
export async function listPartitions(db: Queryable, table: DayTable): Promise<Partition[]> {
  const rows = await db.query<{ name: string; bound: string; is_detaching: boolean }>({
    name: "list-partitions",
    text: `
      select c.oid::regclass::text as name, pg_get_expr(c.relpartbound, c.oid) as bound, i.inhdetachpending as is_detaching
      from pg_inherits i
      join pg_class c on c.oid = i.inhrelid
      where i.inhparent = to_regclass($1)`,
    values: [table],
  });
  return rows
    .flatMap(({ name, bound, is_detaching }) => {
      const [, from, to] =
        /^FOR VALUES FROM \('([0-9a-f-]{36})'\) TO \('([0-9a-f-]{36})'\)$/.exec(bound) ?? [];
      if (from === undefined || to === undefined) return []; // It has no bound at one end, so it is never completely in the past.
      return [{ name, from: momentOf(from), to: momentOf(to), isDetaching: is_detaching }];
    })
    .sort((a, b) => a.from.getTime() - b.from.getTime());
}

/** How long from now every id has a partition: up to the first gap. 0 if there is none for now. */
export async function partitionsAheadMs(db: Queryable, table: DayTable, now: Date): Promise<number> {
  let coveredMs = now.getTime();
  for (const { from, to, isDetaching } of await listPartitions(db, table))
    if (!isDetaching && from.getTime() <= coveredMs) coveredMs = Math.max(coveredMs, to.getTime());
  return coveredMs - now.getTime();
}

/** Where reading ended: the last row of the part, and how many rows it has. */
type PartEnd = { readonly last_id: string | null; readonly read_count: number };

/**
 * A row of a statement that reads a bounded number of rows, as `part`, and then filters them, as `f`
 * (docs/design/isolation-and-limits.md, "Bounded lists"). The row's own columns are missing if none fits.
 */
export type FittingRow<Row extends { id: string }> = Partial<Row> & PartEnd;

type Fitting<Row> = {
  readonly found: readonly Row[];
  /** The last row that was read, if reading ended before the list did. Null if all were read. */
  readonly readTo: string | null;
};

/** @param readMax how many rows the statement reads at most */
export function toFitting<Row extends { id: string }>(
  rows: readonly FittingRow<Row>[],
  readMax: number,
): Fitting<Row> {
  const [first] = rows;
  return {
    found: rows.filter(isFound),
    readTo: first?.read_count === readMax ? first.last_id : null,
  };
}

/** The join returns one row without an id if none fits. */
const isFound = <Row extends { id: string }>(row: FittingRow<Row>): row is FittingRow<Row> & Row =>
  typeof row.id === "string";
