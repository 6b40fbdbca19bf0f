import { type Static, Type } from "typebox";
import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import { inTransaction } from "../platform/context.ts";
import { type Database, planBatch, type Queryable } from "../platform/database/database.ts";
import { fromTypeId, parseUuid, toTypeId } from "../platform/ids.ts";
import { damageOf } from "../platform/tables/damage.ts";
import type { Columns } from "../platform/tables/header.ts";
import {
  asInFile,
  type FileFindings,
  ImportErrors,
  type ImportOptions,
  inBatches,
  namedRow,
  SeenValues,
  type TemporaryFile,
  type TypedRecord,
  validRows,
  withTemporaryFile,
} from "../platform/tables/import-file.ts";
import { columnOf, type Recognised, type RowError, readTable } from "../platform/tables/read-table.ts";
import type { Problem } from "../platform/wire/problems.ts";
import { createCheck } from "../platform/wire/validation.ts";
import { IMPORT_ROWS_MAX } from "../products/import/check-file.ts";
import type { ImportContext } from "../products/import/import-products.ts";
import { findNamedProducts, type NamedProduct } from "../products/name-products.ts";
import {
  ADJUSTMENT_REASONS,
  listAdjustments,
  ON_HAND_MAX,
  type StockMovement,
} from "../stock/stock-movements-sql.ts";
import { beginStocking, lockStock, readStockOf, type StockRecord } from "../stock/stock-sql.ts";
import { rangeOf, type StockChange, storeStockChanges } from "./set-stock.ts";

const STOCK_COLUMNS: Columns = {
  known: ["merchantId", "productId", "sku", "barcode", "onHand", "difference", "reason", "note", "reference"],
  ignored: ["name", "reserved", "available"],
  identifiers: ["sku", "barcode", "reference"],
  numbers: ["onHand", "difference"],
  choices: { reason: ADJUSTMENT_REASONS },
  jsonLines: true,
};

/** A row as the routes for one product take it. */
const RowSchema = Type.Object({
  merchantId: Type.Optional(Type.String()),
  productId: Type.Optional(Type.String({ format: "uuid" })),
  sku: Type.Optional(Type.String({ minLength: 1, maxLength: 255, format: "text" })),
  barcode: Type.Optional(Type.String({ minLength: 1, maxLength: 100, format: "text" })),
  onHand: Type.Optional(Type.Integer({ minimum: 0, maximum: ON_HAND_MAX })),
  difference: Type.Optional(Type.Integer({ minimum: -ON_HAND_MAX, maximum: ON_HAND_MAX })),
  reason: Type.Optional(Type.Enum([...ADJUSTMENT_REASONS])),
  note: Type.Optional(Type.String({ minLength: 1, maxLength: 500, format: "text" })),
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 255, format: "text" })),
});
const check = createCheck(RowSchema);

/** What a row wants: a quantity, or a difference that counts once. */
type StockRequest =
  | { readonly kind: "set"; readonly onHand: number }
  | ({ readonly kind: "adjusted"; readonly reference: string } & Pick<
      StockMovement,
      "difference" | "reason" | "note"
    >);

type ReadRow = { readonly named: NamedProduct; readonly request: StockRequest };
/** A valid row, as it is kept on disk. */
type StockRow = {
  readonly line: number;
  readonly merchantId: string;
  readonly productId: string;
  /** As the row names the product. */
  readonly code: string;
  readonly request: StockRequest;
};

/** Rows per statement and transaction: the stock of as many products is locked for some hundredths of a second. */
const BATCH_SIZE = 500;
/** Rows that a response lists, of each kind. */
export const STOCK_ROWS_LISTED_MAX = 1_000;

export type StockImported = FileFindings & {
  readonly changed: number;
  readonly unchanged: number;
  readonly rejected: number;
  /** The first rows that change. */
  readonly changes: readonly StockRowChange[];
  /** The first rows that the stock itself forbids, or that are invalid. */
  readonly rejections: readonly RowError[];
};
type StockRowChange = {
  readonly line: number;
  readonly productId: string;
  /** As the row names the product. */
  readonly code: string;
  /** Null: the facility had no record. */
  readonly onHandBefore: number | null;
  readonly onHand: number;
};

