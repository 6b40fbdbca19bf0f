import { hash, randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Merchant } from "../../merchants/merchants-sql.ts";
import { barcodeKey } from "../../platform/codes.ts";
import { makeDataDir } from "../../platform/data-dir.ts";
import { type Database, planBatch, type Queryable } from "../../platform/database/database.ts";
import { describedErrors, type Problem } from "../../platform/wire/problems.ts";
import { type CsvRow, InvalidFileError, readCsv } from "../../platform/wire/read-rows.ts";
import { listOwnProducts } from "../products-sql.ts";
import { type ImportError, type ImportHeader, type ImportRow, readHeader, readRow } from "./import-row.ts";
import { compareImported, listBarcodeOwners, listSkuOwners } from "./import-sql.ts";

/**
 * What the rows of a file have in their columns so far. Each value is kept as 63 bits of its digest, in an array: half a million
 * ids, SKUs and barcodes take 16 MB, whatever their length, and the garbage collector does not visit them.
 */
export class SeenValues {
  /** Two words for each value: its digest, whose last bit is the mark. No value: two zeros. Its length is a power of two. */
  #slots = new Uint32Array(2 * 1_024);
  #count = 0;

  /** Adds a value of a column with a mark. Returns whether an earlier row has it: with the mark, without it, or null. */
  add(column: "id" | "sku" | "barcode" | "parcel", value: string, mark = false): boolean | null {
    const digest = hash("sha256", `${column} ${value}`, "buffer");
    const [high, low] = [digest.readUInt32LE(0) || 1, digest.readUInt32LE(4) & ~1];
    const slot = slotOf(this.#slots, high, low);
    const last = this.#slots[slot + 1] ?? 0;
    const isKnown = this.#slots[slot] !== 0;
    this.#slots[slot] = high;
    this.#slots[slot + 1] = low | (isKnown ? last & 1 : 0) | (mark ? 1 : 0);
    if (isKnown) return (last & 1) === 1;
    this.#count += 1;
    if (this.#count > (this.#slots.length / 2) * FILLED_MAX) this.#grow();
    return null;
  }

  #grow(): void {
    const slots = new Uint32Array(2 * this.#slots.length);
    for (let from = 0; from < this.#slots.length; from += 2) {
      const [high = 0, low = 0] = this.#slots.subarray(from, from + 2);
      if (high === 0) continue;
      slots.set([high, low], slotOf(slots, high, low & ~1));
    }
    this.#slots = slots;
  }
}

const FILLED_MAX = 0.75;

/** The slot of a digest, or the free one where it belongs. */
function slotOf(slots: Uint32Array, high: number, low: number): number {
  let slot = low & (slots.length - 1); // Even, as `low` is.
  while (slots[slot] !== 0 && (slots[slot] !== high || ((slots[slot + 1] ?? 0) & ~1) !== low))
    slot = (slot + 2) & (slots.length - 1);
  return slot;
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
    if (!(error instanceof InvalidFileError)) throw error;
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
  readonly #seen = new SeenValues();
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
    if (row.id !== null && this.#seen.add("id", row.id) !== null)
      return errors.add([{ line, column: "id", rule: "earlier_row", field: "id" }]);
    if (match !== "none" && isPadded(row)) return errors.add([{ line, column: "sku", rule: "sku_padded" }]);
    if (match !== "none" && this.#isSkuUnclear(row))
      return errors.add([{ line, column: "sku", rule: "earlier_row", field: "sku" }]);
    if (row.barcode !== null && this.#seen.add("barcode", barcodeKey(row.barcode)) !== null)
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

  /** An earlier row has the same SKU, and one of the two has no id: which product is meant? */
  #isSkuUnclear({ sku, id }: ImportRow): boolean {
    const earlierHasNoId = this.#seen.add("sku", sku, id === null);
    return earlierHasNoId !== null && (earlierHasNoId || id === null);
  }

  /** The error of a row that changes the product of an earlier row. */
  #matchedTwice({ id, isMatched, line }: ImportRow): ImportError | null {
    if (!isMatched || id === null) return null;
    const isTwice = this.#seen.add("id", id) !== null;
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
 * another: it is removed with one import and given with the next (docs/design/fulfilment.md, "Codes of products").
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
    const owner = barcode === null ? undefined : owners.get(barcodeKey(barcode));
    if (owner === undefined || owner.id === id) return [];
    return [{ line, column: "barcode", rule: "barcode_taken", productId: owner.id, sku: owner.sku }];
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

/**
 * The file is unlinked at once, so nothing is left of it however the process ends. It is in `DATA_DIR`, because the folder of
 * the system for such files is often read-only or in memory (docs/design/fulfilment.md, "Imports of a catalog").
 */
export async function createTemporaryFile<T>(dataDir: string): Promise<TemporaryFile<T>> {
  await makeDataDir(dataDir);
  const path = join(dataDir, `import-${randomUUID()}`);
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
