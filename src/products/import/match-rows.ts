import type { Queryable } from "../../platform/database/database.ts";
import type { ImportError, ImportRow } from "./import-row.ts";
import { listSkuOwners } from "./import-sql.ts";

/**
 * How a row without an id finds its product (decision 0104). `id`: not at all, so a SKU that the merchant has already is
 * an error. `sku`: by the SKU, if one product has it. `none`: not at all, and the SKU may exist.
 */
export const IMPORT_MATCHES = ["id", "sku", "none"] as const;
export type ImportMatch = (typeof IMPORT_MATCHES)[number];

export type MatchedRow = ImportRow | { readonly error: ImportError };

/** Gives rows without an id the product that has their SKU, or the error that forbids to import them. */
export async function matchRows(
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
        error: { ...at, detail: `is the SKU of ${owner.count} products; give the id of the one to change` },
      };
    if (match === "sku") return { ...row, id: owner.id, isMatched: true };
    const detail = `is the SKU of the product ${owner.id}; give its id, or import with match=sku to change it`;
    return { error: { ...at, detail } };
  });
}

/**
 * Whether what `matchRows` has found is still so. Called in the transaction that stores the rows, which other imports of
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
        detail: "was given to another product while the file was read; send the file again",
      };
}
