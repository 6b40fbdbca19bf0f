/** Specification, part 3. */
export const ORDER_STATUSES = [
  "NEW",
  "PROCESSING",
  "ACCEPTED",
  "IN_PROGRESS",
  "COMPLETED",
  "CANCELED",
  "RETURNED",
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** Decision 0008. */
export const SHIPMENT_STATUSES = ["pending", "shipped", "delivered", "returned"] as const;
export type ShipmentStatus = (typeof SHIPMENT_STATUSES)[number];

export type ShippingAddress = {
  readonly firstName: string;
  readonly lastName: string;
  readonly name: string | null;
  readonly company: string | null;
  readonly address1: string;
  readonly address2: string | null;
  readonly city: string;
  readonly zip: string;
  readonly stateCode: string | null;
  /** Two upper-case letters. */
  readonly countryCode: string;
  readonly phone: string | null;
};

export type OrderLine = {
  readonly id: string;
  readonly productId: string;
  readonly quantity: number;
  /** The shipment that contains the line. Null until it ships. */
  readonly shipmentId: string | null;
  /** The line of the request that this line was split from (decision 0086). Null for the lines of the request. */
  readonly splitFrom: string | null;
  /** The units that came back. */
  readonly returnedQuantity: number;
};

export type Shipment = {
  readonly id: string;
  readonly status: ShipmentStatus;
  /** The carrier's name, from the warehouse. */
  readonly carrier: string | null;
  readonly trackingNumber: string | null;
  readonly trackingUrl: string | null;
  readonly createdAt: Date;
  /** When it was handed to the carrier (decision 0085). Null while it is pending. */
  readonly shippedAt: Date | null;
  /** When the recipient got it. Null before that. */
  readonly deliveredAt: Date | null;
  /** As the warehouse weighed it. Null if it did not. */
  readonly weightGrams: number | null;
};

/** An order as the rules see it. Ids are UUIDs here and TypeIDs on the wire. */
export type Order = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  readonly testMode: boolean;
  readonly externalOrderId: string | null;
  /** The partner's message to the people who handle the order. Null if there is none. */
  readonly note: string | null;
  /** The partner's own data. Empty if there is none. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly status: OrderStatus;
  /** Empty if the order is not on hold. */
  readonly holdReasons: readonly string[];
  readonly shippingAddress: ShippingAddress;
  /** In the order of the request. */
  readonly lines: readonly OrderLine[];
  /** Oldest first. */
  readonly shipments: readonly Shipment[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When the acceptance window of a real order closes; null for test orders and for orders that never had one. */
  readonly acceptanceDueAt: Date | null;
  /** When a real order was routed to a facility, or released for shipping without one. Null before that. */
  readonly routedAt: Date | null;
  /** Null until the order is routed, and if there is no facility to choose from. */
  readonly facilityId: string | null;
  /** A shipment may still come back later, and then the status is RETURNED. */
  readonly canceledAt: Date | null;
  /** When a test order is erased; null for real orders. */
  readonly expiresAt: Date | null;
  /** Sequence of the order's newest event. */
  readonly lastSequence: number;
};

/** The key of an order in the tables. */
export type OrderKey = Pick<Order, "merchantId" | "connectionId" | "id">;

/** The fields of an order that its own row holds and that transitions change. `Order` has them too. */
export type OrderState = OrderKey &
  Pick<
    Order,
    "testMode" | "status" | "holdReasons" | "updatedAt" | "acceptanceDueAt" | "canceledAt" | "lastSequence"
  >;

/**
 * How an order is named: by the service's id, by the partner's, or by a text that can be either. A text that has the
 * form of a service id may still be an external id (decision 0009).
 */
export type OrderRef = {
  readonly id: string | null;
  /** The mode that the prefix of the id names. Null if `id` is null. */
  readonly testMode: boolean | null;
  readonly externalOrderId: string | null;
};

type OrderEventType =
  | "order.created"
  | "order.canceled"
  | "order.onHold"
  | "order.onHoldReleased"
  | "order.shipmentCreated"
  | "order.shipmentReturned"
  | "order.completed";

/** A fact to be published as an event. An event about a shipment names it. */
export type OrderFact = { readonly type: OrderEventType; readonly shipmentId?: string };
