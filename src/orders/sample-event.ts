import { applyTransition } from "../lifecycle/lifecycle.ts";
import { type Order, OUT_OF_STOCK, PAYMENT_FAILED, type Transition } from "../lifecycle/order.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { NewId } from "../platform/ids.ts";
import { type Product, toPartnerProduct } from "../products/product.ts";
import type { EventType } from "../webhooks/events/event.ts";
import { toWireCanceled, toWireOrder, toWireShipment } from "./order-wire.ts";

/** The content of an event that shows its form, and about which nothing is stored. */
export type SampleEvent = {
  readonly type: EventType;
  /** Null for the types whose real events have none. */
  readonly sequence: number | null;
  readonly data: Readonly<Record<string, unknown>>;
};

type SampleContext = {
  readonly connection: ConnectionKey;
  readonly newId: NewId;
  readonly now: Date;
  /** The order can be canceled until a test order of now would be erased. */
  readonly lifetimeMs: number;
};

/**
 * A sample of an event (docs/design/event-feed.md, "Samples"). The real lifecycle and the real wire functions make it, so its
 * form is that of real events. It is about a test order with new ids, which are the ids of nothing.
 */
export function sampleEvent(type: EventType, context: SampleContext): SampleEvent {
  if (type === "product.published")
    return { type, sequence: null, data: { product: toPartnerProduct(sampleProduct(context)) } };
  const { isOptIn = false, showsShipment = false } = SAMPLES[type];
  const order = sampleOrderAfter(type, context);
  const shipment = order.shipments.find(() => showsShipment);
  const lines = order.lines.filter(({ cancellationId }) => cancellationId !== null);
  return {
    type,
    sequence: isOptIn ? null : order.lastSequence,
    data: {
      order: toWireOrder(order),
      ...(shipment !== undefined && { shipment: toWireShipment(order, shipment) }),
      ...(lines.length > 0 && toWireCanceled({ lines, reason: "out_of_stock" })),
    },
  };
}

/** The order of a sample. */
export function sampleOrderAfter(type: keyof typeof SAMPLES, context: SampleContext): Order {
  const order = sampleOrder(context);
  return SAMPLES[type]
    .transitions(context.newId(), order)
    .reduce((before, transition) => applied(before, transition, context.now), order);
}

type Sample = {
  /** What has happened to the order, last the cause of the event. */
  readonly transitions: (newId: string, order: Order) => readonly Transition[];
  readonly showsShipment?: true;
  readonly isOptIn?: true;
};

const TRACKING = {
  carrier: "Sample Carrier",
  trackingNumber: "SAMPLE-0001",
  trackingUrl: "https://tracking.example/SAMPLE-0001",
};
const accept: Transition = { name: "accept" };
const ship = (newShipmentId: string): Transition => ({
  name: "ship",
  lineIds: null,
  newShipmentId,
  tracking: TRACKING,
});
const cancelOneUnit = (newId: string, { lines }: Order): Transition => ({
  name: "cancelLines",
  parts: lines.map(({ id: lineId }) => ({ lineId, quantity: 1, restId: newId })),
  cancellationId: newId,
});
const hold = (reason: string): Transition => ({ name: "hold", reasons: [reason] });

const SAMPLES: Readonly<Record<Exclude<EventType, "product.published">, Sample>> = {
  "order.created": { transitions: () => [] },
  "order.canceled": { transitions: () => [{ name: "cancel" }] },
  "order.onHold": { transitions: () => [accept, hold(OUT_OF_STOCK)] },
  "order.onHoldReleased": { transitions: () => [accept, hold(OUT_OF_STOCK), { name: "releaseHold" }] },
  "order.shipmentCreated": { transitions: (id) => [accept, ship(id)], showsShipment: true },
  "order.shipmentReturned": {
    transitions: (id) => [accept, ship(id), { name: "returnShipment", shipmentId: id }],
    showsShipment: true,
  },
  "order.completed": { transitions: (id) => [accept, ship(id), { name: "complete" }] },
  "order.accepted": { transitions: () => [accept], isOptIn: true },
  "order.inProgress": { transitions: (id) => [accept, ship(id)], isOptIn: true },
  "order.shipmentUpdated": {
    transitions: (id) => [
      accept,
      ship(id),
      { name: "updateShipment", shipmentId: id, change: { status: "delivered" } },
    ],
    showsShipment: true,
    isOptIn: true,
  },
  "order.paymentFailed": { transitions: () => [hold(PAYMENT_FAILED)], isOptIn: true },
  "order.linesCanceled": { transitions: (id, order) => [accept, cancelOneUnit(id, order)], isOptIn: true },
};

function applied(order: Order, transition: Transition, now: Date): Order {
  const result = applyTransition(order, transition, now);
  if (result.outcome === "rejected") throw new Error(`A sample order rejects ${transition.name}.`);
  return result.order;
}

function sampleOrder({ connection, newId, now, lifetimeMs }: SampleContext): Order {
  const { merchantId, connectionId } = connection;
  return {
    merchantId,
    connectionId,
    id: newId(),
    testMode: true,
    externalOrderId: "sample-order",
    note: "A sample. This order does not exist.",
    metadata: { sample: "true" },
    status: "NEW",
    holdReasons: [],
    shippingAddress: {
      firstName: "Sample",
      lastName: "Buyer",
      name: null,
      company: null,
      phone: null,
      address1: "1 Sample Street",
      address2: null,
      city: "London",
      zip: "N1 1AA",
      stateCode: null,
      countryCode: "GB",
    },
    lines: [
      {
        id: newId(),
        productId: newId(),
        quantity: 2,
        shipmentId: null,
        splitFrom: null,
        cancellationId: null,
        returnedQuantity: 0,
      },
    ],
    shipments: [],
    createdAt: now,
    updatedAt: now,
    acceptanceDueAt: null,
    routedAt: null,
    facilityId: null,
    canceledAt: null,
    expiresAt: new Date(now.getTime() + lifetimeMs),
    lastSequence: 1,
  };
}

const sampleProduct = ({ connection, newId, now }: SampleContext): Product => ({
  id: newId(),
  merchantId: connection.merchantId,
  sku: "SAMPLE-SKU",
  name: "Sample product",
  description: "A sample. This product does not exist.",
  imageUrl: null,
  weightGrams: 500,
  barcode: null,
  lowStockBelow: null,
  priceMinor: 0n,
  currency: "EUR",
  status: "active",
  createdAt: now,
  updatedAt: now,
});
