import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { lockMerchant, type Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import { checkFile } from "./check-file.ts";
import type { ImportHeader, ImportRow } from "./import-row.ts";
import { insertImported, updateImported } from "./import-sql.ts";
import { createSpool, type Spool } from "./spool.ts";

export type Imported = { created: number; changed: number };

/**
 * Creates and changes products of a merchant from CSV, all of them or none (decision 0048). First, the file is read and
 * validated as it arrives, and valid rows are kept on disk. Then all rows are stored in one transaction, which waits
 * for nothing outside.
 */
export async function importProducts(
  context: Context,
  merchant: Merchant,
  bytes: AsyncIterable<Buffer>,
  by: Initiator,
): Promise<Imported | Problem> {
  const spool = await createSpool<ImportRow>();
  try {
    const { errors, header } = await checkFile(context.db, merchant, { bytes, spool });
    if (errors.count > 0) return errors.toProblem();
    return await inTransaction(context, async (tx) => {
      const imported = await storeAll(tx, context, { merchant, header, spool });
      const fact = { merchantId: merchant.id, subject: "mer", ids: [merchant.id] } as const;
      await recordAudit(tx, context, by, { ...fact, details: imported });
      return imported;
    });
  } finally {
    await spool.close();
  }
}

type Storable = { merchant: Merchant; header: ImportHeader; spool: Spool<ImportRow> };

async function storeAll(
  tx: Queryable,
  { clock, newId }: Context,
  { merchant, header, spool }: Storable,
): Promise<Imported> {
  // Imports of one merchant run one after the other, because they can change the same products.
  await lockMerchant(tx, merchant.id);
  const now = clock.now();
  const imported = { created: 0, changed: 0 };
  for await (const batch of spool.batches()) {
    const [created, changed] = [batch.filter(({ id }) => id === null), batch.filter(({ id }) => id !== null)];
    // Ids are made here, not while the file arrives, so that products are listed in the order in which they appear.
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
