import type { PaymentOutcome } from "../../ledger/due-payments-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { lockAccountShared } from "./account-sql.ts";
import { CREDIT_LIMIT_EXCEEDED, isAffordable } from "./bookings.ts";

/**
 * Which charges, of those that one merchant's account had no room for, it has room for by now; their entries' ids. To
 * be asked in the transaction that records the declines: until it ends nothing is booked, so a payment either is seen
 * here, or sees what is recorded here and has it tried again.
 */
export async function findPayable(
  tx: Queryable,
  declined: readonly PaymentOutcome[],
): Promise<ReadonlySet<string>> {
  const charges = declined
    .filter(({ payment, reason }) => payment.gateway === "account" && reason === CREDIT_LIMIT_EXCEEDED)
    .map(({ payment }) => payment);
  const [first] = charges;
  const account = first === undefined ? null : await lockAccountShared(tx, first.merchantId);
  if (account === null) return new Set();
  const payable = charges.filter(({ amountMinor }) => isAffordable(account, { kind: "charge", amountMinor }));
  return new Set(payable.map(({ entryId }) => entryId));
}
