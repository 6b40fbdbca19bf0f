import type { Queryable } from "../platform/database/database.ts";

/**
 * Runs a statement that locks rows of several merchants. A distributed database locks rows on one node alone, so it gets
 * the rows of one merchant at a time, in the order of their ids, which is the order of the locks too. A plain
 * PostgreSQL gets all of them at once (decision 0166).
 * @param run receives the merchant whose rows are locked, or null for all of them: see `ofMerchant`
 */
export async function merchantByMerchant<Item extends { readonly merchantId: string }, Row>(
  db: Queryable,
  items: readonly Item[],
  run: (items: readonly Item[], merchantId: string | null) => Promise<Row[]>,
): Promise<Row[]> {
  if (!(await db.isDistributed())) return run(items, null);
  const rows: Row[] = [];
  for (const [merchantId, own] of byMerchant(items)) rows.push(...(await run(own, merchantId)));
  return rows;
}

function byMerchant<Item extends { readonly merchantId: string }>(
  items: readonly Item[],
): [string, Item[]][] {
  const groups = Map.groupBy(items, ({ merchantId }) => merchantId);
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * A condition that is true if the parameter is null. Else it names the node to a distributed database. A plan that is
 * made for null does not have it.
 */
export const ofMerchant = (parameter: `$${number}` | null, column: string): string =>
  parameter === null ? "true" : `(${parameter}::uuid is null or ${column} = ${parameter})`;
