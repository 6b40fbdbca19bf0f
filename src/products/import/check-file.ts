import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Merchant } from "../../merchants/merchants-sql.ts";
import { type Database, planBatch, type Queryable } from "../../platform/database/database.ts";
import { describedErrors, type Problem } from "../../platform/wire/problems.ts";
import { listOwnProducts } from "../products-sql.ts";
import {
  type CsvRow,
  type ImportError,
  type ImportHeader,
  type ImportRow,
  InvalidCsvError,
  readCsv,
  readHeader,
  readRow,
} from "./import-row.ts";
import { compareImported, listBarcodeOwners, listSkuOwners } from "./import-sql.ts";

/** The SKUs of the rows of a file so far. */
class SeenSkus {
  /** By digest, because half a million SKUs of 255 characters would take much memory: whether a row had no id. */
  readonly #withoutId = new Map<string, boolean>();

  /**
   * Adds the SKU of a row. Returns true if the file does not determine which product is meant: an earlier row has the same SKU,
   * and one of the two has no id.
   */
  add(sku: string, hasId: boolean): boolean {
    const digest = createHash("sha256").update(sku).digest("base64").slice(0, 20);
    const earlier = this.#withoutId.get(digest);
    this.#withoutId.set(digest, earlier === true || !hasId);
    return earlier !== undefined && (earlier || !hasId);
  }
}

/** What one transaction can store in about ten seconds. A larger catalog is split into several files. */
export const IMPORT_ROWS_MAX = 500_000;
/** Rows per statement. */
const BATCH_SIZE = 1_000;

type ImportFile = {
  readonly bytes: AsyncIterable<Buffer>;
  readonly match: ImportMatch;
  readonly temporaryFile: TemporaryFile<ImportRow>;
};
type CheckedFile = { readonly header: ImportHeader; readonly errors: ImportErrors };

/** Validates a file as it arrives. Rows go to a temporary file as long as the file has no error. */
export async function checkFile(
  db: Database,
  merchant: Merchant,
  { bytes, match, temporaryFile }: ImportFile,
): Promise<CheckedFile> {
  const errors = new ImportErrors();
  const rows = new CheckedRows({ db, merchant, match, temporaryFile, errors });
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
    errors.add([{ line: error.line, rule: "csv", fault: error.fault }]);
  }
  if (header === null && errors.count === 0) errors.add([{ line: 1, rule: "header_row" }]);
  return { header: header ?? [], errors };
}

