import { expect, it } from "vitest";
import { isProblem, type PartnerOrders, type WebhookEvent } from "../../../packages/sdk/src/index.ts";
import { anOrderOf } from "../../support/partner-sdk.ts";

// These hold when `npm run check` compiles them. Nothing is called.

const { externalOrderId, ...unnamed } = anOrderOf("product", "web-1");

export const creations = (client: PartnerOrders) => [
  client.orders.create({ ...unnamed, externalOrderId }),
  client.orders.create(unnamed, { idempotencyKey: "key" }),
  // @ts-expect-error: a creation without a key could not be repeated.
  client.orders.create(unnamed),
  // @ts-expect-error: neither could this one.
  client.orders.create(unnamed, { timeoutMs: 1 }),
  // @ts-expect-error: an existing order is found by its externalOrderId.
  client.orders.createOrGet(unnamed, { idempotencyKey: "key" }),
];

export function codes(error: unknown): string | number | null {
  if (!isProblem(error)) return null;
  switch (error.code) {
    case "order-not-cancelable":
      return error.problem.orderStatus;
    case "order-already-exists":
      // @ts-expect-error: it belongs to another code.
      error.problem.orderStatus;
      return error.problem.orderId;
    case "limit-reached":
      return error.problem.maximum;
    // @ts-expect-error: there is no such code.
    case "order-not-cancellable":
      return null;
    default:
      return error.status;
  }
}

export function types(event: WebhookEvent): string | number | null {
  switch (event.type) {
    case "order.shipmentCreated":
      return event.data.shipment.trackingUrl;
    case "order.created":
      // @ts-expect-error: an order that was just created has no shipment.
      event.data.shipment;
      return event.data.order.id;
    case "product.published":
      return event.data.product.sku;
    case "unknown":
      return event.sentType;
    default:
      return event.sequence;
  }
}

it("is checked by the compiler", () => expect([creations, codes, types]).toHaveLength(3));
