import type { Shipment, ShipmentStatus } from "./order.ts";

/** What may happen to an order, as the lifecycle takes it (src/lifecycle/lifecycle.ts). */
export type Transition =
  /** Transitions of the sandbox; the deadline uses `accept` for real orders. */
  | { readonly name: "process" | "accept" | "complete" | "cancel" }
  /** Ends of a review. */
  | { readonly name: "approve" | "reject" }
  /** Replaces the reasons, except that a real order's failed payment stays: only paying ends it, or a release that names it. */
  | { readonly name: "hold"; readonly reasons: readonly string[] }
  | { readonly name: "addHold"; readonly reasons: readonly string[] }
  /** Without `reasons`: all of them, except a real order's failed payment. */
  | { readonly name: "releaseHold"; readonly reasons?: readonly string[] }
  /** `lineIds` null: all unshipped lines. `newShipmentId` is the id that the shipment gets. */
  | {
      readonly name: "ship";
      readonly lineIds: readonly string[] | null;
      readonly newShipmentId: string;
      readonly tracking?: Tracking;
    }
  | { readonly name: "updateShipment"; readonly shipmentId: string; readonly change: ShipmentChange }
  /** `shipmentId` null: the most recent shipment still out. */
  | { readonly name: "returnShipment"; readonly shipmentId: string | null }
  /** A partner cancels: only before acceptance, or while payment has failed. */
  | { readonly name: "cancelByPartner" };
export type TransitionName = Transition["name"];

export type Tracking = Pick<Shipment, "carrier" | "trackingNumber" | "trackingUrl">;
/** What is left out stays as it is. */
type ShipmentChange = Partial<Tracking & { readonly status: Exclude<ShipmentStatus, "returned"> }>;

export type TransitionRule =
  | "order_on_hold"
  | "unshipped_lines"
  | "order_settled"
  | "no_shipment_out"
  | "nothing_to_ship"
  | "not_cancelable"
  /** Rules of real orders, which walk the chart. */
  | "not_new"
  | "not_in_review"
  | "not_accepted"
  | "not_routed"
  | "nothing_to_pay"
  | "already_shipped";
