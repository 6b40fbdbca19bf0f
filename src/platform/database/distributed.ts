type Query = <Row extends object>(statement: {
  name: string;
  text: string;
  values: unknown[];
}) => Promise<Row[]>;

/** What a pool knows of its database. Null: it has not asked yet. */
export type Distribution = { isDistributed: boolean | null };

/** Whether Citus splits the tables over several nodes. Only `distribute` changes it, while no service runs. */
export async function isDistributed(query: Query, known: Distribution): Promise<boolean> {
  known.isDistributed ??= (await hasCitus(query)) && (await hasDistributedTables(query));
  return known.isDistributed;
}

async function hasCitus(query: Query): Promise<boolean> {
  const [row] = await query<{ found: boolean }>({
    name: "has-citus",
    text: "select exists (select from pg_extension where extname = 'citus') as found",
    values: [],
  });
  return row?.found ?? false;
}

async function hasDistributedTables(query: Query): Promise<boolean> {
  const [row] = await query<{ found: boolean }>({
    name: "has-distributed-tables",
    text: "select exists (select from pg_dist_partition where partmethod = 'h') as found",
    values: [],
  });
  return row?.found ?? false;
}
