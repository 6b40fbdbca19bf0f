import type { Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { retryDeclinedCharges } from "../retry/retry-declined-charges.ts";
import { type AccountEntry, insertPayment, lockAccounts, readPayment } from "./account-sql.ts";

type PaymentFields = Pick<AccountEntry, "amountMinor" | "note"> & { readonly reference: string };

export type RecordedPayment =
  /** `replayed`: it was recorded before. */
  | { readonly outcome: "recorded"; readonly payment: AccountEntry; readonly replayed: boolean }
  /** The reference was already used for a payment of a different amount. */
  | { readonly outcome: "reference-taken" };

/**
 * Adds what a merchant has paid to its account, once per reference, and makes its declined charges due at once. A retry
 * is safe.
 */
export async function recordPayment(
  context: Context,
  { id: merchantId }: Merchant,
  fields: PaymentFields,
): Promise<RecordedPayment> {
  const { clock, newId } = context;
  const recorded = await inTransaction<RecordedPayment>(context, async (tx) => {
    await lockAccounts(tx, [merchantId]); // Before the look, so that two with one reference come one after the other.
    const earlier = await readPayment(tx, merchantId, fields.reference);
    if (earlier !== null)
      return earlier.amountMinor === fields.amountMinor
        ? { outcome: "recorded", payment: earlier, replayed: true }
        : { outcome: "reference-taken" };
    const payment = { ...fields, id: newId(), kind: "payment" as const, createdAt: clock.now() };
    await insertPayment(tx, merchantId, payment);
    return { outcome: "recorded", payment, replayed: false };
  });
  // Also for a payment that was recorded before: the first request may have had no response because of a crash.
  if (recorded.outcome === "recorded") await retryDeclinedCharges(context, merchantId);
  return recorded;
}
