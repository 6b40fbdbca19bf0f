/** Which orders need review before they are accepted; null in a field means no limit. */
export type ReviewPolicy = {
  /** Pieces in the whole order. */
  readonly maxQuantity: number | null;
  /** Value of the goods, in minor units of the merchant's currency. */
  readonly maxOrderValueMinor: bigint | null;
  /** Upper-case country codes that ship without review. */
  readonly countries: readonly string[] | null;
};

type OrderUnderReview = {
  readonly quantity: number;
  readonly goodsMinor: bigint;
  readonly countryCode: string;
};

/** An order that exceeds any of the limits begins in PROCESSING (specification, part 3); at a limit it does not. */
export function needsReview(policy: ReviewPolicy, order: OrderUnderReview): boolean {
  const { maxQuantity, maxOrderValueMinor, countries } = policy;
  return (
    (maxQuantity !== null && order.quantity > maxQuantity) ||
    (maxOrderValueMinor !== null && order.goodsMinor > maxOrderValueMinor) ||
    (countries !== null && !countries.includes(order.countryCode))
  );
}
