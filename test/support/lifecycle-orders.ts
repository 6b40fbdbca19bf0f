import type { Order } from "../../src/lifecycle/order.ts";

export const NOW = new Date("2026-03-02T10:00:00.000Z");
export const at = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000);

/** An order that nobody can change: the lifecycle must answer new ones. */
export function anOrder(fields: Partial<Order> = {}): Order {
  return deepFreeze({
    connectionId: "connection",
    id: "order",
    testMode: true,
    externalOrderId: null,
    status: "NEW",
    holdReasons: [],
    shippingAddress: {} as Order["shippingAddress"], // The lifecycle does not look at it.
    lines: [
      { id: "line-1", productId: "product", quantity: 1, shipmentId: null },
      { id: "line-2", productId: "product", quantity: 2, shipmentId: null },
    ],
    shipments: [],
    createdAt: at(-60),
    updatedAt: at(-30),
    acceptanceDueAt: null,
    expiresAt: at(60),
    lastSequence: 1,
    routedAt: null,
    facilityId: null,
    canceledAt: null,
    ...fields,
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
