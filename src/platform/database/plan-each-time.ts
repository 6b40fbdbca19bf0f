import type { Queryable } from "./database.ts";

/**
 * From here to its end, a transaction plans each of its statements for the actual parameters and for the tables as they
 * are. PostgreSQL would keep a plan otherwise. One that was made for an empty table reads a full one once for each row of
 * a batch.
 */
export async function planEachTime(tx: Queryable): Promise<void> {
  await tx.query({
    name: "plan-each-time",
    text: "select set_config('plan_cache_mode', 'force_custom_plan', true)",
    values: [],
  });
}
