import type { Queryable } from "../database/database.ts";
import type { NewId } from "../ids.ts";
import type { Order } from "../orders/order.ts";

/** What shipping an order costs its merchant. */
export type ShippingCharge = {
  readonly order: Pick<Order, "connectionId" | "id">;
  readonly amountMinor: bigint;
  /** Must be the order's. */
  readonly currency: string;
};

/** Stands in until merchants are charged. */
export async function chargeShippings(
  _tx: Queryable,
  _charges: readonly ShippingCharge[],
  _context: { newId: NewId; now: Date },
): Promise<void> {}
