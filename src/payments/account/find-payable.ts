import type { PaymentOutcome } from "../../ledger/due-payments-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { lockAccountsShared } from "./account-sql.ts";
import { CREDIT_LIMIT_EXCEEDED, isAffordable } from "./bookings.ts";

/**
 * Returns the entry ids of those charges that their merchants' accounts declined and could pay by now. Runs in the
 * transaction that records the declines, under locks of the accounts: a payment to an account either is visible here, or
 * sees what is recorded here and retries it.
 */
export async function findPayable(
  tx: Queryable,
  outcomes: readonly PaymentOutcome[],
): Promise<ReadonlySet<string>> {
  const declined = outcomes
    .filter(({ payment, reason }) => payment.gateway === "account" && reason === CREDIT_LIMIT_EXCEEDED)
    .map(({ payment }) => payment);
  const locked = await lockAccountsShared(tx, [...new Set(declined.map(({ merchantId }) => merchantId))]);
  const accounts = new Map(locked.map((account) => [account.merchantId, account]));
  const payable = declined.filter(({ merchantId, amountMinor }) => {
    const account = accounts.get(merchantId);
    return account !== undefined && isAffordable(account, { kind: "charge", amountMinor });
  });
  return new Set(payable.map(({ entryId }) => entryId));
}
