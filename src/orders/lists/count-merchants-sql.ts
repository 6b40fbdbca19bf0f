import type { Queryable } from "../../platform/database/database.ts";
import { merchantsOf, type OrderFilter } from "./order-list-filter.ts";

/**
 * How many merchants a list is about. They share what one statement may read. It is a statement of its own, because Citus
 * limits no part of a join by a value that it has to read first (decision 0166).
 */
export async function countMerchants(db: Queryable, filter: OrderFilter): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-merchants-of-list",
    text: "select count(*)::integer as count from merchants m where $1::uuid[] is null or m.id = any($1)",
    values: [merchantsOf(filter)],
  });
  return row?.count ?? 0;
}
