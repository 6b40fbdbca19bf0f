import { isTaken } from "../platform/database/database.ts";

/** Another product of the merchant has the barcode. The unique index decides (decision 0146). */
export const BARCODE_TAKEN = "barcode-taken";

/** Runs a transaction that stores a product. Only its barcode can be taken: its id was just made, or is its own. */
export async function storeProduct<T>(store: () => Promise<T>): Promise<T | typeof BARCODE_TAKEN> {
  try {
    return await store();
  } catch (error) {
    if (isTaken(error)) return BARCODE_TAKEN;
    throw error;
  }
}
