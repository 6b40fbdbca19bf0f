import type { Database, Queryable } from "../../src/platform/database/database.ts";

type PlanNode = {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: PlanNode[];
};

/**
 * How many rows the statements of `work` read of each table, as PostgreSQL counts them. The statements run in a
 * transaction that is rolled back. They return no rows, unless those of queries are needed.
 */
export async function countRowsRead(
  db: Database,
  work: (tx: Queryable) => Promise<unknown>,
  { returnRows = false }: { returnRows?: boolean } = {},
): Promise<(table: string) => number> {
  const read = new Map<string, number>();
  await db.withClient(async (client) => {
    await client.query("begin");
    try {
      await work({
        isDistributed: db.isDistributed,
        async query({ text, values }) {
          const { rows } = await client.query(`explain (analyze, timing off, format json) ${text}`, values);
          add(rows[0]["QUERY PLAN"][0].Plan, read);
          return returnRows ? (await client.query({ text, values })).rows : [];
        },
      });
    } finally {
      await client.query("rollback");
    }
  });
  return (table) => read.get(table) ?? 0;
}

function add(node: PlanNode, read: Map<string, number>): void {
  const table = node["Relation Name"];
  // The node of an insertion, an update or a deletion names its table as well, but only writes to it.
  if (table !== undefined && node["Node Type"] !== "ModifyTable") {
    const rows =
      node["Actual Rows"] +
      (node["Rows Removed by Filter"] ?? 0) +
      (node["Rows Removed by Index Recheck"] ?? 0);
    // A part of a partitioned table counts as the table itself.
    const name = table.replace(/_\d{8}$/, "");
    read.set(name, (read.get(name) ?? 0) + rows * node["Actual Loops"]);
  }
  for (const child of node.Plans ?? []) add(child, read);
}
