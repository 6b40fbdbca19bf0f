import type { Queryable } from "./database.ts";

/**
 * From here to the end of the transaction, PostgreSQL plans each statement for its parameters and the present tables,
 * instead of keeping a plan. A plan that was made for an empty table would read a full one once for each row of a
 * batch. It also finds the rows of a batch by their index. By default it takes a page in memory to be as expensive as a
 * random read of a disk, and reads a table of ten thousand rows to the end for each batch of a hundred (decision 0068).
 */
export async function planBatch(tx: Queryable): Promise<void> {
  await tx.query({
    name: "plan-batch",
    text: `
      select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('random_page_cost', '1.1', true)`,
    values: [],
  });
}
