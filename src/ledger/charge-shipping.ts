import type { Order } from "../lifecycle/order.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { NewId } from "../platform/ids.ts";
import { insertShippingCharges } from "./ledger-sql.ts";

/** The price of an order's shipping. */
export type ShippingCharge = {
  readonly order: Pick<Order, "merchantId" | "id">;
  readonly amountMinor: bigint;
  /** The currency of the order. */
  readonly currency: string;
};

/**
 * Charges the shipping of orders, in the transaction that routes them. The caller has locked the orders. A price of
 * zero is not charged. The database rejects a second charge for the same order's shipping.
 */
export async function chargeShippings(
  tx: Queryable,
  charges: readonly ShippingCharge[],
  at: { newId: NewId; now: Date },
): Promise<void> {
  const payable = charges
    .filter(({ amountMinor }) => amountMinor > 0n)
    .map(({ order, ...charge }) => ({ ...charge, merchantId: order.merchantId, orderId: order.id }));
  if (payable.length === 0) return;
  const charged = await insertShippingCharges(tx, payable, at);
  if (charged !== payable.length)
    throw new Error("Shipping cannot be charged to a test order or in a currency that is not the order's.");
}
