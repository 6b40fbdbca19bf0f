import { uuidAt } from "../ids.ts";
import type { Database } from "./database.ts";

const DAY_MS = 86_400_000;
/** Days made ahead, so that a worker may rest for two weeks. */
const DAYS_AHEAD = 14;
// Ids may be a little older than the moment they are stored in, so the day before is kept open too.
const DAYS_BEHIND = 1;

/** Makes the daily partitions of `events` around a moment. May be called by any process at any time. */
export async function ensureEventPartitions(db: Database, now: Date): Promise<void> {
  const today = Math.floor(now.getTime() / DAY_MS);
  for (let day = today - DAYS_BEHIND; day <= today + DAYS_AHEAD; day += 1) {
    const script = partitionScript(new Date(day * DAY_MS), new Date((day + 1) * DAY_MS));
    if (script !== null) await db.runScript(script);
  }
}

/**
 * A table of its own that is attached afterwards: this way the parent is locked so lightly that orders go on
 * being placed. The lock makes processes that do the same at once wait for each other; it guards nothing else.
 */
function partitionScript(from: Date, to: Date): string | null {
  if (from.getTime() < 0) return null;
  const name = `events_${from.toISOString().slice(0, 10).replaceAll("-", "")}`;
  return `
    do $$
    begin
      if to_regclass('${name}') is null then
        perform pg_advisory_xact_lock(7305220, 2);
        -- Asked of the table itself: to_regclass still answers from the catalogue cache of the time before the wait.
        if not exists (select from pg_class where relname = '${name}' and relnamespace = current_schema()::regnamespace) then
          create table ${name} (like events including all);
          alter table events attach partition ${name} for values from ('${uuidAt(from)}') to ('${uuidAt(to)}');
        end if;
      end if;
    end
    $$`;
}
