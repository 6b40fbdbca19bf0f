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

/**
 * From here to the end of the transaction, PostgreSQL reads an index entry by entry, and ends at the limit of a statement.
 * It expects few entries between two values of an index without statistics, and would collect all of them in a bitmap
 * before it returns the first, also a million. Or, if it expects the limit to take many entries, it would read all of the table.
 */
export async function readToLimits(tx: Queryable): Promise<void> {
  await passSettingsToNodes(tx);
  for (const way of ["bitmapscan", "seqscan"])
    await tx.query({ name: `read-without-${way}`, text: `set local enable_${way} to off`, values: [] });
}

/** From here to the end of the transaction, a statement that waits longer for a lock fails. */
export async function limitLockWaits(tx: Queryable, ms: number): Promise<void> {
  await passSettingsToNodes(tx);
  await tx.query({ name: `limit-lock-waits-${ms}`, text: `set local lock_timeout to ${ms}`, values: [] });
}

/**
 * From here to the end of the transaction, Citus passes on to the nodes what `set local` sets. Other ways to set a value
 * it does not pass on.
 */
async function passSettingsToNodes(tx: Queryable): Promise<void> {
  if (!(await tx.isDistributed())) return;
  await tx.query({
    name: "pass-settings-to-nodes",
    text: "set local citus.propagate_set_commands to 'local'",
    values: [],
  });
}
