import { isDeepStrictEqual } from "node:util";
import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { lockMerchant, type Merchant, updateMerchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { requestPaymentRetry } from "../retry/payment-retries-sql.ts";
import { lockAccounts } from "./account-sql.ts";

/**
 * Changes the given fields. Returns null if there is no such merchant. The currency never changes. A credit limit that is not
 * lower than before requests that declined charges are attempted again. Else a change to what it is already writes nothing.
 */
export async function changeMerchant(
  context: Context,
  merchantId: string,
  change: Partial<Pick<Merchant, "name" | "accountEmail" | "creditLimitMinor" | "completeWhenShipped">>,
  by: Initiator,
): Promise<Merchant | null> {
  return inTransaction(context, async (tx) => {
    const merchant = await lockMerchant(tx, merchantId);
    if (merchant === null) return null;
    const { name, accountEmail, creditLimitMinor, completeWhenShipped } = { ...merchant, ...change };
    const changed: Merchant = { ...merchant, name, accountEmail, creditLimitMinor, completeWhenShipped };
    const isRetried = change.creditLimitMinor !== undefined && !isLowered(merchant, changed);
    if (isDeepStrictEqual(changed, merchant)) {
      if (isRetried) await requestPaymentRetry(tx, context, merchantId);
      return merchant;
    }
    // Locked, so that a transaction that decides about charges, or records a decline, sees the limit either before or
    // after this change.
    if (change.creditLimitMinor !== undefined) await lockAccounts(tx, [merchantId]);
    await updateMerchant(tx, changed);
    await recordAudit(tx, context, by, { merchantId, subject: "mer", ids: [merchantId], details: change });
    if (isRetried) await requestPaymentRetry(tx, context, merchantId);
    return changed;
  });
}

const isLowered = ({ creditLimitMinor: before }: Merchant, { creditLimitMinor: after }: Merchant): boolean =>
  after !== null && (before === null || after < before);
