import { Type } from "typebox";
import { connectionScope, merchantScope, orderScope } from "../audit/grant.ts";
import { findConnectionsByName, findMerchantsByName } from "../merchants/merchants-sql.ts";
import { OrderStatusSchema } from "../orders/order-wire.ts";
import { findOrders } from "../orders/reading/list-orders.ts";
import { fromTypeId, toTypeId, wireOrderId } from "../platform/ids.ts";
import { dateTime, describedAs, idField, nullable, toSearched } from "../platform/wire/schemas.ts";
import { findProducts } from "../products/find-products.ts";
import { andPartner, type BackOfficeRoute, everyone, hasRole, route } from "./access.ts";

/** Things of each kind. */
const FOUND_MAX = 5;

const merchantName = Type.String({ description: "Name of its merchant." });
const merchantId = idField("mer", "Id of its merchant.");

const SearchResultSchema = Type.Object(
  {
    orders: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: "Id of the order." }),
          externalOrderId: nullable(Type.String(), "The partner's own id. Null if it has none."),
          status: describedAs(OrderStatusSchema, "Present status of the order."),
          onHold: Type.Boolean({ description: "Whether the order is on hold." }),
          testMode: Type.Boolean({ description: "True for a test order." }),
          connectionName: Type.String({ description: "Name of the connection that placed it." }),
          merchantName,
          createdAt: dateTime("When the order was created."),
        },
        { title: "FoundOrder", description: "An order, without personal data." },
      ),
      { description: "Orders as `q` of `GET /api/orders` finds them, the newest first." },
    ),
    connections: Type.Array(
      Type.Object(
        {
          id: idField("con", "Id of the connection."),
          name: Type.String({ description: "Name of the connection." }),
          merchantId,
          merchantName,
        },
        { title: "FoundConnection", description: "A connection." },
      ),
      { description: "Connections by id, or by a part of their names." },
    ),
    merchants: Type.Array(
      Type.Object(
        {
          id: idField("mer", "Id of the merchant."),
          name: Type.String({ description: "Name of the merchant." }),
        },
        { title: "FoundMerchant", description: "A merchant." },
      ),
      { description: "Merchants by id, or by a part of their names." },
    ),
    products: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: "Id of the product." }),
          sku: Type.String({ description: "SKU of the product." }),
          name: Type.String({ description: "Name of the product." }),
          merchantId,
          merchantName,
        },
        { title: "FoundProduct", description: "A product." },
      ),
      { description: "Products by the beginning of the SKU; the newest also by a part of the name." },
    ),
  },
  { title: "SearchResult", description: "What a text finds, at most 5 of each kind." },
);

/** The results of the command palette. It returns no personal data, so that typing leaves no trace in the audit log. */
export const searchRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/search",
    operationId: "search",
    admits: andPartner(everyone),
    tag: "Search",
    summary: "Find orders, connections, merchants and products",
    description:
      "At most 5 of each kind that the caller sees. Case is ignored. Meant for each key that a person presses.",
    query: Type.Object({
      q: Type.String({
        minLength: 2,
        maxLength: 200,
        format: "text",
        description: "An id, the beginning of a name, an external id or a SKU, or a tracking number.",
      }),
    }),
    responses: { 200: { description: "What was found.", schema: SearchResultSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const { db } = context;
      const { grants } = caller;
      const text = query.q.trim();
      const lower = toSearched(text) ?? "";
      const merchants = merchantScope(grants);
      const isMerchantShown = merchants === null || merchants.length > 0;
      const [orders, connections, foundMerchants, products] = await Promise.all([
        findOrders(db, orderScope(grants), text, FOUND_MAX, context.clock.now()),
        findConnectionsByName(
          db,
          connectionScope(grants),
          { text: lower, id: fromTypeId("con", text) },
          FOUND_MAX,
        ),
        isMerchantShown
          ? findMerchantsByName(db, merchants, { text: lower, id: fromTypeId("mer", text) }, FOUND_MAX)
          : [],
        isMerchantShown && !hasRole(caller, "partner") ? findProducts(db, merchants, text, FOUND_MAX) : [],
      ]);
      return {
        status: 200,
        body: {
          orders: orders.map((order) => ({
            id: wireOrderId(order),
            externalOrderId: order.externalOrderId,
            status: order.status,
            onHold: order.holdReasons.length > 0,
            testMode: order.testMode,
            connectionName: order.connectionName,
            merchantName: order.merchantName,
            createdAt: order.createdAt.toISOString(),
          })),
          connections: connections.map((found) => ({
            ...found,
            id: toTypeId("con", found.id),
            merchantId: toTypeId("mer", found.merchantId),
          })),
          merchants: foundMerchants.map((found) => ({ ...found, id: toTypeId("mer", found.id) })),
          products: products.map((found) => ({ ...found, merchantId: toTypeId("mer", found.merchantId) })),
        },
      };
    },
  }),
];
