import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { Merchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { retryDeclinedCharges } from "../retry/retry-declined-charges.ts";
import { type AccountEntry, readPayment } from "./account-entries-sql.ts";
import { insertPayment, lockAccounts } from "./account-sql.ts";

type PaymentFields = Pick<AccountEntry, "amountMinor" | "note"> & { readonly reference: string };

export type RecordedPayment =
  /** `replayed`: it was already recorded. */
  | { readonly outcome: "recorded"; readonly payment: AccountEntry; readonly replayed: boolean }
  /** The reference was used for a payment of a different amount. */
  | { readonly outcome: "reference-taken" };

/**
 * Adds a merchant's payment to its account, once per reference, and makes its declined charges due at once. A retry is
 * safe.
 */
export async function recordPayment(
  context: Context,
  { id: merchantId }: Merchant,
  fields: PaymentFields,
  by: Initiator,
): Promise<RecordedPayment> {
  const { clock, newId } = context;
  const recorded = await inTransaction<RecordedPayment>(context, async (tx) => {
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
    return { outcome: "recorded", payment, replayed: false };
  });
  // Also for a payment that was already recorded, because the first request may have ended by a crash.
  if (recorded.outcome === "recorded") await retryDeclinedCharges(context, merchantId);
  return recorded;
}
