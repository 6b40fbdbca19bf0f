import type { Actor } from "../../lifecycle/applied-transition.ts";

/** Why goods came back. */
export const RETURN_REASONS = [
  "undeliverable",
  "refused",
  "unwanted",
  "damaged",
  "defective",
  "wrong_item",
  "not_as_described",
  "other",
] as const;
export type ReturnReason = (typeof RETURN_REASONS)[number];

/** In which condition goods came back. */
export const RETURN_CONDITIONS = ["unopened", "opened", "damaged", "defective"] as const;
export type ReturnCondition = (typeof RETURN_CONDITIONS)[number];

/** Goods in these conditions are not sold again, so they are not restocked (decision 0088). */
export const isUnsellable = (condition: ReturnCondition | null): boolean =>
  condition === "damaged" || condition === "defective";

/** Returns of single lines of one order. All of a shipment can always come back. */
export const RETURNS_MAX = 100;

/** The caller's details of a return. */
export type ReturnFacts = {
  readonly reason: ReturnReason | null;
  readonly condition: ReturnCondition | null;
  readonly note: string | null;
};

export type OrderReturn = ReturnFacts & {
  readonly id: string;
  /** The caller's name for the return, else for its refund. An order has one return for each. Null if the caller gave neither. */
  readonly reference: string | null;
  readonly lines: readonly { readonly lineId: string; readonly quantity: number }[];
  readonly restocked: boolean;
  /** Null if the request refunded nothing. */
  readonly refundId: string | null;
  readonly actor: Actor;
  readonly createdAt: Date;
};
