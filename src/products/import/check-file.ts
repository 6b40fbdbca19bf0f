import type { Merchant } from "../../merchants/merchants-sql.ts";
import { barcodeKey } from "../../platform/codes.ts";
import { type Database, planBatch, type Queryable } from "../../platform/database/database.ts";
import {
  damageInColumn,
  damageOfStored,
  hasWrongCheckDigit,
  spellingsOf,
} from "../../platform/tables/damage.ts";
import {
  besides,
  type ImportErrors,
  inBatches,
  namedRow,
  SeenValues,
  type TemporaryFile,
  validRows,
} from "../../platform/tables/import-file.ts";
import { type Recognised, type RowError, readTable } from "../../platform/tables/read-table.ts";
import { listOwnProducts } from "../products-sql.ts";
import { type Before, type ImportHeader, type ImportRow, productColumns, readRow } from "./import-row.ts";
import { compareImported, listBarcodeOwners, listSkuOwners, listSkusInOtherCase } from "./import-sql.ts";

/** What one transaction can store in about ten seconds. A larger catalog is split into several files. */
export const IMPORT_ROWS_MAX = 500_000;
/** Rows per statement. */
const BATCH_SIZE = 1_000;

type CheckedFile = {
  readonly bytes: AsyncIterable<Buffer>;
  readonly match: ImportMatch;
  readonly asWritten: boolean;
  readonly errors: ImportErrors;
  readonly temporaryFile: TemporaryFile<ImportRow>;
};

/** Validates a file as it arrives. Rows go to a temporary file as long as they can be imported. */
export async function checkFile(
  db: Database,
  merchant: Merchant,
  file: CheckedFile,
): Promise<{ readonly header: ImportHeader; readonly recognised: Recognised }> {
  const { bytes, match, asWritten, errors } = file;
  const columns = productColumns(merchant.currency);
  const { records, header, recognised } = await readTable(bytes, columns, errors.report);
  const seen = new SeenValues();
  const options = { errors, asWritten, max: IMPORT_ROWS_MAX, named: ["sku", "name"], columns };
  const rows = validRows(records, options, (record) => {
    const row = readRow(record, merchant.currency);
    if ("errors" in row) return row;
    const error = repeatError(row, match, seen);
    return error === null ? row : { errors: [error] };
  });
  for await (const batch of inBatches(rows, BATCH_SIZE))
    await checkBatch(db, { merchant, header, seen, file }, batch);
  return { header, recognised };
}

/** What earlier rows leave to a row, and the SKU that it can have without an id. */
function repeatError(row: ImportRow, match: ImportMatch, seen: SeenValues): RowError | null {
  const { line, id, sku, barcode } = row;
  if (id !== null && seen.add("id", id) !== null)
    return { line, column: "id", rule: "earlier_row", field: "id" };
  if (match !== "none" && isPadded(row)) return { line, column: "sku", rule: "sku_padded" };
  if (match !== "none") {
    // An earlier row has the same SKU, and one of the two has no id: which product is meant?
    const earlierHasNoId = seen.add("sku", sku, id === null);
    if (earlierHasNoId !== null && (earlierHasNoId || id === null))
      return { line, column: "sku", rule: "earlier_row", field: "sku" };
  }
  if (barcode !== null && seen.add("barcode", barcodeKey(barcode)) !== null)
    return { line, column: "barcode", rule: "earlier_row", field: "barcode" };
  return null;
}

type Check = {
  readonly merchant: Merchant;
  readonly header: ImportHeader;
  readonly seen: SeenValues;
  readonly file: CheckedFile;
};

/** Checks the rows of a batch against the catalog. */
async function checkBatch(
  db: Database,
  { merchant, header, seen, file: { match, asWritten, errors, temporaryFile } }: Check,
  batch: readonly ImportRow[],
): Promise<void> {
  const ids = batch.flatMap(({ id }) => id ?? []);
  const { own, matched, taken, before, meant, inOtherCase } = await db.transaction(async (tx) => {
    await planBatch(tx);
    const found = ids.length === 0 ? [] : await listOwnProducts(tx, merchant.id, ids);
    const matched = await matchRows(tx, merchant.id, match, batch);
    const valid = matched.flatMap((row) => ("error" in row ? [] : [row]));
    const [created, existing] = [
      valid.filter(({ id }) => id === null),
      valid.filter(({ id }) => id !== null),
    ];
    return {
      own: new Set(found),
      matched,
      taken: await findTakenBarcodes(tx, merchant.id, valid),
      before: await compareImported(tx, merchant, header, existing),
      meant: asWritten ? new Map() : await findMeant(tx, merchant.id, created),
      inOtherCase: await listSkusInOtherCase(
        tx,
        merchant.id,
        created.map(({ sku }) => sku),
      ),
    };
  });
  const rows = batch.flatMap((read, index): ImportRow[] => {
    const row = matched[index] ?? read;
    const found: RowError[] = [];
    const { line, id } = read;
    if (id !== null && !own.has(id))
      found.push({ line, column: "id", rule: "not_found", kind: "merchant_product" });
    if ("error" in row) {
      found.push(row.error);
      if (!asWritten) found.push(...besides(found, damages(read, null, meant)));
      errors.add(found, about(read));
      return [];
    }
    const differing = row.id === null ? null : (before.get(row.id) ?? {});
    found.push(...(taken.get(line) ?? []), ...matchedTwice(row, seen));
    const stored = id === null || own.has(id) ? differing : null;
    if (!asWritten) found.push(...besides(found, damages(row, stored, meant)));
    const { barcode } = row;
    const isNewBarcode = barcode !== null && (differing === null || "barcode" in differing);
    if (isNewBarcode && hasWrongCheckDigit(barcode))
      errors.warn({ line, column: "barcode", rule: "check_digit" }, about(row));
    if (row.id === null && isNewInOtherCase(row, match, seen, inOtherCase)) {
      const stored = inOtherCase.get(row.sku);
      errors.warn({ line, column: "sku", rule: "sku_case", ...(stored && { meant: stored }) }, about(row));
    }
    if (found.length === 0) return [{ ...row, before: differing }];
    errors.add(found, about(row));
    return [];
  });
  if (!errors.isFinal && rows.length > 0) await temporaryFile.add(rows);
}

