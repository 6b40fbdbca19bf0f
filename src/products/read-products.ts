import type { Queryable } from "../database/database.ts";
import { type PageQuery, pagePosition, toPage } from "../http/cursor.ts";
import { isProblem, notFound, type Problem } from "../http/problems.ts";
import type { Answer } from "../http/route.ts";
import { parseUuid } from "../ids.ts";
import { toPartnerProduct } from "./product.ts";
import { listExposedProducts, listExposedProductsBySku, readExposedProduct } from "./products-sql.ts";

/** GET /v1/products. Specification, part 4; decision 0018. */
export async function listPartnerProducts(
  db: Queryable,
  connectionId: string,
  query: PageQuery & { sku?: string },
): Promise<Answer | Problem> {
  const position = pagePosition(query);
  if (isProblem(position)) return position;
  const products =
    query.sku === undefined
      ? await listExposedProducts(db, connectionId, position)
      : await listExposedProductsBySku(db, connectionId, position, query.sku);
  return { status: 200, body: toPage(products, position.limit, toPartnerProduct) };
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
