import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";
import { type ExposedFilter, findExposedProducts } from "./exposed-products-sql.ts";
import type { Product } from "./product.ts";
import { readProducts } from "./products-sql.ts";

/** `readTo`: the last product that was read, if reading ended before the page was full. */
type FoundProducts = { readonly products: readonly Product[]; readonly readTo: string | null };

/** The products that are exposed to a connection and fit the filter, oldest first, one more than the page if there is one. */
export async function searchExposedProducts(
  db: Queryable,
  connection: ConnectionKey,
  filter: ExposedFilter,
  position: PagePosition,
): Promise<FoundProducts> {
  const found = await findExposedProducts(db, connection, filter, position);
  const fitting = found.filter(({ fits }) => fits).map(({ id }) => id);
  const last = found.at(-1);
  return {
    products: await readProducts(db, connection.merchantId, fitting),
    readTo: last?.isLast ? last.id : null,
  };
}
