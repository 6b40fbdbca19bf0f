import { lockMerchant, type Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import { type ImportError, type ImportHeader, type ImportRow, readHeader, readRow } from "./import-row.ts";
import { insertImported, listOwnProducts, updateImported } from "./import-sql.ts";
import { type CsvRow, InvalidCsvError, readCsv } from "./read-csv.ts";
import { createSpool, type Spool } from "./spool.ts";

export type Imported = { created: number; changed: number };

/** Rows of one statement. */
const BATCH_SIZE = 1_000;
/** What one transaction stores, in some ten seconds; a larger catalogue comes in several files. */
export const IMPORT_ROWS_MAX = 500_000;
/** More are counted, but not listed. */
const ERRORS_LISTED_MAX = 1_000;

/**
 * Creates and changes products of a merchant from CSV, all of them or none (decision 0048). First the whole file is
 * read and validated as it arrives, and valid rows wait on disk. Then all are stored in one transaction, which waits
 * for no other party.
 */
export async function importProducts(
  context: Context,
  merchant: Merchant,
  bytes: AsyncIterable<Buffer>,
): Promise<Imported | Problem> {
  const spool = await createSpool<ImportRow>();
  try {
    const { errors, header } = await checkFile(context, merchant, bytes, spool);
    if (errors.count > 0) return importRejected(errors);
    return await inTransaction(context, (tx) => storeAll(tx, context, { merchant, header, spool }));
  } finally {
    await spool.close();
  }
}

type Checked = { readonly header: ImportHeader; readonly errors: ImportErrors };

async function checkFile(
  { db }: Context,
  merchant: Merchant,
  bytes: AsyncIterable<Buffer>,
  spool: Spool<ImportRow>,
): Promise<Checked> {
  const errors = createImportErrors();
  const batcher = createBatcher(db, merchant, errors, spool);
  let header: ImportHeader | null = null;
  try {
    for await (const row of readCsv(bytes)) {
      if (header !== null) {
        await batcher.take(row, header);
        if (batcher.isFull()) break;
        continue;
      }
      const read = readHeader(row);
      if ("errors" in read) {
        errors.add(read.errors);
        break; // Without the columns the rows mean nothing.
      }
      header = read;
    }
    await batcher.flush();
  } catch (error) {
    if (!(error instanceof InvalidCsvError)) throw error;
    await batcher.flush();
    errors.add([{ line: error.line, detail: `${error.message}; the following rows were not read` }]);
  }
  if (header === null && errors.count === 0) errors.add([{ line: 1, detail: "the header row is missing" }]);
  return { header: header ?? [], errors };
}

/** Gathers rows to batches, whose ids are then looked up together. */
function createBatcher(db: Queryable, merchant: Merchant, errors: ImportErrors, spool: Spool<ImportRow>) {
  let batch: { line: number; row: ImportRow }[] = [];
  const idsSeen = new Set<string>();
  let rows = 0;

  async function flush(): Promise<void> {
    const ids = batch.flatMap(({ row }) => row.id ?? []);
    const own = new Set(ids.length === 0 ? [] : await listOwnProducts(db, merchant.id, ids));
    for (const { line, row } of batch)
      if (row.id !== null && !own.has(row.id))
        errors.add([{ line, column: "id", detail: "is not a product of the merchant" }]);
    if (errors.count === 0 && batch.length > 0) await spool.add(batch.map(({ row }) => row));
    batch = [];
  }

  return {
    flush,
    isFull: () => rows > IMPORT_ROWS_MAX,
    take: async (csvRow: CsvRow, header: ImportHeader): Promise<void> => {
      const { line } = csvRow;
      rows += 1;
      if (rows > IMPORT_ROWS_MAX)
        return errors.add([{ line, detail: `exceeds the limit of ${IMPORT_ROWS_MAX} rows` }]);
      const row = readRow(csvRow, header, merchant.currency);
      if ("errors" in row) return errors.add(row.errors);
      if (row.id !== null && idsSeen.has(row.id))
        return errors.add([{ line, column: "id", detail: "is also the id of an earlier row" }]);
      if (row.id !== null) idsSeen.add(row.id);
      batch.push({ line, row });
      if (batch.length === BATCH_SIZE) await flush();
    },
  };
}

type ImportErrors = {
  readonly count: number;
  readonly listed: readonly ImportError[];
  add(errors: ImportError[]): void;
};

function createImportErrors(): ImportErrors {
  const listed: ImportError[] = [];
  let count = 0;
  return {
    get count() {
      return count;
    },
    listed,
    add: (errors) => {
      count += errors.length;
      listed.push(...errors.slice(0, Math.max(0, ERRORS_LISTED_MAX - listed.length)));
    },
  };
}

function importRejected({ count, listed }: ImportErrors): Problem {
  const many = listed.length < count ? `the first ${listed.length} of them` : "them";
  return {
    code: "validation-failed",
    detail:
      count === 1
        ? "Nothing was imported: the file has 1 error; see errors."
        : `Nothing was imported: the file has ${count} errors; errors lists ${many}.`,
    members: { errors: listed.toSorted((a, b) => a.line - b.line), errorCount: count },
  };
}

type Storable = { merchant: Merchant; header: ImportHeader; spool: Spool<ImportRow> };

async function storeAll(
  tx: Queryable,
  { clock, newId }: Context,
  { merchant, header, spool }: Storable,
): Promise<Imported> {
  await lockMerchant(tx, merchant.id); // One import of a merchant after the other: they may change the same products.
  const now = clock.now();
  const imported = { created: 0, changed: 0 };
  for await (const batch of spool.batches()) {
    const [created, changed] = [batch.filter(({ id }) => id === null), batch.filter(({ id }) => id !== null)];
    // Ids are made here and not while the file arrives, so that products are listed by when they came to be.
    const withIds = created.map((row) => ({ ...row, id: newId() }));
    if (withIds.length > 0) await insertImported(tx, merchant, withIds, now);
    if (changed.length > 0) {
      const found = await updateImported(tx, merchant.id, header, changed, now);
      if (found !== changed.length) throw new Error("A product is gone, and products are never deleted.");
    }
    imported.created += created.length;
    imported.changed += changed.length;
  }
  return imported;
}
