import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { requestPaymentRetry } from "../retry/payment-retries-sql.ts";
import { type AccountEntry, readPayment } from "./account-entries-sql.ts";
import { insertPayment, lockAccounts } from "./account-sql.ts";

type PaymentFields = Pick<AccountEntry, "amountMinor" | "note"> & { readonly reference: string };

export type RecordedPayment =
  /** `replayed`: it was already recorded. */
  | { readonly outcome: "recorded"; readonly payment: AccountEntry; readonly replayed: boolean }
  /** The reference was used for a payment of a different amount. */
  | { readonly outcome: "reference-taken" };

/**
 * Adds a merchant's payment to its account, once per reference, and requests that its declined charges are attempted again.
 * A retry is safe.
 */
export async function recordPayment(
  context: Context,
  { id: merchantId }: Merchant,
  fields: PaymentFields,
  by: Initiator,
): Promise<RecordedPayment> {
  const { clock, newId } = context;
  return inTransaction<RecordedPayment>(context, async (tx) => {
    // Before the lookup, so that two requests with one reference wait for each other.
    await lockAccounts(tx, [merchantId]);
    const earlier = await readPayment(tx, merchantId, fields.reference);
    if (earlier !== null)
      return earlier.amountMinor === fields.amountMinor
        ? { outcome: "recorded", payment: earlier, replayed: true }
        : { outcome: "reference-taken" };
    const payment = {
      ...fields,
      id: newId(),
      kind: "payment" as const,
      createdAt: clock.now(),
      charge: null,
      recordedBy: by.actor,
    };
    await insertPayment(tx, merchantId, payment);
    const { amountMinor, reference } = fields;
    const fact = { merchantId, subject: "pay", ids: [payment.id] } as const;
    await recordAudit(tx, context, by, { ...fact, details: { amountMinor, reference } });
    await requestPaymentRetry(tx, context, merchantId);
    return { outcome: "recorded", payment, replayed: false };
  });
}
