import { type KnownProduct, productKey, type RequestedProduct } from "./place-orders-sql.ts";

/** With their connection and merchant about 500 bytes each, besides their countries. */
const PRODUCTS_MAX = 20_000;
/** The length of all terms, which name the countries of the review policy. With these a product takes twelve bytes a character. */
const CHARACTERS_MAX = 2 * 2 ** 20;

/**
 * The products that a process has read last for orders. An order of a known product is stored only if the product is still as it
 * is known (decision 0193).
 */
export class KnownProducts {
  /** Those that were kept first come first. */
  readonly #products = new Map<string, KnownProduct>();
  #characters = 0;
  readonly #max: number;
  readonly #charactersMax: number;

  constructor(max = PRODUCTS_MAX, charactersMax = CHARACTERS_MAX) {
    this.#max = max;
    this.#charactersMax = charactersMax;
  }

  /** Those of the requested products that are known, by `productKey`. */
  among(requested: readonly RequestedProduct[]): Map<string, KnownProduct> {
    const found = new Map<string, KnownProduct>();
    for (const { connectionId, productId } of requested) {
      const key = productKey(connectionId, productId);
      const known = this.#products.get(key);
      if (known !== undefined) found.set(key, known);
    }
    return found;
  }

  /** @param read those of the requested products that there are. The others, and discontinued ones, are looked for each time. */
  keep(requested: readonly RequestedProduct[], read: ReadonlyMap<string, KnownProduct>): void {
    for (const { connectionId, productId } of requested) {
      const key = productKey(connectionId, productId);
      const product = read.get(key);
      this.#remove(key);
      if (product === undefined || product.discontinued) continue;
      this.#products.set(key, product);
      this.#characters += product.terms.length;
    }
    for (const key of this.#products.keys()) {
      if (this.#products.size <= this.#max && this.#characters <= this.#charactersMax) break;
      this.#remove(key);
    }
  }

  #remove(key: string): void {
    this.#characters -= this.#products.get(key)?.terms.length ?? 0;
    this.#products.delete(key);
  }
}
