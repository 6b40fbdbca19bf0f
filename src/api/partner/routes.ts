import { Type } from "typebox";
import { cancelOrder } from "../../orders/changes/cancel-order.ts";
import { TransitionRequestSchema, transitionTestOrder } from "../../orders/changes/transition-test-order.ts";
import { orderCreator } from "../../orders/creation/create-order.ts";
import { IdempotencyKeyHeaders, OrderRequestSchema } from "../../orders/creation/order-request.ts";
import {
  CreatedOrderSchema,
  OrderIdParams,
  OrderSchema,
  parseOrderRef,
  toWireCreatedOrder,
  toWireOrder,
} from "../../orders/order-wire.ts";
import { orderReader, type ReadOrder } from "../../orders/read-order.ts";
import { parseUuid, wireOrderId } from "../../platform/ids.ts";
import { pagePosition } from "../../platform/wire/cursor.ts";
import { isProblem, notFound } from "../../platform/wire/problems.ts";
import { cursorField, limitField, pageOf } from "../../platform/wire/schemas.ts";
import { productLister } from "../../products/list-products.ts";
import { PartnerProductSchema, toPartnerProduct } from "../../products/product.ts";
import { readExposedProduct } from "../../products/products-sql.ts";
import type { WebhookContext } from "../../webhooks/context.ts";
import { type Route, routeTable } from "../http/route.ts";
import type { PartnerCaller } from "./authentication.ts";
import { deliveryRoutes } from "./delivery-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import { MeSchema, readMe } from "./me.ts";
import { webhookRoutes } from "./webhook-routes.ts";

const route = routeTable<PartnerCaller>();

/** Every route of the partner's listener. All of them need a connection's key. */
export function partnerRoutes(context: WebhookContext): Route<PartnerCaller>[] {
  const readOrder = orderReader(context);
  return [
    ...specifiedRoutes(context, readOrder),
    ...webhookRoutes(context),
    ...deliveryRoutes(context, readOrder),
    ...eventRoutes(context, readOrder),
  ];
}

/** As in the specification, part 4. */
function specifiedRoutes(context: WebhookContext, readOrder: ReadOrder): Route<PartnerCaller>[] {
  const createOrder = orderCreator(context, readOrder);
  const listProducts = productLister(context.db);
  return [
    route({
      method: "POST",
      path: "/v1/orders",
      operationId: "createOrder",
      tag: "Orders",
      summary: "Create an order",
      description:
        "Orders are deduplicated per connection by the `Idempotency-Key` header, else by `externalOrderId`. A retry of a request that succeeded answers 200 with the order as it stands now. The key lives as long as its order; a refused request does not use it up.",
      headers: IdempotencyKeyHeaders,
      body: OrderRequestSchema,
      answers: {
        201: {
          description: "The order was created.",
          schema: CreatedOrderSchema,
          headers: { Location: "Path of the new order." },
        },
        200: {
          description: "The request had succeeded before: the order as it stands now.",
          schema: CreatedOrderSchema,
          headers: { "Idempotent-Replayed": "Always `true`." },
        },
      },
      problems: [
        "idempotency-key-missing",
        "order-already-exists",
        "idempotency-key-reused",
        "validation-failed",
      ],
      handle: async ({ caller, headers, body }) => {
        const created = await createOrder(caller.connectionId, headers["idempotency-key"], body);
        if (isProblem(created)) return created;
        const { order, replayed } = created;
        const shown = toWireCreatedOrder(order);
        return replayed
          ? { status: 200, headers: { "idempotent-replayed": "true" }, body: shown }
          : { status: 201, headers: { location: `/v1/orders/${wireOrderId(order)}` }, body: shown };
      },
    }),
    route({
      method: "GET",
      path: "/v1/orders/{orderId}",
      operationId: "readOrder",
      tag: "Orders",
      summary: "Read an order",
      params: OrderIdParams,
      answers: { 200: { description: "The order as it stands now.", schema: OrderSchema } },
      problems: ["not-found", "validation-failed"],
      handle: async ({ caller, params }) => {
        const order = await readOrder({
          connectionId: caller.connectionId,
          ref: parseOrderRef(params.orderId),
        });
        return order === null ? notFound("order") : { status: 200, body: toWireOrder(order) };
      },
    }),
    route({
      method: "POST",
      path: "/v1/orders/{orderId}/cancel",
      operationId: "cancelOrder",
      tag: "Orders",
      summary: "Cancel an order",
      description:
        "Possible while the order is NEW and its window is open, or while its payment has failed. Canceling a canceled order answers 200 again. A body is ignored.",
      params: OrderIdParams,
      answers: { 200: { description: "The canceled order.", schema: OrderSchema } },
      problems: ["not-found", "order-not-cancelable", "validation-failed"],
      handle: async ({ caller, params }) => {
        const order = await cancelOrder(context, caller.connectionId, parseOrderRef(params.orderId));
        return isProblem(order) ? order : { status: 200, body: toWireOrder(order) };
      },
    }),
    route({
      method: "GET",
      path: "/v1/products",
      operationId: "listProducts",
      tag: "Products",
      summary: "List products",
      description:
        "The products exposed to the connection, oldest first. A product exposed while paging may land on a later page or only on the next pass; `product.published` announces it.",
      query: Type.Object({
        limit: limitField,
        cursor: cursorField,
        sku: Type.Optional(
          Type.String({
            maxLength: 255,
            format: "text",
            description: "Only products with this SKU, of which there may be several.",
          }),
        ),
      }),
      answers: {
        200: { description: "A page of products.", schema: pageOf(PartnerProductSchema, "ProductPage") },
      },
      problems: ["validation-failed"],
      handle: async ({ caller: { connectionId }, query }) => {
        const position = pagePosition("products", query);
        if (isProblem(position)) return position;
        return {
          status: 200,
          json: await listProducts({ ...position, connectionId, sku: query.sku ?? null }),
        };
      },
    }),
    route({
      method: "GET",
      path: "/v1/products/{id}",
      operationId: "readProduct",
      tag: "Products",
      summary: "Read a product",
      description: "A discontinued product still resolves.",
      params: Type.Object({ id: Type.String({ description: "The product's UUID." }) }),
      answers: { 200: { description: "The product.", schema: PartnerProductSchema } },
      problems: ["not-found"],
      handle: async ({ caller, params }) => {
        const id = parseUuid(params.id);
        const product = id === null ? null : await readExposedProduct(context.db, caller.connectionId, id);
        return product === null ? notFound("product") : { status: 200, body: toPartnerProduct(product) };
      },
    }),
    route({
      method: "GET",
      path: "/v1/me",
      operationId: "readMe",
      tag: "Connection",
      summary: "Read the connection the key acts as",
      answers: { 200: { description: "The connection.", schema: MeSchema } },
      problems: [],
      handle: ({ caller }) => readMe(context.db, caller),
    }),
    route({
      method: "POST",
      path: "/v1/test/orders/{orderId}/transitions",
      operationId: "transitionTestOrder",
      tag: "Sandbox",
      summary: "Drive a test order",
      description:
        "Applies one named transition and publishes the event that a real transition would publish.",
      params: OrderIdParams,
      body: TransitionRequestSchema,
      answers: { 200: { description: "The order after the transition.", schema: OrderSchema } },
      problems: ["not-found", "transition-refused", "validation-failed"],
      handle: async ({ caller, params, body }) => {
        const order = await transitionTestOrder(
          context,
          caller.connectionId,
          parseOrderRef(params.orderId),
          body,
        );
        return isProblem(order) ? order : { status: 200, body: toWireOrder(order) };
      },
    }),
  ];
}
