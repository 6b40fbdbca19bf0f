import type { Queryable } from "../platform/database/database.ts";

/** The merchants on the nodes of Citus that respond, and whether these are all nodes. */
export async function listReachableMerchants(
  db: Queryable,
): Promise<{ readonly merchants: readonly string[]; readonly isComplete: boolean }> {
  const shards = await db.query<{ merchants: string[] | null }>({
    name: "list-reachable-merchants",
    text: `
      select case when success then result::text[] end as merchants
      from run_command_on_shards('merchants', 'select coalesce(array_agg(id), ''{}'') from %s')`,
    values: [],
  });
  return {
    merchants: shards.flatMap(({ merchants }) => merchants ?? []),
    isComplete: shards.every(({ merchants }) => merchants !== null),
  };
}
