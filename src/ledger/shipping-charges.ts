import { type RecordContext, SERVICE } from "../lifecycle/applied-transition.ts";
import type { Order, OrderKey } from "../lifecycle/order.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { NewId } from "../platform/ids.ts";
import type { Unproved } from "../platform/wire/problems.ts";
import {
  failedCharges,
  type LedgerEntry,
  ofShipping,
  refundableMinor,
  refundsFor,
  shippingChargedMinor,
  shippingPaidMinor,
} from "./ledger.ts";
import {
  type EntryOfOrder,
  insertBookedShippings,
  insertEntries,
  insertShippingCharges,
  readLedger,
} from "./ledger-sql.ts";
import { type Refund, readRefunds, storeRefund } from "./refunds.ts";

type NewPrice = { readonly order: OrderKey; readonly amountMinor: bigint };

/**
 * Charges or returns the difference between the shipping price of an order that is routed again and what its earlier routes
 * cost (docs/design/lifecycle.md, "Corrected addresses"). So the shipping is never charged twice. The caller has locked the
 * order. A person needs recent authentication if something is returned.
 */
export async function adjustShipping(
  tx: Queryable,
  { order, amountMinor }: NewPrice,
  at: RecordContext & Unproved,
): Promise<void> {
  const ledger = await readLedger(tx, order, order.id);
  const charged = shippingChargedMinor(ledger);
  if (charged === null) return; // Its outcome is open, so the price stays. It is charged once in any case.
  const returned = (await readRefunds(tx, order))
    .filter(({ actor }) => actor.kind === SERVICE.kind)
    .reduce((sum, refund) => sum + refund.amountMinor, 0n);
  const missingMinor = amountMinor - (charged - returned);
  if (missingMinor > 0n) await chargeMore(tx, { order, amountMinor: missingMinor }, ledger, at);
  // What was waived is charged no more, and it was never paid.
  const overpaidMinor = shippingPaidMinor(ledger) - returned - amountMinor;
  if (overpaidMinor > 0n) await giveBack(tx, { order, amountMinor: overpaidMinor }, ledger, at);
}

async function chargeMore(
  tx: Queryable,
  { order, amountMinor }: NewPrice,
  ledger: readonly LedgerEntry[],
  { newId, now }: RecordContext,
): Promise<void> {
  const attempts = ledger.filter(({ kind }) => kind === "shipping").map(({ attempt }) => attempt);
  const entry: EntryOfOrder = {
    order,
    id: newId(),
    kind: "shipping",
    attempt: Math.max(0, ...attempts) + 1,
    refundOf: null,
    refundId: null,
    amountMinor,
    dueAt: now,
    gateway: null,
    requestId: null,
  };
  await insertEntries(tx, [entry], now);
}

/** At most what is left of the charges for shipping: a person may have refunded some of them. */
async function giveBack(
  tx: Queryable,
  { order, amountMinor }: NewPrice,
  ledger: readonly LedgerEntry[],
  at: RecordContext & Unproved,
): Promise<void> {
  const { newId, now } = at;
  const shipping = ofShipping(ledger);
  const leftMinor = refundableMinor(shipping);
  const refundMinor = leftMinor < amountMinor ? leftMinor : amountMinor;
  if (refundMinor === 0n) return;
  const id = newId();
  const refund: Refund = {
    id,
    amountMinor: refundMinor,
    lines: [],
    reason: "other",
    actor: SERVICE,
    createdAt: now,
    note: "Shipping to the corrected address costs less.",
    reference: `shipping ${id}`,
  };
  await storeRefund(tx, order, { refund, entries: refundsFor(shipping, refund, now) }, {}, at);
}

/** True if some of an order's shipping was paid and can still be returned, or was declined and may still be paid. */
export function mayReturnShipping(ledger: readonly LedgerEntry[]): boolean {
  const shipping = ofShipping(ledger);
  return refundableMinor(shipping) > 0n || failedCharges(shipping).length > 0;
}

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
  requireAll(payable, await insertShippingCharges(tx, payable, at));
}

/** A charge that was booked on the merchant's account. `reference` is the account's name of the booking. */
export type BookedShipping = ShippingCharge & { readonly id: string; readonly reference: string };

/** The same for charges that were booked on the merchants' accounts in this transaction: they have succeeded. */
export async function storeBookedShippings(
  tx: Queryable,
  booked: readonly BookedShipping[],
  now: Date,
): Promise<void> {
  if (booked.length === 0) return;
  const entries = booked.map(({ order, ...charge }) => ({
    ...charge,
    merchantId: order.merchantId,
    orderId: order.id,
  }));
  requireAll(entries, await insertBookedShippings(tx, entries, now));
}

function requireAll(charges: readonly unknown[], storedCount: number): void {
  if (storedCount !== charges.length)
    throw new Error("Shipping cannot be charged to a test order or in a currency that is not the order's.");
}
