import type { ConnectionKey } from "../platform/connection-key.ts";
import { versionOf } from "../platform/wire/content-version.ts";
import type { LimitOverrides } from "./limits.ts";

/** The access of one partner to one merchant. */
export type Connection = {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  /** The merchant's currency. All prices of the connection are in it. */
  readonly currency: string;
  readonly name: string;
  readonly reviewPolicy: ReviewPolicy;
  /** The operator's changes of the limits on what the connection can store. */
  readonly limits: LimitOverrides;
  readonly createdAt: Date;
  /**
   * When a connection that a stranger made for a test key ends (docs/design/isolation-and-limits.md, "Test keys without a
   * person"). Null for all others.
   */
  readonly endsAt: Date | null;
  /** Whether agents may use live keys (docs/design/api-conventions.md, "Agents"). */
  readonly liveAgents: boolean;
  /** How old a passed certification may be when a live key is issued. Null: none is needed. */
  readonly certificationMaxAgeDays: number | null;
  /** When a certification last passed. Null: none has. */
  readonly certifiedAt: Date | null;
};

export const keyOf = ({ merchantId, id }: Connection): ConnectionKey => ({ merchantId, connectionId: id });

/** Which orders need review before they are accepted. A null is no limit of the connection's own. */
export type ReviewPolicy = {
  /** Largest number of units in an order without review. */
  readonly maxQuantity: number | null;
  /** Largest value of the goods without review, in minor units of the merchant's currency. */
  readonly maxOrderValueMinor: bigint | null;
  /** Country codes, in upper case, to which orders need no review. */
  readonly countries: readonly string[] | null;
};

/** The version of a policy (docs/design/api-conventions.md, "Expected versions"). */
export const policyVersion = ({ maxQuantity, maxOrderValueMinor, countries }: ReviewPolicy): string =>
  versionOf([maxQuantity, maxOrderValueMinor === null ? null : String(maxOrderValueMinor), countries]);

/** The connection's own limits, and the service's where the connection has none (docs/design/lifecycle.md, "Review"). */
export const withDefaults = (
  policy: ReviewPolicy,
  defaults: Pick<ReviewPolicy, "maxQuantity" | "maxOrderValueMinor">,
): ReviewPolicy => ({
  ...policy,
  maxQuantity: policy.maxQuantity ?? defaults.maxQuantity,
  maxOrderValueMinor: policy.maxOrderValueMinor ?? defaults.maxOrderValueMinor,
});

type OrderUnderReview = {
  readonly quantity: number;
  readonly goodsMinor: bigint;
  readonly countryCode: string;
};

/**
 * True if an order exceeds a limit, so that it starts in PROCESSING (specification, part 3). An order at a limit does
 * not exceed it.
 */
export function needsReview(policy: ReviewPolicy, order: OrderUnderReview): boolean {
  const { maxQuantity, maxOrderValueMinor, countries } = policy;
  return (
    (maxQuantity !== null && order.quantity > maxQuantity) ||
    (maxOrderValueMinor !== null && order.goodsMinor > maxOrderValueMinor) ||
    (countries !== null && !countries.includes(order.countryCode))
  );
}
