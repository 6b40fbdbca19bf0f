import type { Queryable } from "../../platform/database/database.ts";

type AttemptRow = { bucket: string; count: number; window_start: Date };

/** Counts one more attempt in each bucket. A window that began at or before `staleBefore` begins again. */
export async function countAttempts(
  db: Queryable,
  buckets: readonly string[],
  now: Date,
  staleBefore: Date,
): Promise<{ bucket: string; count: number; windowStart: Date }[]> {
  const rows = await db.query<AttemptRow>({
    name: "count-person-attempts",
    text: `
      insert into person_attempts as a (bucket, count, window_start)
      select b.bucket, 1, $2
      from unnest($1::text[]) as b (bucket)
      order by b.bucket -- Two requests wait for each other's buckets in one order.
      on conflict (bucket) do update
      set count = case when a.window_start <= $3 then 1 else a.count + 1 end,
          window_start = case when a.window_start <= $3 then $2 else a.window_start end
      returning bucket, count, window_start`,
    values: [buckets, now, staleBefore],
  });
  return rows.map(({ bucket, count, window_start }) => ({ bucket, count, windowStart: window_start }));
}

/** Forgets the attempts of a bucket, after one succeeded. */
export async function forgetAttempts(db: Queryable, buckets: readonly string[]): Promise<void> {
  await db.query({
    name: "forget-person-attempts",
    text: "delete from person_attempts where bucket = any($1)",
    values: [buckets],
  });
}
