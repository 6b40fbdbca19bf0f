import type { EntryKind, LedgerEntry } from "./ledger.ts";

/** What has been moved for an order, in minor units of its currency. Pending and declined entries do not count. */
export type OrderTotals = {
  readonly goodsMinor: bigint;
  readonly shippingMinor: bigint;
  readonly refundedMinor: bigint;
  /** Charged minus refunded. */
  readonly totalMinor: bigint;
};

export function totalsOf(entries: readonly LedgerEntry[]): OrderTotals {
  const sum = (wanted: EntryKind): bigint =>
    entries
      .filter(({ kind, status }) => kind === wanted && status === "succeeded")
      .reduce((total, { amountMinor }) => total + amountMinor, 0n);
  const [goodsMinor, shippingMinor, refundedMinor] = [sum("goods"), sum("shipping"), sum("refund")];
  return { goodsMinor, shippingMinor, refundedMinor, totalMinor: goodsMinor + shippingMinor - refundedMinor };
}
