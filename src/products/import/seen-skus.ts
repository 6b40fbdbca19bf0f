import { createHash } from "node:crypto";

/** The SKUs of the rows of a file so far. */
export class SeenSkus {
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
