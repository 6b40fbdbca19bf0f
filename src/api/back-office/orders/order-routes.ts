import { type Static, Type } from "typebox";
import { orderScope } from "../../../access/scope.ts";
import { asOf } from "../../../lifecycle/lifecycle.ts";
import { type ListedOrder, listOrders, type OrderFilter } from "../../../orders/lists/list-orders-sql.ts";
import { OrderStatusSchema } from "../../../orders/order-wire.ts";
import { readOrders } from "../../../orders/orders-sql.ts";
import type { Context } from "../../../platform/context.ts";
import { fromTypeId } from "../../../platform/ids.ts";
import { pagePosition, toPage, UUID_MAX } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../../../platform/wire/problems.ts";
import {
  cursorField,
  describedAs,
  flagField,
  limitField,
  pageOf,
  searchField,
  toSearched,
} from "../../../platform/wire/schemas.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import { type BackOfficeCaller, type BackOfficeRoute, everyone, route } from "../access.ts";
import { describeOrder, findOrder, OrderIdParams } from "./find-order.ts";
import { BackOfficeOrderSchema, OrderSummarySchema, toOrderSummary } from "./order-schemas.ts";
import { recordReads } from "./record-reads.ts";

const OrderQuery = Type.Object({
  limit: limitField,
  cursor: cursorField,
  merchantId: Type.Optional(Type.String({ description: "Only orders of this merchant." })),
  connectionId: Type.Optional(Type.String({ description: "Only orders of this connection." })),
  status: Type.Optional(
    describedAs(OrderStatusSchema, "Only orders with this status. PROCESSING is the review queue."),
  ),
  onHold: flagField("True: only orders on hold. False: only others."),
  ready: flagField(
    "True: only orders that the warehouse can ship now: accepted, routed, not on hold, with unshipped lines. False: only others.",
  ),
  testMode: flagField("True: test orders instead of real ones."),
  q: searchField(
    "The id of an order, a part of the partner's own id or of the recipient's name or company, or a complete tracking number. Case is ignored.",
  ),
});
type OrderQuery = Static<typeof OrderQuery>;

export const orderRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/orders",
    operationId: "listOrders",
    admits: everyone,
    tag: "Orders",
    summary: "List orders",
    description: "Orders of all connections, newest first. If a filter matches nothing, the list is empty.",
    query: OrderQuery,
    responses: { 200: { description: "A page of orders.", schema: pageOf(OrderSummarySchema, "OrderPage") } },
    problems: ["validation-failed"],
    handle: async ({ caller, query, by }, { context }) => {
      const filter = toFilter(caller, query);
      if (isProblem(filter)) return filter;
      const position = pagePosition("orders", query, UUID_MAX);
      if (isProblem(position)) return position;
      const now = context.clock.now();
      const listed = await listOrders(context.db, filter, position, now);
      const page = toPage(listed, position, (row) => row);
      const { status, onHold, ready, q } = query;
      const details = { status, onHold, ready, ...(q !== undefined && { searched: true }) };
      await recordReads(context, by, { orders: page.data, testMode: filter.testMode, details });
      return { status: 200, body: { ...page, data: await readListed(context, page.data, now) } };
    },
  }),
  route({
    method: "GET",
    path: "/api/orders/{id}",
    operationId: "getOrder",
    admits: everyone,
    tag: "Orders",
    summary: "Get an order",
    description: "The order with its charges, shipments, holds and timeline.",
    params: OrderIdParams,
    responses: { 200: { description: "The order.", schema: BackOfficeOrderSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const found = await findOrder(context, caller, params.id);
      if (found === null) return notFound("order");
      const { order } = found;
      await recordReads(context, by, { orders: [order], testMode: order.testMode });
      return { status: 200, body: await describeOrder(context, caller, found) };
    },
  }),
];

function toFilter(caller: BackOfficeCaller, query: OrderQuery): OrderFilter | Problem {
  const errors = [...idErrors("mer", "merchantId", query), ...idErrors("con", "connectionId", query)];
  if (errors.length > 0) return validationFailed(errors);
  const { q } = query;
  const orderId = q === undefined ? null : (fromTypeId("ord", q) ?? fromTypeId("test", q));
  return {
    scope: orderScope(caller.grants),
    merchantId: idIn("mer", query.merchantId),
    connectionId: idIn("con", query.connectionId),
    status: query.status ?? null,
    onHold: query.onHold ?? null,
    ready: query.ready ?? null,
    testMode: query.testMode ?? false,
    orderId,
    text: orderId === null ? toSearched(q) : null,
  };
}

/** The orders of a page, without those that were erased in the meantime. */
async function readListed({ db }: Context, listed: readonly ListedOrder[], now: Date) {
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
    return order === undefined ? [] : [toOrderSummary(order, row, row.goods)];
  });
}
