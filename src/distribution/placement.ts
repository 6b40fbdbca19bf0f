/** Where the rows of a table are: decision 0165. */
export type Placement =
  /** Split over the nodes by the merchant. Rows of one merchant in all these tables are on one node. */
  | "by merchant"
  /** A copy on each node, because tables of merchants reference it, or are joined with it. */
  | "on each node"
  /** On the coordinator alone. */
  | "on the coordinator";

/** A table as the catalog describes it. Partitions are no tables of their own here. */
export type Table = {
  readonly name: string;
  /** Its changes are not in the log. Only on the coordinator (decision 0165). */
  readonly isUnlogged: boolean;
  /** The first column of the primary key, by which a table can be split. */
  readonly keyColumn: string | null;
  /** Other tables that its foreign keys name. */
  readonly references: readonly string[];
  /** Where it is now. */
  readonly placement: Placement | "elsewhere";
};

/** The first table to be distributed. All others are placed beside it. */
export const ROOT = "merchants";
const ROOT_COLUMN = "id";
/** The first column in the primary key of each table that belongs to a merchant (decision 0054). */
const MERCHANT_COLUMN = "merchant_id";

/** Small tables that are mostly read, and that statements of merchants need on their node (decision 0165). */
const ON_EACH_NODE: ReadonlySet<string> = new Set(["facilities", "facility_rates"]);

/** Where a table should be. */
export function placementOf({ name, keyColumn }: Pick<Table, "name" | "keyColumn">): Placement {
  if (name === ROOT || keyColumn === MERCHANT_COLUMN) return "by merchant";
  return ON_EACH_NODE.has(name) ? "on each node" : "on the coordinator";
}

export const distributionColumnOf = (table: string): string =>
  table === ROOT ? ROOT_COLUMN : MERCHANT_COLUMN;

/** A database is distributed as soon as one of its tables is. */
export const isDistributed = (tables: readonly Table[]): boolean =>
  tables.some(({ placement }) => placement !== "on the coordinator");

export const misplacedTables = (tables: readonly Table[]): Table[] =>
  tables.filter((table) => table.placement !== placementOf(table));

/**
 * The tables that `distribute` has to move, in an order that Citus permits: copies for each node first, then the root,
 * then each table after those that it references.
 */
export function tablesToMove(tables: readonly Table[]): Table[] {
  const misplaced = misplacedTables(tables);
  const moved = new Map<string, Table>();
  const move = (table: Table): void => {
    if (moved.has(table.name)) return;
    for (const name of table.references) {
      const referenced = misplaced.find((other) => other.name === name);
      if (referenced !== undefined && referenced !== table) move(referenced);
    }
    moved.set(table.name, table);
  };
  for (const table of misplaced) if (placementOf(table) === "on each node") move(table);
  for (const table of misplaced) if (table.name === ROOT) move(table);
  for (const table of misplaced) move(table);
  return [...moved.values()];
}