type StockFile = ImportOptions & {
  readonly bytes: AsyncIterable<Buffer>;
  /** The merchant of rows that name none. */
  readonly merchantId: string | null;
  /** Rows with errors are left out, and the others are imported. */
  readonly skipInvalid: boolean;
};

/**
 * Sets or adjusts the stock of many products at a facility (docs/design/fulfilment.md, "Imports of stock"). The file is checked
 * as it arrives: with an error in it nothing is stored. Then the rows are stored batch by batch, each in a transaction. A row
 * that the stock forbids at that moment is left out and reported. What was not stored yet, the same file stores.
 */
export async function importStock(
  context: ImportContext,
  facilityId: string,
  file: StockFile,
  by: Initiator,
): Promise<StockImported | Problem> {
  const errors = new ImportErrors(file.skipInvalid);
  return withTemporaryFile<StockRow, StockImported | Problem>(
    context.config.dataDir,
    async (temporaryFile) => {
      const recognised = await checkStockFile(context.db, file, errors, temporaryFile);
      if (errors.isFinal) return errors.toProblem();
      const summary = new Summary();
      for await (const batch of temporaryFile.batches())
        for (const [owner, rows] of byMerchant(batch))
          await importRows(context, { merchantId: owner, facilityId }, rows, {
            ...{ dryRun: file.dryRun, by, summary },
          });
      return summary.with(errors, recognised);
    },
  );
}

type Batch = { readonly dryRun: boolean; readonly by: Initiator; readonly summary: Summary };

/** Decides without locks first: rows that change nothing open no transaction. */
async function importRows(
  context: ImportContext,
  place: Place,
  rows: readonly StockRow[],
  { dryRun, by, summary }: Batch,
): Promise<void> {
  const decided = await inPlannedBatch(context.db, (tx) => decideRows(tx, place, rows));
  const changing = decided.filter(({ outcome }) => outcome !== "unchanged");
  summary.add(decided.filter(({ outcome }) => outcome === "unchanged"));
  if (changing.length === 0) return;
  const changed = changing.map(({ row }) => row);
  summary.add(dryRun ? changing : await storeRows(context, place, changed, by));
}

/** A plan that was made while a table was small would read all of it for each row of the later batches. */
const inPlannedBatch = <Result>(db: Database, read: (tx: Queryable) => Promise<Result>): Promise<Result> =>
  db.transaction(async (tx) => {
    await planBatch(tx);
    return read(tx);
  });

/** In the order of their ids, as all transactions lock stock. */
const byMerchant = (rows: readonly StockRow[]): [merchantId: string, rows: StockRow[]][] =>
  [...Map.groupBy(rows, ({ merchantId }) => merchantId)].sort(([one], [other]) => (one < other ? -1 : 1));

type Place = { readonly merchantId: string; readonly facilityId: string };

type DecidedRow = { readonly row: StockRow } & (
  | { readonly outcome: "changed"; readonly change: StockChange }
  | { readonly outcome: "unchanged" }
  | { readonly outcome: "rejected"; readonly error: RowError }
);

async function storeRows(
  context: ImportContext,
  place: Place,
  rows: readonly StockRow[],
  by: Initiator,
): Promise<DecidedRow[]> {
  const { merchantId, facilityId } = place;
  return inTransaction({ ...context, db: context.storing }, async (tx) => {
    await planBatch(tx);
    const set = rows.filter(({ request }) => request.kind === "set").map(({ productId }) => productId);
    await beginStocking(tx, merchantId, set);
    await lockStock(
      tx,
      rows.map(({ productId: id }) => ({ merchantId, id })),
    );
    const decided = await decideRows(tx, place, rows);
    const changes = decided.flatMap((row) => (row.outcome === "changed" ? [row.change] : []));
    if (changes.length === 0) return decided;
    await storeStockChanges(tx, context, place, changes, by);
    const details = { facilityId: toTypeId("fac", facilityId), changed: changes.length };
    const ids = changes.map(({ productId }) => productId);
    await recordAudit(tx, context, by, { merchantId, subject: "product", ids, details });
    return decided;
  });
}

