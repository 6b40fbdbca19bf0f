import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { tooManyAtOnce } from "../../merchants/limits.ts";
import { countProducts, type Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { type Database, isTaken, planBatch, type Queryable } from "../../platform/database/database.ts";
import type { Money } from "../../platform/money.ts";
import {
  type FileFindings,
  ImportErrors,
  type ImportOptions,
  type TemporaryFile,
  withTemporaryFile,
} from "../../platform/tables/import-file.ts";
import type { RowError } from "../../platform/tables/read-table.ts";
import { type Problem, ProblemError } from "../../platform/wire/problems.ts";
import type { WebhookContext } from "../../webhooks/conditions-sql.ts";
import { countCreated, reachedLimit } from "../change-product.ts";
import { checkFile, findOutdatedRow, type ImportMatch } from "./check-file.ts";
import type { Before, ImportHeader, ImportRow } from "./import-row.ts";
import { insertImported, tryToLockImports, updateImported } from "./import-sql.ts";

/** Products that a response names. An export names all. */
export const IMPORTED_LISTED_MAX = 10_000;

export const IMPORT_CHANGES = ["created", "changed", "unchanged"] as const;
type ImportChange = (typeof IMPORT_CHANGES)[number];

type ImportedProduct = {
  readonly line: number;
  /** Null: a dry run would create it. */
  readonly id: string | null;
  readonly sku: string;
  readonly name: string;
  readonly price: Money;
  readonly change: ImportChange;
  /** What the product had in the columns that change. */
  readonly before: Before;
};

/** The number of rows that did each, and the first products, in the order of the file. */
type Stored = Readonly<Record<ImportChange, number>> & { readonly products: ImportedProduct[] };
export type Imported = Stored &
  FileFindings & {
    /** The number of rows that were left out, and the first of their errors. */
    readonly rejected: number;
    readonly rejections: readonly RowError[];
  };

/** Receives how many rows are stored so far, of how many. None stays stored unless all are. */
export type OnStored = (stored: number, total: number) => void;

export type ImportFile = ImportOptions & {
  readonly bytes: AsyncIterable<Buffer>;
  readonly match: ImportMatch;
  /** Rows with errors are left out, and the others are imported. */
  readonly skipInvalid: boolean;
  /** Called when storing begins, and after each batch. */
  readonly onStored?: OnStored;
};

/**
 * `storing` gives its connection to one import after the other: each may use it for a minute. The short reads of imports that
 * arrive use others.
 */
export type ImportContext = WebhookContext & { readonly storing: Database };

/**
 * Creates and changes products of a merchant from a file, all of them or none (docs/design/fulfilment.md, "Imports of a catalog").
 * First, the file is read and validated as it arrives, and valid rows are kept on disk. Then all rows are stored in one
 * transaction, which waits for nothing outside. A file that changes nothing stores nothing, and waits for no other import
 * (docs/design/fulfilment.md, "Imports of a catalog").
 */
export async function importProducts(
  context: ImportContext,
  merchant: Merchant,
  { bytes, match, dryRun, asWritten, skipInvalid, onStored = () => undefined }: ImportFile,
  by: Initiator,
): Promise<Imported | Problem> {
  const errors = new ImportErrors(skipInvalid);
  return withTemporaryFile<ImportRow, Imported | Problem>(context.config.dataDir, async (temporaryFile) => {
    const file = { bytes, match, asWritten, errors, temporaryFile };
    const { header, recognised } = await checkFile(context.db, merchant, file);
    if (errors.isFinal) return errors.toProblem();
    const { rejected, rejections, warnings } = errors;
    const findings = { rejected, rejections, warnings, recognised };
    const expected = await previewAll(temporaryFile, merchant.currency);
    const reached = await foreseenLimit(context, merchant.id, expected);
    if (reached !== null) return reached;
    if (dryRun || expected.created + expected.changed === 0) return { ...expected, ...findings };
    const total = expected.created + expected.changed + expected.unchanged;
    return inTransaction({ ...context, db: context.storing }, async (tx) => {
      if (!(await tryToLockImports(tx, merchant.id))) return tooManyAtOnce("runningImports", 1, "import");
      onStored(0, total);
      const imported = await storeAll(tx, context, {
        ...{ merchant, header, match, temporaryFile },
        onStored: (stored) => onStored(stored, total),
      });
      const fact = { merchantId: merchant.id, subject: "mer", ids: [merchant.id] } as const;
      const { products: _, ...counts } = imported;
      await recordAudit(tx, context, by, { ...fact, details: { ...counts, match } });
      if (imported.created > 0) await countCreated(tx, merchant.id, imported.created);
      return { ...imported, ...findings };
    });
  }).catch((error: unknown) => {
    // Only a barcode can be taken: the check of the file has found it free.
    if (isTaken(error)) return problemOf({ line: 1, column: "barcode", rule: "given_away_in_file" });
    throw error;
  });
}

/** Rejects a file that exceeds the limit before its rows are stored in vain. The transaction decides. */
async function foreseenLimit(
  { db }: Context,
  merchantId: string,
  { created }: Stored,
): Promise<Problem | null> {
  if (created === 0) return null;
  return reachedLimit(db, merchantId, (await countProducts(db, merchantId)) + created);
}

/** Counts and lists the products of a file. Rows are added in the order of the file. */
class Summary {
  readonly #counts = { created: 0, changed: 0, unchanged: 0 };
  readonly #products: ImportedProduct[] = [];

  add(product: ImportedProduct): void {
    this.#counts[product.change] += 1;
    if (this.#products.length < IMPORTED_LISTED_MAX) this.#products.push(product);
  }

  get count(): number {
    return this.#counts.created + this.#counts.changed + this.#counts.unchanged;
  }

  get imported(): Stored {
    return { ...this.#counts, products: this.#products };
  }
}

const changeOf = ({ id, before }: ImportRow): ImportChange => {
  if (id === null) return "created";
  return Object.keys(before ?? {}).length === 0 ? "unchanged" : "changed";
};

const priceOf = ({ priceMinor }: ImportRow, currency: string): Money => ({
  minor: BigInt(priceMinor),
  currency,
});

/** What the rows would do, as the check of the file has found it. */
async function previewAll(temporaryFile: TemporaryFile<ImportRow>, currency: string): Promise<Stored> {
  const summary = new Summary();
  for await (const batch of temporaryFile.batches())
    for (const row of batch)
      summary.add({
        line: row.line,
        id: row.id,
        sku: row.sku,
        name: row.name,
        price: priceOf(row, currency),
        change: changeOf(row),
        before: row.before ?? {},
      });
  return summary.imported;
}

type Storable = {
  readonly merchant: Merchant;
  readonly header: ImportHeader;
  readonly match: ImportMatch;
  readonly temporaryFile: TemporaryFile<ImportRow>;
  readonly onStored: (stored: number) => void;
};

async function storeAll(
  tx: Queryable,
  { clock, newId }: Context,
  { merchant, header, match, temporaryFile, onStored }: Storable,
): Promise<Stored> {
  await planBatch(tx); // The first batches find an empty table, and the last ones a large one.
  const now = clock.now();
  const summary = new Summary();
  for await (const batch of temporaryFile.batches()) {
    const outdated = await findOutdatedRow(tx, merchant.id, match, batch);
    if (outdated !== null) throw new ProblemError(problemOf(outdated)); // What was stored is rolled back.
    // Ids are made here, not while the file arrives, so that products are listed in the order in which they appear.
    const rows = batch.map((row) => ({ ...row, id: row.id ?? newId(), isNew: row.id === null }));
    const [created, existing] = [rows.filter(({ isNew }) => isNew), rows.filter(({ isNew }) => !isNew)];
    if (created.length > 0) await insertImported(tx, merchant, created, now);
    const changed = await updateImported(tx, merchant.id, header, existing, now);
    for (const row of rows) {
      const { line, id, sku, name, isNew } = row;
      const change = isNew ? "created" : changed.has(id) ? "changed" : "unchanged";
      const before = change === "changed" ? (row.before ?? {}) : {};
      summary.add({ line, id, sku, name, price: priceOf(row, merchant.currency), change, before });
    }
    onStored(summary.count);
  }
  return summary.imported;
}

function problemOf(error: RowError): Problem {
  const errors = new ImportErrors();
  errors.add([error]);
  return errors.toProblem();
}
