import type { Merchant } from "../../merchants/merchants-sql.ts";
import type { Database } from "../../platform/database/database.ts";
import { planBatch } from "../../platform/database/transaction-settings.ts";
import { listOwnProducts } from "../products-sql.ts";
import { findTakenBarcodes } from "./barcodes.ts";
import { ImportErrors } from "./import-errors.ts";
import { type ImportError, type ImportHeader, type ImportRow, readHeader, readRow } from "./import-row.ts";
import { compareImported } from "./import-sql.ts";
import { type ImportMatch, matchRows } from "./match-rows.ts";
import { type CsvRow, InvalidCsvError, readCsv } from "./read-csv.ts";
import { SeenSkus } from "./seen-skus.ts";
import type { Spool } from "./spool.ts";

/** What one transaction can store in about ten seconds. A larger catalog is split into several files. */
export const IMPORT_ROWS_MAX = 500_000;
/** Rows per statement. */
const BATCH_SIZE = 1_000;

type ImportFile = {
  readonly bytes: AsyncIterable<Buffer>;
  readonly match: ImportMatch;
  readonly spool: Spool<ImportRow>;
};
type CheckedFile = { readonly header: ImportHeader; readonly errors: ImportErrors };

/** Validates a file as it arrives. Rows are spooled as long as the file has no error. */
export async function checkFile(
  db: Database,
  merchant: Merchant,
  { bytes, match, spool }: ImportFile,
): Promise<CheckedFile> {
  const errors = new ImportErrors();
  const rows = new CheckedRows({ db, merchant, match, spool, errors });
  let header: ImportHeader | null = null;
  try {
    for await (const row of readCsv(bytes)) {
      if (header !== null) {
        await rows.add(row, header);
        if (rows.isFull) break;
        continue;
      }
      const read = readHeader(row);
      if ("errors" in read) {
        errors.add(read.errors);
        break; // Without the columns, the rows have no meaning.
      }
      header = read;
    }
    await rows.flush(header ?? []);
  } catch (error) {
    if (!(error instanceof InvalidCsvError)) throw error;
    await rows.flush(header ?? []);
    errors.add([{ line: error.line, detail: `${error.message}; the following rows were not read` }]);
  }
  if (header === null && errors.count === 0) errors.add([{ line: 1, detail: "the header row is missing" }]);
  return { header: header ?? [], errors };
}

type RowsContext = {
  readonly db: Database;
  readonly merchant: Merchant;
  readonly match: ImportMatch;
  readonly spool: Spool<ImportRow>;
  readonly errors: ImportErrors;
};

/** Checks each row, and the ids and SKUs of a batch of rows together. */
class CheckedRows {
  readonly #context: RowsContext;
  readonly #idsSeen = new Set<string>();
  readonly #skusSeen = new SeenSkus();
  readonly #barcodesSeen = new SeenSkus();
  #batch: ImportRow[] = [];
  #count = 0;

  constructor(context: RowsContext) {
    this.#context = context;
  }

  get isFull(): boolean {
    return this.#count > IMPORT_ROWS_MAX;
  }

  async add(csvRow: CsvRow, header: ImportHeader): Promise<void> {
    const { errors, merchant, match } = this.#context;
    const { line } = csvRow;
    this.#count += 1;
    if (this.isFull) return errors.add([{ line, detail: `exceeds the limit of ${IMPORT_ROWS_MAX} rows` }]);
    const row = readRow(csvRow, header, merchant.currency);
    if ("errors" in row) return errors.add(row.errors);
    if (row.id !== null && this.#idsSeen.has(row.id))
      return errors.add([{ line, column: "id", detail: "is also the id of an earlier row" }]);
    if (row.id !== null) this.#idsSeen.add(row.id);
    if (match !== "none" && isPadded(row)) return errors.add([{ line, column: "sku", detail: PADDED }]);
    if (match !== "none" && this.#skusSeen.add(row.sku, row.id !== null))
      return errors.add([{ line, column: "sku", detail: "is also the SKU of an earlier row" }]);
    if (row.barcode !== null && this.#barcodesSeen.add(row.barcode, false))
      return errors.add([{ line, column: "barcode", detail: "is also the barcode of an earlier row" }]);
    this.#batch.push(row);
    if (this.#batch.length === BATCH_SIZE) await this.flush(header);
  }

  /** Checks the rows of a batch against the catalog. */
  async flush(header: ImportHeader): Promise<void> {
    const { db, merchant, match, spool, errors } = this.#context;
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length === 0) return;
    const ids = batch.flatMap(({ id }) => id ?? []);
    const { own, matched, taken, differing } = await db.transaction(async (tx) => {
      await planBatch(tx);
      const found = ids.length === 0 ? [] : await listOwnProducts(tx, merchant.id, ids);
      const matched = await matchRows(tx, merchant.id, match, batch);
      const valid = matched.flatMap((row) => ("error" in row ? [] : [row]));
      const existing = valid.filter(({ id }) => id !== null);
      return {
        own: new Set(found),
        matched,
        taken: await findTakenBarcodes(tx, merchant.id, valid),
        differing: await compareImported(tx, merchant.id, header, existing),
      };
    });
    errors.add(taken);
    for (const { line, id } of batch)
      if (id !== null && !own.has(id))
        errors.add([{ line, column: "id", detail: "is not a product of the merchant" }]);
    const rows = matched.flatMap((row) => {
      const error = "error" in row ? row.error : this.#matchedTwice(row);
      if (error !== null) errors.add([error]);
      if ("error" in row) return [];
      return [{ ...row, differsIn: row.id === null ? null : (differing.get(row.id) ?? null) }];
    });
    if (errors.count === 0 && rows.length > 0) await spool.add(rows);
  }

  /** The error of a row that changes the product of an earlier row. */
  #matchedTwice({ id, isMatched, line }: ImportRow): ImportError | null {
    if (!isMatched || id === null) return null;
    const isTwice = this.#idsSeen.has(id);
    this.#idsSeen.add(id);
    return isTwice
      ? { line, column: "sku", detail: "is the SKU of a product that another row changes" }
      : null;
  }
}

/** `A-1 ` is the SKU of no product, so without an id it would become a second `A-1` (decision 0191). */
const isPadded = ({ id, sku }: ImportRow): boolean => id === null && /^\s|\s$/.test(sku);
const PADDED = "must not begin or end with a space, unless the row has the id of its product";
