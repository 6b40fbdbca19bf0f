import { type Static, Type } from "typebox";
import { orderScope, roleOnOrder } from "../../audit/grant.ts";
import type { Initiator } from "../../audit/record-audit.ts";
import { idErrors, idIn, type RouteResponse } from "../../http/route.ts";
import type { Order } from "../../lifecycle/order.ts";
import { OrderStatusSchema } from "../../orders/order-wire.ts";
import { findOrdersByExternalId, type OrderReference } from "../../orders/owners-sql.ts";
import type { OrderFilter } from "../../orders/reading/list-conditions-sql.ts";
import {
  readChangedOrders,
  readListedOrders,
  readWithOwners,
  toSearchedOrder,
} from "../../orders/reading/list-orders.ts";
import type { ListedOrder } from "../../orders/reading/list-orders-sql.ts";
import type { Context } from "../../platform/context.ts";
import type { Database, Queryable } from "../../platform/database/database.ts";
import { fromTypeId, toTypeId, wireOrderId } from "../../platform/ids.ts";
import { timeIn } from "../../platform/time.ts";
import {
  badCursor,
  decodeChanged,
  encodeChanged,
  pagePosition,
  toPage,
  UUID_MAX,
  UUID_MIN,
} from "../../platform/wire/cursor.ts";
import {
  forbidden,
  isProblem,
  notFound,
  type Problem,
  type ValidationError,
  validationFailed,
} from "../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  flagField,
  idField,
  limitField,
  PAGE_SIZE_DEFAULT,
  pageOf,
  searchField,
} from "../../platform/wire/schemas.ts";
import { type ProductName, readProductNames } from "../../products/products-sql.ts";
import { andPartner, type BackOfficeCaller, type BackOfficeRoute, everyone, route } from "../access.ts";
import { recordReads } from "./export.ts";
import { describeOrder, findOrder, OrderIdParams } from "./find-order.ts";
import {
  BackOfficeOrderSchema,
  OrderSummarySchema,
  summaryForPartner,
  toOrderSummary,
} from "./order-wire.ts";

/** The filters of the list of orders. */
const OrderQuery = Type.Object({
  limit: limitField,
  cursor: cursorField,
  merchantId: Type.Optional(Type.String({ description: "Only orders of this merchant." })),
  connectionId: Type.Optional(Type.String({ description: "Only orders of this connection." })),
  status: Type.Optional(
    describedAs(OrderStatusSchema, "Only orders with this status. PROCESSING is the review queue."),
  ),
  onHold: flagField("True: only orders on hold. False: only others."),
  holdReason: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      format: "text",
      description: "Only orders that are on hold for this reason, such as `out_of_stock`.",
    }),
  ),
  ready: flagField(
    "True: only orders that the warehouse can ship now: accepted, routed, not on hold, with unshipped lines. False: only others.",
  ),
  testMode: flagField("True: test orders instead of real ones."),
  facilityId: Type.Optional(Type.String({ description: "Only orders that this facility ships." })),
  countryCode: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z]{2}$",
      description: "Only orders to this country. Two letters, such as `DE`.",
    }),
  ),
  createdSince: Type.Optional(dateTime("Only orders that were created at or after this time.")),
  createdUntil: Type.Optional(dateTime("Only orders that were created before this time.")),
  updatedSince: Type.Optional(dateTime("Only orders that last changed at or after this time.")),
  updatedUntil: Type.Optional(dateTime("Only orders that last changed before this time.")),
  hasFailedDelivery: flagField(
    "True: only orders with an event that an endpoint did not accept in any attempt. False: only others.",
  ),
  sort: Type.Optional(
    Type.Enum(["newest", "oldest", "updated"], {
      default: "newest",
      description:
        "Which orders come first: by their creation, or with `updated` those whose last change is longest ago. With `updatedSince`, `updated` reads only what has changed since then. It cannot be combined with `q`, and is not for the role `partner`.",
    }),
  ),
  q: searchField(
    "The id of an order, a line, a shipment or an event; the beginning of the partner's own id; a tracking number, as printed or as scanned; a phone number, or its last six digits or more; or words, in any sequence, each the beginning of a word of the recipient's name, company, city or postal code, or of a number in the partner's own id. Of the newest orders, also parts within words. Case, accents and apostrophes are ignored, and `ß` is `ss`.",
  ),
});
type OrderQuery = Static<typeof OrderQuery>;

const filterErrors = (query: OrderQuery): ValidationError[] => [
  ...idErrors("mer", "merchantId", query),
  ...idErrors("con", "connectionId", query),
  ...idErrors("fac", "facilityId", query),
];

/** The filter that a valid query describes, within what the caller may see. */
const toOrderFilter = async (
  db: Queryable,
  { grants }: BackOfficeCaller,
  query: OrderQuery,
): Promise<OrderFilter> => ({
  scope: orderScope(grants),
  merchantId: idIn("mer", query.merchantId),
  connectionId: idIn("con", query.connectionId),
  status: query.status ?? null,
  onHold: query.onHold ?? null,
  holdReason: query.holdReason ?? null,
  ready: query.ready ?? null,
  testMode: query.testMode ?? false,
  facilityId: idIn("fac", query.facilityId),
  countryCode: query.countryCode?.toUpperCase() ?? null,
  createdSince: timeIn(query.createdSince),
  createdUntil: timeIn(query.createdUntil),
  updatedSince: timeIn(query.updatedSince),
  updatedUntil: timeIn(query.updatedUntil),
  hasFailedDelivery: query.hasFailedDelivery ?? null,
  sort: query.sort ?? "newest",
  ...(await toSearchedOrder(db, query.q)),
});