/** What rows of a merchant do to the stock as it is. */
async function decideRows(
  db: Queryable,
  { merchantId, facilityId }: Place,
  rows: readonly StockRow[],
): Promise<DecidedRow[]> {
  const ids = rows.map(({ productId }) => productId);
  const stock = await readStockOf(db, facilityId, merchantId, ids);
  const keys = rows.flatMap(({ productId, request }) =>
    request.kind === "adjusted" ? [{ productId, reference: request.reference }] : [],
  );
  const earlier = await listAdjustments(db, facilityId, merchantId, keys);
  const madeOf = new Map(earlier.map((movement) => [movement.productId, movement]));
  return rows.map((row) => decide(row, stock.get(row.productId) ?? null, madeOf.get(row.productId)));
}

/** The rules of `setStock` and `adjustStock`. */
function decide(row: StockRow, before: StockRecord | null, earlier: StockMovement | undefined): DecidedRow {
  const { line, productId, request } = row;
  const rejected = (error: RowError): DecidedRow => ({ row, outcome: "rejected", error });
  if (request.kind === "set") {
    const { onHand } = request;
    if (before?.onHand === onHand) return { row, outcome: "unchanged" };
    if (before !== null && onHand < before.reserved)
      return rejected({ line, column: "onHand", rule: "reserved_quantity", min: before.reserved });
    const change = { kind: "set", productId, before, onHand, ...NO_REASON } as const;
    return { row, outcome: "changed", change };
  }
  const { difference, reason, note, reference } = request;
  if (before === null)
    return rejected({ line, column: "difference", rule: "not_found", kind: "stock_record" });
  if (earlier !== undefined)
    return earlier.difference === difference && earlier.reason === reason
      ? { row, outcome: "unchanged" }
      : rejected({ line, column: "reference", rule: "reference_used", usedFor: "stock_adjustment" });
  const { lowest: min, highest: max } = rangeOf(before);
  if (difference < min || difference > max)
    return rejected({ line, column: "difference", rule: "stock_difference", min, max });
  const onHand = before.onHand + difference;
  return {
    row,
    outcome: "changed",
    change: { kind: "adjusted", productId, before, onHand, reason, note, reference },
  };
}

const NO_REASON = { reason: null, note: null, reference: null };

/** Counts the rows, and lists the first of those that are not as they were. */
class Summary {
  readonly #counts = { changed: 0, unchanged: 0, rejected: 0 };
  readonly #changes: StockRowChange[] = [];
  readonly #rejections: RowError[] = [];

