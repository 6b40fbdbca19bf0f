import type { Connection, Money, Order } from "../../api/schema.d.ts";

export type ReviewReason =
  | { readonly rule: "quantity"; readonly units: number; readonly limit: number }
  | { readonly rule: "value"; readonly value: Money; readonly limit: Money }
  | { readonly rule: "country"; readonly countryCode: string };

/** Compares amounts of one currency without losing a cent: both have its number of decimals, or are padded to four. */
const isMore = (one: Money, other: Money): boolean => minor(one) > minor(other);

function minor({ amount }: Money): bigint {
  const [whole = "0", decimals = ""] = amount.split(".");
  return BigInt(`${whole}${decimals.padEnd(4, "0")}`);
}

/**
 * Which rules of the connection's review policy an order exceeds. It repeats `needsReview` of the service
 * (src/merchants/connection.ts) for display. Empty if a limit of the service itself was exceeded, or if the policy
 * has changed since.
 */
export function reviewReasons(
  { lines, goods, shippingAddress }: Pick<Order, "lines" | "goods" | "shippingAddress">,
  { reviewPolicy: policy }: Pick<Connection, "reviewPolicy">,
): readonly ReviewReason[] {
  const units = lines.reduce((sum, { quantity }) => sum + quantity, 0);
  const { countryCode } = shippingAddress;
  const reasons: ReviewReason[] = [];
  if (policy === null) return reasons;
  const { maxQuantity, maxOrderValue, countries } = policy;
  if (maxQuantity !== null && units > maxQuantity)
    reasons.push({ rule: "quantity", units, limit: maxQuantity });
  if (goods !== null && maxOrderValue !== null && isMore(goods, maxOrderValue))
    reasons.push({ rule: "value", value: goods, limit: maxOrderValue });
  if (countries !== null && !countries.includes(countryCode)) reasons.push({ rule: "country", countryCode });
  return reasons;
}
