import type { Actor } from "../../lifecycle/applied-transition.ts";
import type { NewEntry } from "../ledger.ts";

/** Why an order is refunded. */
export const REFUND_REASONS = [
  "returned",
  "damaged",
  "lost",
  "late",
  "wrong_item",
  "goodwill",
  "other",
] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

/** Partial refunds of one order by request. One without an amount is always possible. */
export const REFUNDS_MAX = 100;

export type RefundRequest = {
  /** Minor units of the order's currency, more than 0. Null: all that is left of the order's charges. */
  readonly amountMinor: bigint | null;
  readonly reason: RefundReason;
  readonly note: string | null;
  /** The caller's name for the refund. An order is refunded once for each reference. */
  readonly reference: string;
  /** Only charges for goods are refunded, so the amount is at most what is left of them. Absent: all charges. */
  readonly onlyGoods?: boolean;
};

/** A refund that was requested. Its entries in the ledger show how it is paid. */
export type Refund = {
  readonly id: string;
  /** Minor units of the order's currency. */
  readonly amountMinor: bigint;
  /** The request named no amount. */
  readonly allLeft: boolean;
  readonly reason: RefundReason;
  readonly note: string | null;
  readonly reference: string;
  readonly actor: Actor;
  readonly createdAt: Date;
};

/** Whether a request repeats the one that a refund was made by. The note may differ: it may have been erased. */
export const isRepeated = (refund: Refund, { amountMinor, reason }: RefundRequest): boolean =>
  refund.reason === reason &&
  (amountMinor === null ? refund.allLeft : !refund.allLeft && refund.amountMinor === amountMinor);

/** A refund that the order's charges allow, with its entries for the ledger. */
export type PossibleRefund = { readonly refund: Refund; readonly entries: readonly NewEntry[] };

export type RefundDecision =
  | ({ readonly outcome: "possible" } & PossibleRefund)
  /** An earlier request with the same reference made it. */
  | { readonly outcome: "repeated"; readonly refund: Refund }
  /** The reference was used for a different refund of the order. */
  | { readonly outcome: "reference-taken" }
  | { readonly outcome: "nothing-left" }
  | { readonly outcome: "more-than-left"; readonly leftMinor: bigint; readonly currency: string }
  | { readonly outcome: "too-many" };
