import type { PaymentOutcome } from "../../ledger/due-payments-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { lockAccountShared } from "./account-sql.ts";
import { CREDIT_LIMIT_EXCEEDED, isAffordable } from "./bookings.ts";

/**
 * Returns the entry ids of those charges of one merchant that its account declined and could pay by now. Runs in the
 * transaction that records the declines, under a lock of the account: a payment to the account either is visible here, or
 * sees what is recorded here and retries it.
 */
export async function findPayable(
  tx: Queryable,
  outcomes: readonly PaymentOutcome[],
): Promise<ReadonlySet<string>> {
  const declined = outcomes
    .filter(({ payment, reason }) => payment.gateway === "account" && reason === CREDIT_LIMIT_EXCEEDED)
    .map(({ payment }) => payment);
  const [first] = declined;
  const account = first === undefined ? null : await lockAccountShared(tx, first.merchantId);
  if (account === null) return new Set();
  const payable = declined.filter(({ amountMinor }) =>
    isAffordable(account, { kind: "charge", amountMinor }),
  );
  return new Set(payable.map(({ entryId }) => entryId));
}
