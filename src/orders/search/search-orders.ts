import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { bytesOf, uuidAt, uuidOf } from "../../platform/ids.ts";
import { after, before, CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";
import {
  decodeCursor,
  encodeCursor,
  PAGE_SIZE_DEFAULT,
  UUID_MAX,
  UUID_MIN,
} from "../../platform/wire/cursor.ts";
import { type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { readOrders } from "../orders-sql.ts";
import { isFound, listNameOf, type OrderSearch } from "./order-search.ts";
import { type FoundRow, listFoundOrders, listOrdersNamed, type SearchRange } from "./search-orders-sql.ts";

export type OrderPage = { readonly orders: readonly Order[]; readonly nextCursor: string | null };

/**
 * POST /v1/orders/search: a page of the connection's orders that a search finds, as they are now, newest first (decision
 * 0084). An order that changes while the page is read is on it only if it still fits.
 */
export async function searchOrders(
  { db, clock }: Context,
  connection: ConnectionKey,
  search: OrderSearch,
  { limit = PAGE_SIZE_DEFAULT, cursor }: { limit?: number; cursor?: string },
): Promise<OrderPage | Problem> {
  const list = listNameOf(search);
  const position = cursor === undefined ? null : decodeCursor(list, cursor);
  if (cursor !== undefined && position?.length !== 16) return BAD_CURSOR;
  const now = clock.now();
  const range = rangeOf(search, position === null ? null : uuidOf(position), limit);
  const { externalOrderIds } = search;
  const rows = await (externalOrderIds === null
    ? listFoundOrders(db, connection, search, range, now)
    : listOrdersNamed(db, connection, { ...search, externalOrderIds }, range, now));
  const ids = rows
    .filter(({ fits }) => fits)
    .slice(0, limit)
    .map(({ id }) => id);
  const read = (await readOrders(db, connection, ids)).map((order) => asOf(order, now));
  const orders = read.filter((order) => isFound(order, search, now)).sort(byNewest);
  const readTo = lastOf(rows, limit);
  return { orders, nextCursor: readTo === null ? null : encodeCursor(list, bytesOf(readTo)) };
}

const BAD_CURSOR: Problem = validationFailed([
  { pointer: "/cursor", detail: "is not a valid cursor of this search" },
]);

/** The ids that orders of these times can have. An id contains the time at which it was made, up to a difference of clocks. */
function rangeOf(
  { createdSince, createdUntil }: OrderSearch,
  afterId: string | null,
  limit: number,
): SearchRange {
  const until = createdUntil === null ? UUID_MAX : uuidAt(after(createdUntil, CLOCK_SKEW_MAX_MS));
  const fromId = createdSince === null ? UUID_MIN : uuidAt(before(createdSince, CLOCK_SKEW_MAX_MS));
  return { beforeId: afterId !== null && afterId < until ? afterId : until, fromId, limit };
}

/** The row after which the next page begins. Null at the end of the list. */
function lastOf(rows: readonly FoundRow[], limit: number): string | null {
  if (rows.length > limit) return rows[limit - 1]?.id ?? null;
  return rows.find(({ isLast }) => isLast)?.id ?? null;
}

const byNewest = (one: Order, other: Order): number => (one.id < other.id ? 1 : -1);
