import type { Queryable } from "../platform/database/database.ts";

/**
 * The merchants of items, for `amongMerchants`. Null on a plain PostgreSQL, which does not need them. The conditions of the
 * statement then are the same for both kinds of database (decision 0170).
 */
export async function merchantsOf(
  db: Queryable,
  items: readonly { readonly merchantId: string }[],
): Promise<readonly string[] | null> {
  if (!(await db.isDistributed())) return null;
  return [...new Set(items.map(({ merchantId }) => merchantId))];
}

/**
 * A condition that is true if the parameter is null. Else it names the nodes to a distributed database, which leaves out all
 * others. It is needed at each table of a statement: Citus asks a node if any table of the statement may have rows there.
 */
export const amongMerchants = (parameter: `$${number}`, column: string): string =>
  `(${parameter}::uuid[] is null or ${column} = any(${parameter}))`;
