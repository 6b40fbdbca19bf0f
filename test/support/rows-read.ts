import type pg from "pg";
import type { Database } from "../../src/platform/database/database.ts";

type PlanNode = {
  "Node Type": string;
  "Relation Name": string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
};

/** PostgreSQL 15 also reads the row after the last one that a window function needs. */
export const LOOK_AHEAD = 1;

/**
 * How many rows the statements of `work` read of each table, as PostgreSQL counts them. The statements run in a
 * transaction that is rolled back. They return no rows, unless those of queries are needed.
 */
export async function countRowsRead(
  db: Database,
  work: (tx: Database) => Promise<unknown>,
  { returnRows = false }: { returnRows?: boolean } = {},
): Promise<(table: string) => number> {
  const read = new Map<string, number>();
  await db.withClient(async (client) => {
    await client.query("begin");
    if (await db.isDistributed()) await client.query("set local citus.explain_all_tasks to on");
    try {
      const counted: Database = {
        ...db,
        transaction: (inTransaction) => inTransaction(counted),
        async query({ text, values }) {
          if (text.startsWith("set local")) return (await client.query(text)).rows;
          const before = await readInTransaction(client);
          const { rows } = await client.query(`explain (analyze, timing off, format json) ${text}`, values);
          if (OF_FUNCTION.test(text)) addSince(before, await readInTransaction(client), read);
          else add(rows[0]["QUERY PLAN"], read);
          return returnRows ? (await client.query({ text, values })).rows : [];
        },
      };
      await work(counted);
    } finally {
      await client.query("rollback");
    }
  });
  return (table) => read.get(table) ?? 0;
}

/** A call of a function of the service. Its plan does not have those of its statements. */
const OF_FUNCTION = /\bfrom (claim_deliveries|move_goods|publish_events)\(/;

type RowsOfTables = ReadonlyMap<string, number>;

/** What the statistics of the transaction say: rows that scans have read, and rows that indexes have led to. */
async function readInTransaction(client: pg.PoolClient): Promise<RowsOfTables> {
  const { rows } = await client.query<{ name: string; count: bigint }>(`
    select relname as name, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as count
    from pg_stat_xact_user_tables`);
  return new Map(rows.map(({ name, count }) => [name, Number(count)]));
}

function addSince(before: RowsOfTables, after: RowsOfTables, read: Map<string, number>): void {
  for (const [table, count] of after) {
    const name = tableOf(table);
    read.set(name, (read.get(name) ?? 0) + count - (before.get(table) ?? 0));
  }
}

/** A part of a partitioned table counts as the table itself, and so does a shard of Citus. */
const tableOf = (relation: string): string => relation.replace(/(_\d{8})?(_\d{6,7})?$/, "");

/** Adds the rows of a node and of all within it. Citus has the plans of its tasks within nodes of its own. */
function add(plan: unknown, read: Map<string, number>): void {
  if (typeof plan !== "object" || plan === null) return;
  // The node of an insertion, an update or a deletion names its table as well, but only writes to it.
  if (isOfTable(plan) && plan["Node Type"] !== "ModifyTable") {
    const rows =
      plan["Actual Rows"] +
      (plan["Rows Removed by Filter"] ?? 0) +
      (plan["Rows Removed by Index Recheck"] ?? 0);
    const name = tableOf(plan["Relation Name"]);
    read.set(name, (read.get(name) ?? 0) + rows * plan["Actual Loops"]);
  }
  for (const part of Object.values(plan)) add(part, read);
}

const isOfTable = (plan: object): plan is PlanNode => "Relation Name" in plan && "Actual Rows" in plan;
