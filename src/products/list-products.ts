import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Database, Spent } from "../platform/database/database.ts";
import { groupCalls } from "../platform/database/group.ts";
import { type PagePosition, toPage } from "../platform/wire/cursor.ts";
import { toPartnerProduct } from "./product.ts";
import { listExposedProducts, listExposedProductsBySku } from "./products-sql.ts";

/** `sku` null means products of any SKU. */
type PageLookup = PagePosition & ConnectionKey & { sku: string | null };

/** A page as JSON. */
export type ListProducts = (lookup: PageLookup) => Promise<Buffer>;

/** Groups of pages that are read at the same time. */
const PAGE_GROUPS_MAX = 3;

/**
 * GET /v1/products. Specification, part 4; docs/design/api-conventions.md, "Products that partners see". A partner's machines
 * often request the same page at the same time. Requests that arrive together share one read and one response.
 */
export function productLister(db: Database, spent?: Spent): ListProducts {
  return groupCalls<PageLookup, Buffer>({
    name: "list products",
    run: (lookups) => readPages(db, lookups),
    sizeMax: 128,
    concurrencyMax: PAGE_GROUPS_MAX,
    ownerOf: (lookup) => lookup,
    oneOwnerEach: true,
    ...(spent && { spent }),
  });
}

/** One page after the other: a group takes one connection of the pool, however many pages it reads. */
async function readPages(db: Database, lookups: readonly PageLookup[]): Promise<Buffer[]> {
  const read = new Map<string, Buffer>();
  const pages: Buffer[] = [];
  for (const lookup of lookups) {
    const key = JSON.stringify([lookup.connectionId, lookup.afterId, lookup.limit, lookup.sku]);
    const page = read.get(key) ?? (await readPage(db, lookup));
    read.set(key, page);
    pages.push(page);
  }
  return pages;
}

async function readPage(db: Database, lookup: PageLookup): Promise<Buffer> {
  const { sku, list, afterId, limit } = lookup;
  const position = { list, afterId, limit };
  const products =
    sku === null
      ? await listExposedProducts(db, lookup, position)
      : await listExposedProductsBySku(db, lookup, position, sku);
  return Buffer.from(JSON.stringify(toPage(products, position, toPartnerProduct)));
}
