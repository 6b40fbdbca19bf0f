/**
 * The charge of a real order was declined. Only a payment, or a release that names the reason, clears it (decision
 * 0011).
 */
export const PAYMENT_FAILED = "payment_failed";
/** No facility with a rate for the order has all of its goods. */
export const OUT_OF_STOCK = "out_of_stock";
/** No facility has a shipping rate for the order's address. */
export const ADDRESS_UNSERVICEABLE = "address_unserviceable";
/**
 * The merchant requested the hold. It is the only reason that a merchant's staff can set and release (decision 0093).
 */
export const MERCHANT_REQUEST = "merchant_request";

/** The reasons that have a meaning for the service. An order can be on hold for any other reason too. */
export const HOLD_REASONS = [PAYMENT_FAILED, OUT_OF_STOCK, ADDRESS_UNSERVICEABLE, MERCHANT_REQUEST] as const;

/** Reasons that requests can place on one order. */
export const HOLD_REASONS_MAX = 40;

/** The reasons that routing sets and releases. An order on hold for one of them waits for stock or for a rate. */
export const ROUTING_HOLD_REASONS = [OUT_OF_STOCK, ADDRESS_UNSERVICEABLE] as const;
export type RoutingHoldReason = (typeof ROUTING_HOLD_REASONS)[number];