/** How the orders were found, for the audit log: never a text that was searched for, which may name the buyer. */
const detailsOf = ({ limit: _l, cursor: _c, sort: _s, q, ...filters }: OrderQuery) => ({
  ...filters,
  ...(q !== undefined && { searched: true }),
});

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
      const now = context.clock.now();
      if (filter.sort === "updated") {
        if (caller.grants.some(({ role }) => role === "partner")) return forbidden;
        if (query.q !== undefined)
          return validationFailed([{ parameter: "sort", rule: "not_combinable", field: "q" }]);
        const changed = await changedPage(context.db, filter, query, now);
        return isProblem(changed) ? changed : showPage(context, { caller, by, query }, changed);
      }
      const isNewest = filter.sort === "newest";
      const position = isNewest
        ? pagePosition("orders", query, UUID_MAX)
        : pagePosition("oldest orders", query, UUID_MIN);
      if (isProblem(position)) return position;
      const { orders, readTo } = await readListedOrders(context.db, filter, position, now);
      return showPage(
        context,
        { caller, by, query },
        toPage(orders, position, (row) => row, readTo),
      );
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

type OrderPage = { readonly data: readonly ListedOrder[]; readonly nextCursor: string | null };

/** Shows a page of orders as they are now, and records that they were read. */
async function showPage(
  context: Context,
  { caller, by, query }: { caller: BackOfficeCaller; by: Initiator; query: OrderQuery },
  { data: orders, nextCursor }: OrderPage,
): Promise<RouteResponse> {
  const testMode = query.testMode ?? false;
  await recordReads(context, by, { orders, testMode, details: detailsOf(query) });
  const shown = await readWithOwners(context.db, orders, context.clock.now());
  const names = await readProductNames(context.db, shown.flatMap(productsOf));
  return { status: 200, body: { data: shown.map((order) => summaryFor(caller, order, names)), nextCursor } };
}

/** A page of the list that is sorted by change, or the error of its cursor. */
async function changedPage(
  db: Database,
  filter: OrderFilter,
  { cursor, limit = PAGE_SIZE_DEFAULT }: OrderQuery,
  now: Date,
): Promise<OrderPage | Problem> {
  const after = cursor === undefined ? null : decodeChanged("updated orders", cursor);
  if (cursor !== undefined && after === null) return badCursor;
  const { orders, readTo } = await readChangedOrders(db, filter, after, limit, now);
  const data = orders.slice(0, limit);
  const last = orders.length > limit ? data.at(-1) : readTo;
  return { data, nextCursor: last == null ? null : encodeChanged("updated orders", last) };
}

const productsOf = ({ merchantId, lines }: Order) => lines.map(({ productId: id }) => ({ merchantId, id }));

/** An order of a list, as the role in which the caller sees it allows. */
function summaryFor(
  { grants }: BackOfficeCaller,
  order: Order & ListedOrder,
  names: ReadonlyMap<string, ProductName>,
) {
  const isPartner = roleOnOrder(grants, order) === "partner";
  const summary = toOrderSummary(
    order,
    order,
    order.goods,
    names,
    isPartner ? order.updatedAt : order.changedAt,
  );
  return roleOnOrder(grants, order) === "partner" ? summaryForPartner(summary) : summary;
}

const ReferenceSchema = Type.Object(
  {
    id: Type.String({ description: "Id of the order, set by the service." }),
    externalOrderId: Type.String({ description: "The partner's own id, as requested." }),
    testMode: Type.Boolean({ description: "True for a test order." }),
    merchantId: idField("mer", "Id of the merchant whose products are ordered."),
    merchantName: Type.String({ description: "Name of the merchant." }),
    connectionId: idField("con", "Id of the connection that placed the order."),
    connectionName: Type.String({ description: "Name of the connection." }),
    createdAt: dateTime("When the order was created."),
  },
  { title: "OrderReference", description: "An order and its owner, without personal data." },
);

const toWireReference = (found: OrderReference): Static<typeof ReferenceSchema> => ({
  id: wireOrderId(found),
  externalOrderId: found.externalOrderId,
  testMode: found.testMode,
  merchantId: toTypeId("mer", found.merchantId),
  merchantName: found.merchantName,
  connectionId: toTypeId("con", found.connectionId),
  connectionName: found.connectionName,
  createdAt: found.createdAt.toISOString(),
});

export const findRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/order-references",
    operationId: "findOrders",
    admits: andPartner(everyone),
    tag: "Orders",
    summary: "Find orders by the partner's own id",
    description:
      "Real and test orders with exactly this `externalOrderId`, newest first. Each connection has at most one, but connections choose their ids without each other. If no order has it, the list is empty.",
    query: Type.Object({
      externalOrderId: Type.String({
        minLength: 1,
        maxLength: 200,
        format: "text",
        description: "The partner's own id of the order, complete and in the same case.",
      }),
      connectionId: Type.Optional(Type.String({ description: "Only the order of this connection." })),
      limit: limitField,
      cursor: cursorField,
    }),
    responses: {
      200: { description: "A page of orders.", schema: pageOf(ReferenceSchema, "OrderReferencePage") },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const errors = idErrors("con", "connectionId", query);
      if (errors.length > 0) return validationFailed(errors);
      const position = pagePosition("found-orders", query, UUID_MAX);
      if (isProblem(position)) return position;
      const { externalOrderId, connectionId } = query;
      const filter = {
        externalOrderId,
        scope: orderScope(caller.grants),
        connectionId: connectionId === undefined ? null : fromTypeId("con", connectionId),
      };
      const found = await findOrdersByExternalId(context.db, filter, position, context.clock.now());
      return { status: 200, body: toPage(found, position, toWireReference) };
    },
  }),
];
