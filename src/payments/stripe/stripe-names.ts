import type { ClaimedPayment } from "../../ledger/claim-payments-sql.ts";
import { fromTypeId, toTypeId } from "../../platform/ids.ts";

/** Metadata of a payment at Stripe, which names its ledger entry. `ledger_entry` is the idempotency key as well. */
export type PaymentName = {
  readonly merchant: string;
  readonly order: string;
  readonly ledger_entry: string;
};

type EntryKey = Pick<ClaimedPayment, "merchantId" | "orderId" | "entryId">;

export const nameOf = ({ merchantId, orderId, entryId }: EntryKey): PaymentName => ({
  merchant: toTypeId("mer", merchantId),
  order: toTypeId("ord", orderId),
  ledger_entry: toTypeId("chg", entryId),
});

/** The entry that the metadata of a Stripe object names. Null if it names none. */
export function entryNamedBy(metadata: Readonly<Record<string, unknown>>): EntryKey | null {
  const { merchant, order, ledger_entry } = metadata as Partial<Record<keyof PaymentName, unknown>>; // Checked below.
  const merchantId = fromTypeId("mer", String(merchant));
  const orderId = fromTypeId("ord", String(order));
  const entryId = fromTypeId("chg", String(ledger_entry));
  if (merchantId === null || orderId === null || entryId === null) return null;
  return { merchantId, orderId, entryId };
}
