import type { Order } from "../../src/lifecycle/order.ts";

export const NOW = new Date("2026-03-02T10:00:00.000Z");
export const at = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000);

/** An immutable order: the lifecycle must return new ones. */
export function anOrder(fields: Partial<Order> = {}): Order {
  return deepFreeze({
    merchantId: "merchant",
    connectionId: "connection",
    id: "order",
    testMode: true,
    externalOrderId: null,
    status: "NEW",
    holdReasons: [],
    // The lifecycle reads no address, its representation the names.
    shippingAddress: { firstName: "Ada", lastName: "Lovelace" } as Order["shippingAddress"],
    lines: [
      {
        id: "line-1",
        productId: "product",
        quantity: 1,
        shipmentId: null,
        splitFrom: null,
        returnedQuantity: 0,
        cancellationId: null,
      },
      {
        id: "line-2",
        productId: "product",
        quantity: 2,
        shipmentId: null,
        splitFrom: null,
        returnedQuantity: 0,
        cancellationId: null,
      },
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
    note: null,
    metadata: {},
    ...fields,
  });
}

/** A real order in its acceptance window, which has been routed. */
export const REAL: Partial<Order> = {
  testMode: false,
  expiresAt: null,
  acceptanceDueAt: at(60),
  routedAt: at(-50),
};

export type Shipped = "nothing shipped" | "one line shipped" | "all shipped" | "all returned";
export function shippedOrder(shipped: Shipped, fields: Partial<Order> = {}): Order {
  const parcel = (id: string) => ({
    id,
    status: shipped === "all returned" ? ("returned" as const) : ("pending" as const),
    carrier: null,
    trackingNumber: null,
    scannedTrackingNumber: null,
    trackingUrl: null,
    createdAt: at(-40),
    shippedAt: null,
    handoverReported: false,
    deliveredAt: null,
    weightGrams: null,
  });
  const [first, second] = anOrder().lines;
  if (first === undefined || second === undefined) throw new Error("The order has two lines.");
  const lineIn = (line: typeof first, shipmentId: string | null) => ({ ...line, shipmentId });
  if (shipped === "nothing shipped") return anOrder(fields);
  if (shipped === "one line shipped") {
    const lines = [lineIn(first, "parcel-1"), lineIn(second, null)];
    return anOrder({ ...fields, lines, shipments: [parcel("parcel-1")] });
  }
  const lines = [lineIn(first, "parcel-1"), lineIn(second, "parcel-2")];
  return anOrder({ ...fields, lines, shipments: [parcel("parcel-1"), parcel("parcel-2")] });
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