/** True if the SKU of a new product is that of a stored one, or of an earlier row, but for upper and lower case. */
function isNewInOtherCase(
  { sku }: ImportRow,
  match: ImportMatch,
  seen: SeenValues,
  stored: ReadonlyMap<string, string>,
): boolean {
  const isRepeated = match === "none" && seen.add("sku", sku) !== null; // Otherwise that is an error.
  const isSpelled = seen.add("skuInLowerCase", sku.toLowerCase()) !== null;
  return stored.has(sku) || (isSpelled && !isRepeated);
}

/** The error of a row that changes the product of an earlier row. */
function matchedTwice({ id, isMatched, line }: ImportRow, seen: SeenValues): RowError[] {
  if (!isMatched || id === null) return [];
  return seen.add("id", id) === null ? [] : [{ line, column: "sku", rule: "sku_of_other_row" }];
}

/** Stored SKUs by other spellings of them in the file. */
type MeantSkus = ReadonlyMap<string, string>;

async function findMeant(db: Queryable, merchantId: string, rows: readonly ImportRow[]): Promise<MeantSkus> {
  const spellings = rows.map(({ sku }) => [sku, spellingsOf(sku)] as const);
  const owners = await listSkuOwners(
    db,
    merchantId,
    spellings.flatMap(([, others]) => others),
  );
  return new Map(
    spellings.flatMap(([sku, others]) => {
      const stored = others.find((each) => owners.has(each));
      return stored === undefined ? [] : [[sku, stored] as const];
    }),
  );
}

/** Identifiers that a spreadsheet has probably damaged. What is stored so is meant so. */
function damages(row: ImportRow, before: Before | null, meant: MeantSkus): RowError[] {
  return (["sku", "barcode"] as const).flatMap((column): RowError[] => {
    const value = row[column];
    if (value === null || (before !== null && !(column in before))) return [];
    const { line } = row;
    const stored = before !== null ? before[column] : column === "sku" ? meant.get(value) : null;
    const damageOfOwn = typeof stored === "string" ? damageOfStored(value, stored) : null;
    if (typeof stored === "string" && damageOfOwn !== null)
      return [{ line, column, rule: "damaged", damage: damageOfOwn, meant: stored }];
    const damage = damageInColumn(column, value, row.formulas.includes(column));
    return damage === null ? [] : [{ line, column, rule: "damaged", damage }];
  });
}

const about = (row: ImportRow) => namedRow(row, row.sku, row.name);

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
): Promise<ReadonlyMap<number, RowError[]>> {
  const owners = await listBarcodeOwners(
    db,
    merchantId,
    rows.flatMap(({ barcode }) => barcode ?? []),
  );
  const errors = rows.flatMap(({ line, id, barcode }): RowError[] => {
    const owner = barcode === null ? undefined : owners.get(barcodeKey(barcode));
    if (owner === undefined || owner.id === id) return [];
    const { sku, name } = owner;
    return [{ line, column: "barcode", rule: "barcode_taken", productId: owner.id, sku, name }];
  });
  return Map.groupBy(errors, ({ line }) => line);
}

/**
 * How a row without an id finds its product (docs/design/fulfilment.md, "Imports of a catalog"). `id`: not at all, so a SKU
 * that the merchant has already is an error. `sku`: by the SKU, if one product has it. `none`: not at all, and the SKU may
 * exist.
 */
export const IMPORT_MATCHES = ["id", "sku", "none"] as const;
export type ImportMatch = (typeof IMPORT_MATCHES)[number];

type MatchedRow = ImportRow | { readonly error: RowError };

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
    return { error: { ...at, rule: "sku_taken", productId: owner.id, name: owner.name } };
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
): Promise<RowError | null> {
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
