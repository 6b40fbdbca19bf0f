import type { ClaimedPayment } from "../../ledger/due-payments-sql.ts";
import { fromTypeId, toTypeId } from "../../platform/ids.ts";

/** Metadata of a payment at Stripe, which names its ledger entry. `ledger_entry` is the idempotency key as well. */
export type PaymentName = {
  readonly connection: string;
  readonly order: string;
  readonly ledger_entry: string;
};

type EntryKey = Pick<ClaimedPayment, "connectionId" | "orderId" | "entryId">;

export const nameOf = ({ connectionId, orderId, entryId }: EntryKey): PaymentName => ({
  connection: toTypeId("con", connectionId),
  order: toTypeId("ord", orderId),
  ledger_entry: toTypeId("chg", entryId),
});

/** The entry that the metadata of a Stripe object names; null when it names none. */
export function entryNamedBy(metadata: Readonly<Record<string, unknown>>): EntryKey | null {
  const { connection, order, ledger_entry } = metadata as Partial<Record<keyof PaymentName, unknown>>; // Checked below.
  const connectionId = fromTypeId("con", String(connection));
  const orderId = fromTypeId("ord", String(order));
  const entryId = fromTypeId("chg", String(ledger_entry));
  if (connectionId === null || orderId === null || entryId === null) return null;
  return { connectionId, orderId, entryId };
}
