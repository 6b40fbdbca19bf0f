import type { ClaimedPayment } from "../../ledger/due-payments-sql.ts";
import { fromTypeId, toTypeId } from "../../platform/ids.ts";

/** How a payment at Stripe says which entry it belongs to. `ledger_entry` is the idempotency key as well. */
export type PaymentName = {
  readonly connection: string;
  readonly order: string;
  readonly ledger_entry: string;
};

type EntryPlace = Pick<ClaimedPayment, "connectionId" | "orderId" | "entryId">;

export const nameOf = ({ connectionId, orderId, entryId }: EntryPlace): PaymentName => ({
  connection: toTypeId("con", connectionId),
  order: toTypeId("ord", orderId),
  ledger_entry: toTypeId("chg", entryId),
});

/** The entry that something at Stripe says it belongs to; null when it says nothing of the kind. */
export function entryNamedBy(metadata: Readonly<Record<string, unknown>>): EntryPlace | null {
  const { connection, order, ledger_entry } = metadata as Partial<Record<keyof PaymentName, unknown>>;
  const connectionId = fromTypeId("con", String(connection));
  const orderId = fromTypeId("ord", String(order));
  const entryId = fromTypeId("chg", String(ledger_entry));
  if (connectionId === null || orderId === null || entryId === null) return null;
  return { connectionId, orderId, entryId };
}
