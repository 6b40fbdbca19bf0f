import { lockMerchant, type Merchant, updateMerchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { lockAccounts } from "./account-sql.ts";

/** Changes the fields that are given; null when there is no such merchant. The currency is for ever. */
export async function changeMerchant(
  context: Context,
  merchantId: string,
  change: Partial<Pick<Merchant, "name" | "accountEmail" | "creditLimitMinor" | "completeWhenShipped">>,
): Promise<Merchant | null> {
  return inTransaction(context, async (tx) => {
    const merchant = await lockMerchant(tx, merchantId);
    if (merchant === null) return null;
    // So that whoever decides about charges, or records that there was no room for one, sees the limit before or after.
    if (change.creditLimitMinor !== undefined) await lockAccounts(tx, [merchantId]);
    const changed: Merchant = { ...merchant, ...change };
    await updateMerchant(tx, changed);
    return changed;
  });
}
