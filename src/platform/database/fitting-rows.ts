/** Where reading ended: the last row of the part, and how many rows it has. */
type PartEnd = { readonly last_id: string | null; readonly read_count: number };

/** A row of a statement with `selectFitting`. The row's own columns are missing if none fits. */
export type FittingRow<Row extends { id: string }> = Partial<Row> & PartEnd;

/**
 * Part of a statement that reads a bounded number of rows, as `part`, and then filters them (decision 0067): where
 * reading ended. A lateral join of the rows that fit, as `f`, follows.
 */
export const selectFitting = (
  order: "oldest first" | "newest first",
): string => `select p.last_id, p.read_count, f.*
      from (
        select (array_agg(part.id order by part.id${order === "oldest first" ? " desc" : ""}))[1] as last_id,
               count(*)::integer as read_count
        from part
      ) as p`;

type Fitting<Row> = {
  readonly found: readonly Row[];
  /** The last row that was read, if reading ended before the list did. Null if all were read. */
  readonly readTo: string | null;
};

/** @param readMax how many rows the statement reads at most */
export function toFitting<Row extends { id: string }>(
  rows: readonly FittingRow<Row>[],
  readMax: number,
): Fitting<Row> {
  const [first] = rows;
  return {
    found: rows.filter(isFound),
    readTo: first?.read_count === readMax ? first.last_id : null,
  };
}

/** The join returns one row without an id if none fits. */
const isFound = <Row extends { id: string }>(row: FittingRow<Row>): row is FittingRow<Row> & Row =>
  typeof row.id === "string";