  add(rows: readonly DecidedRow[]): void {
    for (const decided of rows) {
      this.#counts[decided.outcome] += 1;
      const { line, productId, code } = decided.row;
      if (decided.outcome === "rejected" && this.#rejections.length < STOCK_ROWS_LISTED_MAX)
        this.#rejections.push(decided.error);
      if (decided.outcome === "changed" && this.#changes.length < STOCK_ROWS_LISTED_MAX) {
        const { before, onHand } = decided.change;
        this.#changes.push({ line, productId, code, onHandBefore: before?.onHand ?? null, onHand });
      }
    }
  }

  /** With the rows that were left out because they are invalid. */
  with({ rejected, rejections, warnings }: ImportErrors, recognised: Recognised): StockImported {
    const byLine = (one: { line: number }, other: { line: number }) => one.line - other.line;
    const all = [...this.#rejections, ...rejections].sort(byLine);
    return {
      ...this.#counts,
      rejected: this.#counts.rejected + rejected,
      changes: this.#changes.sort(byLine),
      rejections: all.slice(0, STOCK_ROWS_LISTED_MAX),
      warnings,
      recognised,
    };
  }
}

/** Validates a file as it arrives. Rows go to a temporary file as long as they can be imported. */
async function checkStockFile(
  db: Database,
  { bytes, merchantId, asWritten }: StockFile,
  errors: ImportErrors,
  temporaryFile: TemporaryFile<StockRow>,
): Promise<Recognised> {
  const seen = new SeenValues();
  const { records, recognised } = await readTable(bytes, STOCK_COLUMNS, errors.report);
  const columns = STOCK_COLUMNS;
  const options = { errors, asWritten, max: IMPORT_ROWS_MAX, named: ["sku", "barcode"], columns };
  const rows = validRows(records, options, (record) => readRow(record, merchantId, asWritten));
  for await (const batch of inBatches(rows, BATCH_SIZE)) {
    const named = batch.map((row) => row.named);
    const products = await inPlannedBatch(db, (tx) => findNamedProducts(tx, named, asWritten));
    const valid = batch.flatMap(({ named, request }, index): StockRow[] => {
      const product = products[index];
      if (product === undefined) return [];
      const { line, sku, barcode } = named;
      const code = named.productId ?? sku ?? barcode ?? "";
      if ("rule" in product) {
        errors.add([product], namedRow(named, sku ?? barcode));
        return [];
      }
      const { merchantId, id: productId } = product;
      if (seen.add("id", productId) === null) return [{ line, merchantId, productId, code, request }];
      errors.add([{ line, rule: "earlier_row", field: "productId" }], namedRow(named, sku ?? barcode));
      return [];
    });
    if (!errors.isFinal && valid.length > 0) await temporaryFile.add(valid);
  }
  return recognised;
}

/** A row that is valid without regard to other rows, or its errors. */
function readRow(
  { line, typed, formulas }: TypedRecord,
  defaultMerchantId: string | null,
  asWritten: boolean,
): ReadRow | { readonly errors: readonly RowError[] } {
  const invalid = check(typed).map(
    ({ pointer, ...violation }): RowError => ({ line, ...columnOf(pointer), ...asInFile(violation) }),
  );
  const row = typed as Static<typeof RowSchema>; // Valid as far as the check has found no error.
  const merchantId = row.merchantId === undefined ? defaultMerchantId : fromTypeId("mer", row.merchantId);
  const errors = [...invalid, ...combinationErrors(line, row)];
  if (row.merchantId !== undefined && merchantId === null)
    errors.push({ line, column: "merchantId", rule: "id_prefix", prefix: "mer_" });
  const damage =
    row.reference === undefined || asWritten ? null : damageOf(row.reference, formulas.includes("reference"));
  if (damage !== null) errors.push({ line, column: "reference", rule: "damaged", damage });
  if (errors.length > 0) return { errors };
  const { sku = null, barcode = null, onHand, difference = 0, reason = null, note = null } = row;
  const productId = row.productId === undefined ? null : parseUuid(row.productId);
  const request: StockRequest =
    onHand === undefined
      ? { kind: "adjusted", difference, reason, note, reference: row.reference ?? "" } // Required beside a difference.
      : { kind: "set", onHand };
  return { named: { line, merchantId, productId, sku, barcode, formulas }, request };
}

/** A row sets or adjusts, and an adjustment has a reason, and a reference so that a repeated file does not repeat it. */
function combinationErrors(line: number, row: Static<typeof RowSchema>): RowError[] {
  const at = (column: string) => ({ line, column });
  const { productId, sku, barcode, onHand, difference, reason, reference } = row;
  const isNamed = productId !== undefined || sku !== undefined || barcode !== undefined;
  const others = ["barcode", "productId"];
  const unnamed: RowError[] = isNamed ? [] : [{ ...at("sku"), rule: "one_required", others }];
  if ((onHand === undefined) === (difference === undefined))
    return [...unnamed, { ...at("onHand"), rule: "either", field: "difference" }];
  if (difference === undefined)
    return [
      ...unnamed,
      ...(["reason", "note", "reference"] as const)
        .filter((column) => row[column] !== undefined)
        .map((column): RowError => ({ ...at(column), rule: "only_with", field: "difference" })),
    ];
  return [
    ...unnamed,
    ...(difference === 0 ? [{ ...at("difference"), rule: "not_zero" } as const] : []),
    ...(reason === undefined ? [{ ...at("reason"), rule: "required" } as const] : []),
    ...(reference === undefined ? [{ ...at("reference"), rule: "required" } as const] : []),
  ];
}
