import type { Shipment, ShipmentStatus, ShippingAddress } from "./order.ts";

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

/** The units of a line that ship. The others become a line with the id `restId`. */
export type LinePart = { readonly lineId: string; readonly quantity: number; readonly restId: string };

export type Tracking = Pick<Shipment, "carrier" | "trackingNumber" | "trackingUrl">;
/** An absent field keeps its value. */
export type ShipmentChange = Partial<Tracking & { readonly status: Exclude<ShipmentStatus, "returned"> }>;

export type TransitionRule =
  | "order_on_hold"
  | "unshipped_lines"
  | "order_settled"
  | "no_shipment_out"
  | "nothing_to_ship"
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
  | "shipping_charge_pending"
  | "too_many_corrections"
  | "hold_not_releasable"
  | "too_many_hold_reasons"
  | "too_many_changes";
