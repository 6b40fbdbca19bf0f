/** A page of a list. */
export type Page<T> = {
  /** The items of the page. */
  readonly data: readonly T[];
  /** `cursor` of the next page. Null on the last one. */
  readonly nextCursor: string | null;
};

/**
 * A list that is read page by page. `await` returns its first page, `for await` all items of all pages:
 *
 * ```ts
 * const { data, nextCursor } = await client.products.list({ limit: 10 });
 * for await (const product of client.products.list()) console.log(product.sku);
 * ```
 *
 * Nothing is requested before one of them, and each page when it is needed.
 */
export class List<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #read: (cursor?: string) => Promise<Page<T>>;

  /** @param read reads the page of a cursor; without one the first page */
  constructor(read: (cursor?: string) => Promise<Page<T>>) {
    this.#read = read;
  }

  /** Reads the first page. */
  // biome-ignore lint/suspicious/noThenProperty: `await` returns the first page.
  then<A = Page<T>, B = never>(
    onPage?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#read().then(onPage, onError);
  }

  /** The pages, until the last one. */
  async *pages(): AsyncGenerator<Page<T>, void> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.#read(cursor);
      yield page;
      if (page.nextCursor === null) return;
      cursor = page.nextCursor;
    }
  }

  /** The items of all pages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for await (const { data } of this.pages()) yield* data;
  }
}
