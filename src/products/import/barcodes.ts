import type { Queryable } from "../../platform/database/database.ts";
import type { ImportError, ImportRow } from "./import-row.ts";
import { listBarcodeOwners } from "./import-sql.ts";

/**
 * The errors of rows whose barcode another product of the merchant has. A file cannot move a barcode from one product to
 * another: it is removed with one import and given with the next (decision 0146).
 */
export async function findTakenBarcodes(
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
    return [{ line, column: "barcode", detail: `is the barcode of the product ${owner}` }];
  });
}