type RowsContext = {
  readonly db: Database;
  readonly merchant: Merchant;
  readonly match: ImportMatch;
  readonly temporaryFile: TemporaryFile<ImportRow>;
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
    if (this.isFull) return errors.add([{ line, rule: "max_rows", max: IMPORT_ROWS_MAX }]);
    const row = readRow(csvRow, header, merchant.currency);
    if ("errors" in row) return errors.add(row.errors);
    if (row.id !== null && this.#idsSeen.has(row.id))
      return errors.add([{ line, column: "id", rule: "earlier_row", field: "id" }]);
    if (row.id !== null) this.#idsSeen.add(row.id);
    if (match !== "none" && isPadded(row)) return errors.add([{ line, column: "sku", rule: "sku_padded" }]);
    if (match !== "none" && this.#skusSeen.add(row.sku, row.id !== null))
      return errors.add([{ line, column: "sku", rule: "earlier_row", field: "sku" }]);
    if (row.barcode !== null && this.#barcodesSeen.add(row.barcode, false))
      return errors.add([{ line, column: "barcode", rule: "earlier_row", field: "barcode" }]);
    this.#batch.push(row);
    if (this.#batch.length === BATCH_SIZE) await this.flush(header);
  }

  /** Checks the rows of a batch against the catalog. */
  async flush(header: ImportHeader): Promise<void> {
    const { db, merchant, match, temporaryFile, errors } = this.#context;
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
        errors.add([{ line, column: "id", rule: "not_found", kind: "merchant_product" }]);
    const rows = matched.flatMap((row) => {
      const error = "error" in row ? row.error : this.#matchedTwice(row);
      if (error !== null) errors.add([error]);
      if ("error" in row) return [];
      return [{ ...row, differsIn: row.id === null ? null : (differing.get(row.id) ?? null) }];
    });
    if (errors.count === 0 && rows.length > 0) await temporaryFile.add(rows);
  }

  /** The error of a row that changes the product of an earlier row. */
  #matchedTwice({ id, isMatched, line }: ImportRow): ImportError | null {
    if (!isMatched || id === null) return null;
    const isTwice = this.#idsSeen.has(id);
    this.#idsSeen.add(id);
    return isTwice ? { line, column: "sku", rule: "sku_of_other_row" } : null;
  }
}

/**
 * `A-1 ` is the SKU of no product, so without an id it would become a second `A-1`
 * (docs/design/fulfilment.md, "Imports of a catalog").
 */
const isPadded = ({ id, sku }: ImportRow): boolean => id === null && /^\s|\s$/.test(sku);

/**
 * The errors of rows whose barcode another product of the merchant has. A file cannot move a barcode from one product to
 * another: it is removed with one import and given with the next (docs/design/fulfilment.md, "Scanning").
 */
async function findTakenBarcodes(
  db: Queryable,
  merchantId: string,
  rows: readonly ImportRow[],
): Promise<ImportError[]> {
  const owners = await listBarcodeOwners(
    db,
    merchantId,
    rows.flatMap(({ barcode }) => barcode ?? []),
  );
  return rows.flatMap(({ line, id, barcode }) => {
    const owner = barcode === null ? undefined : owners.get(barcode);
    if (owner === undefined || owner === id) return [];
    return [{ line, column: "barcode", rule: "barcode_taken", productId: owner }];
  });
}

/** Further errors are counted, but not listed. */
const ERRORS_LISTED_MAX = 1_000;

/** The errors of a file. */
export class ImportErrors {
  readonly #listed: ImportError[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(errors: readonly ImportError[]): void {
    this.#count += errors.length;
    this.#listed.push(...errors.slice(0, Math.max(0, ERRORS_LISTED_MAX - this.#listed.length)));
  }

  toProblem(): Problem {
    const count = this.#count;
    const many = this.#listed.length < count ? `the first ${this.#listed.length} of them` : "them";
    return {
      code: "validation-failed",
      detail:
        count === 1
          ? "Nothing was imported: the file has 1 error; see errors."
          : `Nothing was imported: the file has ${count} errors; errors lists ${many}.`,
      members: {
        errors: describedErrors(this.#listed.toSorted((a, b) => a.line - b.line)),
        errorCount: count,
      },
    };
  }
}

/**
 * How a row without an id finds its product (docs/design/fulfilment.md, "Imports of a catalog"). `id`: not at all, so a SKU
 * that the merchant has already is an error. `sku`: by the SKU, if one product has it. `none`: not at all, and the SKU may
 * exist.
 */
export const IMPORT_MATCHES = ["id", "sku", "none"] as const;
export type ImportMatch = (typeof IMPORT_MATCHES)[number];

export type MatchedRow = ImportRow | { readonly error: ImportError };

/** Gives rows without an id the product that has their SKU, or the error that forbids to import them. */
async function matchRows(
  db: Queryable,
  merchantId: string,
  match: ImportMatch,
  rows: readonly ImportRow[],
): Promise<MatchedRow[]> {
  const skus = match === "none" ? [] : rows.flatMap(({ id, sku }) => (id === null ? [sku] : []));
  const owners = await listSkuOwners(db, merchantId, skus);
  return rows.map((row) => {
    const owner = row.id === null ? owners.get(row.sku) : undefined;
    if (owner === undefined) return row;
    const at = { line: row.line, column: "sku" };
    if (owner.count > 1)
      return {
        error: { ...at, rule: "sku_ambiguous", count: owner.count },
      };
    if (match === "sku") return { ...row, id: owner.id, isMatched: true };
    return { error: { ...at, rule: "sku_taken", productId: owner.id } };
  });
}

/**
 * True if what `matchRows` has found is still so. Called in the transaction that stores the rows, which other imports of
 * the merchant wait for.
 */
export async function findOutdatedRow(
  tx: Queryable,
  merchantId: string,
  match: ImportMatch,
  rows: readonly ImportRow[],
): Promise<ImportError | null> {
  if (match === "none") return null;
  const bySku = rows.filter(({ id, isMatched }) => id === null || isMatched);
  const owners = await listSkuOwners(
    tx,
    merchantId,
    bySku.map(({ sku }) => sku),
  );
  const outdated = bySku.find(({ id, sku }) => {
    const owner = owners.get(sku);
    return id === null ? owner !== undefined : owner?.id !== id || owner.count !== 1;
  });
  return outdated === undefined
    ? null
    : {
        ...{ line: outdated.line, column: "sku" },
        rule: "given_away",
      };
}

/** Stores batches on disk that together are too large for memory. They can be read repeatedly. */
export type TemporaryFile<T> = {
  add(batch: readonly T[]): Promise<void>;
  batches(): AsyncGenerator<T[]>;
  /** Frees the disk space. */
  close(): Promise<void>;
};

type Extent = { readonly position: number; readonly length: number };

/** The file is unlinked at once, so nothing is left of it however the process ends. */
export async function createTemporaryFile<T>(): Promise<TemporaryFile<T>> {
  const path = join(tmpdir(), `partner-orders-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  const extents: Extent[] = [];
  let end = 0;
  return {
    add: async (batch) => {
      const bytes = Buffer.from(JSON.stringify(batch));
      await file.writeFile(bytes); // At the end of the file. Reads name their position, so nothing else moves it.
      extents.push({ position: end, length: bytes.length });
      end += bytes.length;
    },
    batches: async function* () {
      for (const extent of extents) yield JSON.parse(await readAt(file, extent)) as T[]; // Written by `add`.
    },
    close: () => file.close(),
  };
}

async function readAt(file: FileHandle, { position, length }: Extent): Promise<string> {
  const bytes = Buffer.alloc(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) throw new Error("A temporary file is shorter than what was written to it.");
    filled += bytesRead;
  }
  return bytes.toString();
}
