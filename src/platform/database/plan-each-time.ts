import type { Queryable } from "./database.ts";

/**
 * From here to the end of the transaction, PostgreSQL plans each statement for its parameters and the present tables,
 * instead of keeping a plan. A plan that was made for an empty table would read a full one once for each row of a
 * batch.
 */
export async function planEachTime(tx: Queryable): Promise<void> {
  await tx.query({
    name: "plan-each-time",
    text: "select set_config('plan_cache_mode', 'force_custom_plan', true)",
    values: [],
  });
}
