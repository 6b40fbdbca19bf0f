import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { tooManyAtOnce } from "../../merchants/limits.ts";
import { countProducts, type Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { type Database, isTaken, planBatch, type Queryable } from "../../platform/database/database.ts";
import { type Problem, ProblemError } from "../../platform/wire/problems.ts";
import type { WebhookContext } from "../../webhooks/conditions-sql.ts";
import { countCreated, reachedLimit } from "../change-product.ts";
import {
  checkFile,
  createTemporaryFile,
  findOutdatedRow,
  ImportErrors,
  type ImportMatch,
  type TemporaryFile,
} from "./check-file.ts";
import type { ImportError, ImportHeader, ImportRow } from "./import-row.ts";
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
  readonly change: ImportChange;
  /** The columns that change. */
  readonly columns: readonly string[];
};

/** The number of rows that did each, and the first products, in the order of the file. */
export type Imported = Readonly<Record<ImportChange, number>> & { readonly products: ImportedProduct[] };

/** Receives how many rows are stored so far, of how many. None stays stored unless all are. */
export type OnStored = (stored: number, total: number) => void;

export type ImportFile = {
  readonly bytes: AsyncIterable<Buffer>;
  readonly match: ImportMatch;
  /** Stores nothing, and returns what an import would do. */
  readonly dryRun: boolean;
  /** Called when storing begins, and after each batch. */
  readonly onStored?: OnStored;
};

/**
 * `storing` gives its connection to one import after the other: each may use it for a minute. The short reads of imports that
 * arrive use others.
 */
export type ImportContext = WebhookContext & { readonly storing: Database };

/**
 * Creates and changes products of a merchant from CSV, all of them or none (docs/design/fulfilment.md, "Imports of a catalog").
 * First, the file is read and validated as it arrives, and valid rows are kept on disk. Then all rows are stored in one
 * transaction, which waits for nothing outside. A file that changes nothing stores nothing, and waits for no other import
 * (docs/design/fulfilment.md, "Imports of a catalog").
 */
export async function importProducts(
  context: ImportContext,
  merchant: Merchant,
  { bytes, match, dryRun, onStored = () => undefined }: ImportFile,
  by: Initiator,
): Promise<Imported | Problem> {
  const temporaryFile = await createTemporaryFile<ImportRow>(context.config.dataDir);
  try {
    const { errors, header } = await checkFile(context.db, merchant, { bytes, match, temporaryFile });
    if (errors.count > 0) return errors.toProblem();
    const expected = await previewAll(temporaryFile);
    const reached = await foreseenLimit(context, merchant.id, expected);
    if (reached !== null) return reached;
    if (dryRun || expected.created + expected.changed === 0) return expected;
    const total = expected.created + expected.changed + expected.unchanged;
    return await inTransaction({ ...context, db: context.storing }, async (tx) => {
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
      return imported;
    });
  } catch (error) {
    // Only a barcode can be taken: the check of the file has found it free.
    if (isTaken(error)) return problemOf({ line: 1, column: "barcode", rule: "given_away_in_file" });
    throw error;
  } finally {
    await temporaryFile.close();
  }
}

/** Rejects a file that exceeds the limit before its rows are stored in vain. The transaction decides. */
async function foreseenLimit(
  { db }: Context,
  merchantId: string,
  { created }: Imported,
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

  get imported(): Imported {
    return { ...this.#counts, products: this.#products };
  }
}

const changeOf = ({ id, differsIn }: ImportRow): ImportChange => {
  if (id === null) return "created";
  return differsIn?.length === 0 ? "unchanged" : "changed";
};

/** What the rows would do, as the check of the file has found it. */
async function previewAll(temporaryFile: TemporaryFile<ImportRow>): Promise<Imported> {
  const summary = new Summary();
  for await (const batch of temporaryFile.batches())
    for (const row of batch)
      summary.add({
        line: row.line,
        id: row.id,
        sku: row.sku,
        change: changeOf(row),
        columns: row.differsIn ?? [],
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
): Promise<Imported> {
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
    for (const { line, id, sku, isNew, differsIn } of rows) {
      const change = isNew ? "created" : changed.has(id) ? "changed" : "unchanged";
      summary.add({ line, id, sku, change, columns: change === "changed" ? (differsIn ?? []) : [] });
    }
    onStored(summary.count);
  }
  return summary.imported;
}

function problemOf(error: ImportError): Problem {
  const errors = new ImportErrors();
  errors.add([error]);
  return errors.toProblem();
}
