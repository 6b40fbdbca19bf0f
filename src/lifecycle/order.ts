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

/** See docs/design/lifecycle.md, "Fields of an order". */
export const SHIPMENT_STATUSES = ["pending", "shipped", "delivered", "returned", "voided"] as const;
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
  /** The cancellation that ended the line before it shipped, with all of its units. Null if none did. */
  readonly cancellationId: string | null;
  /**
   * The line of the request that this line was split from (docs/design/lifecycle.md, "Partial quantities"). Null for the lines
   * of the request.
   */
  readonly splitFrom: string | null;
  /** The units that came back. */
  readonly returnedQuantity: number;
};

/** Why lines of an order are canceled. */
export const CANCEL_REASONS = ["out_of_stock", "damaged", "discontinued", "buyer_request", "other"] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

export type Shipment = {
  readonly id: string;
  readonly status: ShipmentStatus;
  /** The carrier's name, from the warehouse. */
  readonly carrier: string | null;
  readonly trackingNumber: string | null;
  /** What was scanned, if the number was taken out of it. Null otherwise. */
  readonly scannedTrackingNumber: string | null;
  readonly trackingUrl: string | null;
  readonly createdAt: Date;
  /** When it was handed to the carrier (docs/design/lifecycle.md, "Shipments"). Null while it is pending. */
  readonly shippedAt: Date | null;
  /**
   * True if a request has said that the carrier has it. Tracking alone does not: a label is printed before the courier comes
   * (docs/design/lifecycle.md, "Voided shipments").
   */
  readonly handoverReported: boolean;
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
 * How an order is named: by the service's id, by the partner's, or by a text that can be either. A text that has the form of a
 * service id may still be an external id (docs/design/api-conventions.md, "Ids").
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

/**
 * The charge of a real order was declined. Only a payment, or a release that names the reason, clears it
 * (docs/design/lifecycle.md, "A failed payment is a hold").
 */
export const PAYMENT_FAILED = "payment_failed";
/** No facility with a rate for the order has all of its goods. */
export const OUT_OF_STOCK = "out_of_stock";
/** No facility has a shipping rate for the order's address. */
export const ADDRESS_UNSERVICEABLE = "address_unserviceable";
/**
 * The merchant requested the hold. It is the only reason that a merchant's staff can set and release
 * (docs/design/lifecycle.md, "Holds").
 */
export const MERCHANT_REQUEST = "merchant_request";

/** The reasons that have a meaning for the service. An order can be on hold for any other reason too. */
export const HOLD_REASONS = [PAYMENT_FAILED, OUT_OF_STOCK, ADDRESS_UNSERVICEABLE, MERCHANT_REQUEST] as const;

/** Reasons that requests can place on one order. */
export const HOLD_REASONS_MAX = 40;

/** The reasons that routing sets and releases. An order on hold for one of them waits for stock or for a rate. */
export const ROUTING_HOLD_REASONS = [OUT_OF_STOCK, ADDRESS_UNSERVICEABLE] as const;
export type RoutingHoldReason = (typeof ROUTING_HOLD_REASONS)[number];

/** A requested change of an order, the input of the lifecycle (src/lifecycle/lifecycle.ts). */
export type Transition =
  /** Transitions of the sandbox. The deadline uses `accept` for real orders. */
  | { readonly name: "process" | "accept" | "complete" | "cancel" }
  /** The results of a review. */
  | { readonly name: "approve" | "reject" }
  /** A request places reasons. They replace those of a test order, and are added to those of a real one. */
  | { readonly name: "hold"; readonly reasons: readonly string[] }
  /** The service places reasons, in addition to the others. */
  | { readonly name: "addHold"; readonly reasons: readonly string[] }
  /** Without `reasons`, all are released except the failed payment of a real order. */
  | { readonly name: "releaseHold"; readonly reasons?: readonly string[] }
  /** `lineIds` null means all unshipped lines. `newShipmentId` is the id of the new shipment. */
  | {
      readonly name: "ship";
      readonly lineIds: readonly string[] | null;
      /** For lines of `lineIds` of which only some units ship. */
      readonly parts?: readonly LinePart[];
      readonly newShipmentId: string;
      readonly tracking?: Tracking;
      readonly weightGrams?: number | null;
    }
  | { readonly name: "updateShipment"; readonly shipmentId: string; readonly change: ShipmentChange }
  /** The shipment never left. */
  | { readonly name: "voidShipment"; readonly shipmentId: string }
  /** Units that cannot be delivered, of open lines. The parts are what is canceled. */
  | { readonly name: "cancelLines"; readonly parts: readonly LinePart[]; readonly cancellationId: string }
  /** Without `lines`, all of a shipment comes back; null means the most recent one that is out. */
  | {
      readonly name: "returnShipment";
      readonly shipmentId: string | null;
      readonly lines?: readonly { readonly lineId: string; readonly quantity: number }[];
    }
  /** An absent field keeps its value. `isShippingPending`: the shipping was charged, and no outcome is known yet. */
  | {
      readonly name: "updateShippingAddress";
      readonly change: Partial<ShippingAddress>;
      readonly isShippingPending: boolean;
    }
  /** A partner's cancel. It is possible only before acceptance, or while payment has failed. */
  | { readonly name: "cancelByPartner" };
export type TransitionName = Transition["name"];

/** Some or all units of a line. If only some, the line is split, and the id of the new line is `restId`. */
export type LinePart = { readonly lineId: string; readonly quantity: number; readonly restId: string };

export type Tracking = Pick<Shipment, "carrier" | "trackingNumber" | "trackingUrl"> &
  Partial<Pick<Shipment, "scannedTrackingNumber">>;
/** An absent field keeps its value. */
export type ShipmentChange = Partial<
  Tracking & { readonly status: Exclude<ShipmentStatus, "returned" | "voided"> }
>;

export type TransitionRule =
  | "order_on_hold"
  | "unshipped_lines"
  | "order_settled"
  | "no_shipment_out"
  | "shipment_left"
  | "nothing_to_ship"
  | "nothing_to_cancel"
  | "whole_order"
  | "goods_unpaid"
  | "tracking_number_repeated"
  | "too_many_lines"
  | "not_cancelable"
  /** Rules of real orders, which follow the chart. */
  | "not_new"
  | "not_in_review"
  | "not_accepted"
  | "not_routed"
  | "nothing_to_pay"
  | "nothing_to_refund"
  | "too_many_refunds"
  | "too_many_returns"
  | "order_not_settled"
  | "already_shipped"
  | "other_country"
  | "shipping_charge_pending"
  | "too_many_corrections"
  | "hold_not_releasable"
  | "too_many_hold_reasons"
  | "too_many_changes";
