import type { OrderScope } from "../../access/scope.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { Database, Queryable } from "../../platform/database/database.ts";
import { UUID_MAX } from "../../platform/wire/cursor.ts";
import type { OrderOwner } from "../order-owners-sql.ts";
import { readOrders } from "../orders-sql.ts";
import { listFoundOrders } from "./found-orders-sql.ts";
import type { ListedOrder } from "./list-orders-sql.ts";
import { isNowhere, type OrderFilter } from "./order-list-filter.ts";
import { toSearchedOrder } from "./searched-order.ts";

const ANY: Omit<OrderFilter, "scope" | "orderId" | "text" | "testMode"> = {
  merchantId: null,
  connectionId: null,
  status: null,
  onHold: null,
  holdReason: null,
  ready: null,
  facilityId: null,
  countryCode: null,
  createdSince: null,
  createdUntil: null,
  updatedSince: null,
  updatedUntil: null,
  hasFailedDelivery: null,
  sort: "newest",
};

/** The newest orders that a text finds, real ones first, and test orders by their ids (decision 0135). */
export async function findOrders(
  db: Database,
  scope: OrderScope,
  text: string,
  limit: number,
  now: Date,
): Promise<(Order & OrderOwner)[]> {
  const searched = await toSearchedOrder(db, text);
  const filter = { ...ANY, ...searched, scope, testMode: text.startsWith("test_") };
  if (isNowhere(filter)) return [];
  const listed = await listFoundOrders(db, filter, { afterId: UUID_MAX, limit: limit - 1 }, now);
  return readWithOwners(db, listed, now);
}

/** The orders of a list as they are now, in its order, without those that were erased in the meantime. */
export async function readWithOwners<Listed extends ListedOrder>(
  db: Queryable,
  listed: readonly Listed[],
  now: Date,
): Promise<(Order & Listed)[]> {
  const byConnection = Map.groupBy(listed, ({ connectionId }) => connectionId);
  const read = [...byConnection.values()].flatMap((group) =>
    group.slice(0, 1).map((connection) =>
      readOrders(
        db,
        connection,
        group.map(({ id }) => id),
      ),
    ),
  );
  const orders = new Map((await Promise.all(read)).flat().map((order) => [order.id, asOf(order, now)]));
  return listed.flatMap((row) => {
    const order = orders.get(row.id);
    return order === undefined ? [] : [{ ...row, ...order }];
  });
}
