import type { Merchant } from "../../merchants/merchants-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { ImportErrors } from "./import-errors.ts";
import { type ImportHeader, type ImportRow, readHeader, readRow } from "./import-row.ts";
import { listOwnProducts } from "./import-sql.ts";
import { type CsvRow, InvalidCsvError, readCsv } from "./read-csv.ts";
import type { Spool } from "./spool.ts";

/** What one transaction can store in about ten seconds. A larger catalog is split into several files. */
export const IMPORT_ROWS_MAX = 500_000;
/** Rows per statement. */
const BATCH_SIZE = 1_000;

type ImportFile = { readonly bytes: AsyncIterable<Buffer>; readonly spool: Spool<ImportRow> };
type CheckedFile = { readonly header: ImportHeader; readonly errors: ImportErrors };

/** Validates a file as it arrives. Rows are spooled as long as the file has no error. */
export async function checkFile(
  db: Queryable,
  merchant: Merchant,
  { bytes, spool }: ImportFile,
): Promise<CheckedFile> {
  const errors = new ImportErrors();
  const rows = new CheckedRows({ db, merchant, spool, errors });
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
    await rows.flush();
  } catch (error) {
    if (!(error instanceof InvalidCsvError)) throw error;
    await rows.flush();
    errors.add([{ line: error.line, detail: `${error.message}; the following rows were not read` }]);
  }
  if (header === null && errors.count === 0) errors.add([{ line: 1, detail: "the header row is missing" }]);
  return { header: header ?? [], errors };
}

type RowsContext = {
  readonly db: Queryable;
  readonly merchant: Merchant;
  readonly spool: Spool<ImportRow>;
  readonly errors: ImportErrors;
};

/** Checks each row, and the ids of a batch of rows together. */
class CheckedRows {
  readonly #context: RowsContext;
  readonly #idsSeen = new Set<string>();
  #batch: { line: number; row: ImportRow }[] = [];
  #count = 0;

  constructor(context: RowsContext) {
    this.#context = context;
  }

  get isFull(): boolean {
    return this.#count > IMPORT_ROWS_MAX;
  }

  async add(csvRow: CsvRow, header: ImportHeader): Promise<void> {
    const { errors, merchant } = this.#context;
    const { line } = csvRow;
    this.#count += 1;
    if (this.isFull) return errors.add([{ line, detail: `exceeds the limit of ${IMPORT_ROWS_MAX} rows` }]);
    const row = readRow(csvRow, header, merchant.currency);
    if ("errors" in row) return errors.add(row.errors);
    if (row.id !== null && this.#idsSeen.has(row.id))
      return errors.add([{ line, column: "id", detail: "is also the id of an earlier row" }]);
    if (row.id !== null) this.#idsSeen.add(row.id);
    this.#batch.push({ line, row });
    if (this.#batch.length === BATCH_SIZE) await this.flush();
  }

  async flush(): Promise<void> {
    const { db, merchant, spool, errors } = this.#context;
    const batch = this.#batch;
    this.#batch = [];
    const ids = batch.flatMap(({ row }) => row.id ?? []);
    const own = new Set(ids.length === 0 ? [] : await listOwnProducts(db, merchant.id, ids));
    for (const { line, row } of batch)
      if (row.id !== null && !own.has(row.id))
        errors.add([{ line, column: "id", detail: "is not a product of the merchant" }]);
    if (errors.count === 0 && batch.length > 0) await spool.add(batch.map(({ row }) => row));
  }
}
