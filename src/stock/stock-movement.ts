import type { Actor } from "../lifecycle/applied-transition.ts";

export const MOVEMENT_KINDS = ["set", "adjusted", "shipped", "returned"] as const;
export type MovementKind = (typeof MOVEMENT_KINDS)[number];

/** Why a quantity is changed by a difference (decision 0094). */
export const ADJUSTMENT_REASONS = [
  "received",
  "returned",
  "found",
  "damaged",
  "lost",
  "sample",
  "correction",
  "other",
] as const;
export type AdjustmentReason = (typeof ADJUSTMENT_REASONS)[number];

/** For counts and adjustments. Far below what can be stored, because a return can exceed it. */
export const ON_HAND_MAX = 1_000_000_000;

/** The range of the column. */
export const ON_HAND_STORED_MAX = 2_147_483_647;

/** A change of the quantity on hand of a product at a facility. */
export type StockMovement = {
  readonly merchantId: string;
  readonly id: string;
  readonly facilityId: string;
  readonly productId: string;
  readonly kind: MovementKind;
  /** In units; negative if they left. */
  readonly difference: number;
  /** On hand after the movement. */
  readonly onHand: number;
  /** Null unless the quantity was adjusted. */
  readonly reason: AdjustmentReason | null;
  readonly note: string | null;
  /** The client's own name of an adjustment. Null if it has none. */
  readonly reference: string | null;
  /** The order that shipped or came back. Null for other kinds. */
  readonly orderId: string | null;
  readonly actor: Actor;
  readonly createdAt: Date;
};

/** A movement with what identifies its product and its order to people. */
export type MovementOfProduct = StockMovement & {
  readonly sku: string;
  readonly name: string;
  /** The partner's own id of the order. Null if there is no order, or if the partner gave none. */
  readonly externalOrderId: string | null;
};
