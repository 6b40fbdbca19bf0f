import type { Database, Queryable } from "../database/database.ts";
import { groupCalls } from "../database/group.ts";
import { type PagePosition, type PageQuery, pagePosition, toPage } from "../http/cursor.ts";
import { isProblem, notFound, type Problem } from "../http/problems.ts";
import type { Answer } from "../http/route.ts";
import { parseUuid } from "../ids.ts";
import { toPartnerProduct } from "./product.ts";
import { listExposedProducts, listExposedProductsBySku, readExposedProduct } from "./products-sql.ts";

type ListProducts = (connectionId: string, query: PageQuery & { sku?: string }) => Promise<Answer | Problem>;

type PageLookup = PagePosition & { connectionId: string; sku: string | null };

/**
 * GET /v1/products. Specification, part 4; decision 0018. A partner's machines tend to ask for the same page at the
 * same time; those that arrive together share one read and one text.
 */
export function productLister(db: Database): ListProducts {
  const readPage = groupCalls<PageLookup, string>({
    run: (lookups) => readPages(db, lookups),
    sizeMax: 128,
    concurrencyMax: 8,
  });
  return async (connectionId, query) => {
    const position = pagePosition("products", query);
    if (isProblem(position)) return position;
    return { status: 200, json: await readPage({ ...position, connectionId, sku: query.sku ?? null }) };
  };
}

async function readPages(db: Database, lookups: readonly PageLookup[]): Promise<string[]> {
  const pages = new Map<string, Promise<string>>();
  const pageOf = (lookup: PageLookup): Promise<string> => {
    const key = JSON.stringify([lookup.connectionId, lookup.afterId, lookup.limit, lookup.sku]);
    const page = pages.get(key) ?? readPage(db, lookup);
    pages.set(key, page);
    return page;
  };
  return Promise.all(lookups.map(pageOf));
}

async function readPage(db: Database, { connectionId, sku, ...position }: PageLookup): Promise<string> {
  const products =
    sku === null
      ? await listExposedProducts(db, connectionId, position)
      : await listExposedProductsBySku(db, connectionId, position, sku);
  return JSON.stringify(toPage(products, position, toPartnerProduct));
}

/** GET /v1/products/{id}. A text that is no UUID names no product. */
export async function readPartnerProduct(
  db: Queryable,
  connectionId: string,
  text: string,
): Promise<Answer | Problem> {
  const id = parseUuid(text);
  const product = id === null ? null : await readExposedProduct(db, connectionId, id);
  return product === null ? notFound("product") : { status: 200, body: toPartnerProduct(product) };
}
