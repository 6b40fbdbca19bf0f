import { roleOnOrder } from "../../../access/scope.ts";
import type { Order } from "../../../lifecycle/order.ts";
import { readWithOwners } from "../../../orders/lists/find-orders.ts";
import { readListedOrders } from "../../../orders/lists/list-orders.ts";
import type { ListedOrder } from "../../../orders/lists/list-orders-sql.ts";
import { pagePosition, toPage, UUID_MAX, UUID_MIN } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound, validationFailed } from "../../../platform/wire/problems.ts";
import { pageOf } from "../../../platform/wire/schemas.ts";
import { andPartner, type BackOfficeCaller, type BackOfficeRoute, everyone, route } from "../access.ts";
import { describeOrder, findOrder, OrderIdParams } from "./find-order.ts";
import { detailsOf, filterErrors, OrderQuery, toOrderFilter } from "./order-query.ts";
import { BackOfficeOrderSchema, OrderSummarySchema, toOrderSummary } from "./order-schemas.ts";
import { summaryForPartner } from "./partner-view.ts";
import { recordReads } from "./record-reads.ts";

export const orderRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/orders",
    operationId: "listOrders",
    admits: andPartner(everyone),
    tag: "Orders",
    summary: "List orders",
    description:
      "Orders of all connections, newest first. If a filter matches nothing, the list is empty. A page can have fewer orders than `limit`, or none, and a `nextCursor` that continues.",
    query: OrderQuery,
    responses: { 200: { description: "A page of orders.", schema: pageOf(OrderSummarySchema, "OrderPage") } },
    problems: ["validation-failed"],
    handle: async ({ caller, query, by }, { context }) => {
      const errors = filterErrors(query);
      if (errors.length > 0) return validationFailed(errors);
      const filter = await toOrderFilter(context.db, caller, query);
      const isNewest = filter.sort === "newest";
      const position = isNewest
        ? pagePosition("orders", query, UUID_MAX)
        : pagePosition("oldest orders", query, UUID_MIN);
      if (isProblem(position)) return position;
      const now = context.clock.now();
      const { orders, readTo } = await readListedOrders(context.db, filter, position, now);
      const page = toPage(orders, position, (row) => row, readTo);
      const details = detailsOf(query);
      await recordReads(context, by, { orders: page.data, testMode: filter.testMode, details });
      const shown = await readWithOwners(context.db, page.data, now);
      return { status: 200, body: { ...page, data: shown.map((order) => summaryFor(caller, order)) } };
    },
  }),
  route({
    method: "GET",
    path: "/api/orders/{id}",
    operationId: "getOrder",
    admits: andPartner(everyone),
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

/** An order of a list, as the role in which the caller sees it allows. */
function summaryFor({ grants }: BackOfficeCaller, order: Order & ListedOrder) {
  const summary = toOrderSummary(order, order, order.goods);
  return roleOnOrder(grants, order) === "partner" ? summaryForPartner(summary) : summary;
}
