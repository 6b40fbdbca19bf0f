import { Type } from "typebox";
import { connectionScope, merchantScope, orderScope } from "../audit/grant.ts";
import { findConnectionsByName, findMerchantsByName } from "../merchants/merchants-sql.ts";
import { OrderStatusSchema, toWireOrder } from "../orders/order-wire.ts";
import { findOrders } from "../orders/reading/list-orders.ts";
import { searchPatterns } from "../platform/fold-text.ts";
import { fromTypeId, momentOf, toTypeId, wireOrderId } from "../platform/ids.ts";
import { dateTime, describedAs, idField, nullable } from "../platform/wire/schemas.ts";
import { findProducts } from "../products/find-products.ts";
import { findDeliveries } from "../webhooks/log/all-deliveries-sql.ts";
import { DeliveryStatusSchema } from "../webhooks/log/delivery.ts";
import { toWireOwner } from "../webhooks/owner.ts";
import { andPartner, type BackOfficeRoute, everyone, hasRole, route } from "./access.ts";
import { ownerScope } from "./endpoint-owners.ts";
import { recordReads } from "./orders/export.ts";

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
          recipientName: Type.String({ description: "Full name of the recipient." }),
          status: describedAs(OrderStatusSchema, "Present status of the order."),
          onHold: Type.Boolean({ description: "Whether the order is on hold." }),
          testMode: Type.Boolean({ description: "True for a test order." }),
          connectionName: Type.String({ description: "Name of the connection that placed it." }),
          merchantName,
          createdAt: dateTime("When the order was created."),
        },
        { title: "FoundOrder", description: "An order." },
      ),
      { description: "Orders as `q` of `GET /api/orders` finds them, the newest first." },
    ),
    deliveries: Type.Array(
      Type.Object(
        {
          id: idField("dlv", "Id of the delivery."),
          eventType: Type.String({ description: "Type of the event." }),
          status: describedAs(DeliveryStatusSchema, "Present status of the delivery."),
          ownerId: Type.String({
            description: "The connection, merchant or facility whose endpoint it is for.",
          }),
          ownerName: Type.String({ description: "Name of the owner." }),
          createdAt: dateTime("When the event was published."),
        },
        { title: "FoundDelivery", description: "A delivery." },
      ),
      { description: "The delivery with the id, or those of the event with the id." },
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
      {
        description: "Products by id, or by the beginning of the SKU; the newest also by a part of the name.",
      },
    ),
  },
  { title: "SearchResult", description: "What a text finds, at most 5 of each kind." },
);

/** The ids that the deliveries can have of which a text is the id, or that of their event: it is theirs but for the last 32 bits. */
function deliveryIdsOf(text: string): { readonly from: string; readonly to: string } | null {
  const delivery = fromTypeId("dlv", text);
  if (delivery !== null) return { from: delivery, to: delivery };
  const event = fromTypeId("evt", text);
  return event === null
    ? null
    : { from: `${event.slice(0, 28)}00000000`, to: `${event.slice(0, 28)}ffffffff` };
}

/** The results of the command palette. Names of buyers are personal data, so finding an order is recorded as a read. */
export const searchRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/search",
    operationId: "search",
    admits: andPartner(everyone),
    tag: "Search",
    summary: "Find orders, deliveries, connections, merchants and products",
    description:
      "At most 5 of each kind that the caller sees. Case, accents and apostrophes are ignored. Meant for each key that a person presses. Orders that are found are recorded as read.",
    query: Type.Object({
      q: Type.String({
        minLength: 2,
        maxLength: 200,
        format: "text",
        description:
          "An id of an order, a shipment, an event, a delivery, a connection, a merchant or a product, the beginning of a name, an external id or a SKU, a city, a postal code, a phone or a tracking number.",
      }),
    }),
    responses: { 200: { description: "What was found.", schema: SearchResultSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query, by }, { context }) => {
      const { db } = context;
      const { grants } = caller;
      const text = query.q.trim();
      const name = searchPatterns(text);
      const deliveryIds = deliveryIdsOf(text);
      const merchants = merchantScope(grants);
      const isMerchantShown = merchants === null || merchants.length > 0;
      const [orders, deliveries, connections, foundMerchants, products] = await Promise.all([
        findOrders(db, orderScope(grants), text, FOUND_MAX, context.clock.now()),
        deliveryIds === null ? [] : findDeliveries(db, ownerScope(grants), deliveryIds, FOUND_MAX),
        findConnectionsByName(db, connectionScope(grants), { name, id: fromTypeId("con", text) }, FOUND_MAX),
        isMerchantShown
          ? findMerchantsByName(db, merchants, { name, id: fromTypeId("mer", text) }, FOUND_MAX)
          : [],
        isMerchantShown && !hasRole(caller, "partner") ? findProducts(db, merchants, text, FOUND_MAX) : [],
      ]);
      await recordReads(context, by, { orders, testMode: text.startsWith("test_") });
      return {
        status: 200,
        body: {
          orders: orders.map((order) => ({
            id: wireOrderId(order),
            externalOrderId: order.externalOrderId,
            recipientName: toWireOrder(order).shippingAddress.name,
            status: order.status,
            onHold: order.holdReasons.length > 0,
            testMode: order.testMode,
            connectionName: order.connectionName,
            merchantName: order.merchantName,
            createdAt: order.createdAt.toISOString(),
          })),
          deliveries: deliveries.map(({ id, eventType, status, ownerName, ...key }) => {
            const { facilityId, connectionId, merchantId: ofMerchant } = toWireOwner(key);
            const ownerId = facilityId ?? connectionId ?? ofMerchant ?? "";
            return {
              ...{ id: toTypeId("dlv", id), eventType, status, ownerId, ownerName },
              createdAt: momentOf(id).toISOString(),
            };
          }),
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
