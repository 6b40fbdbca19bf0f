import type { ClaimedPayment } from "../../ledger/claim-payments-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { groupCalls } from "../../platform/database/group.ts";
import { toTypeId } from "../../platform/ids.ts";
import type { Gateway, GatewayResponse } from "../gateway.ts";
import { insertBookings, insertDeclines, lockAccounts, readDecided } from "./account-sql.ts";
import { type Booking, CREDIT_LIMIT_EXCEEDED, decideBookings } from "./bookings.ts";

/** Payments in one claim and one transaction, which locks the merchant's account only once. */
const BATCH_SIZE = 500;

/** The gateway to the merchant's own account: a charge reduces its balance, down to the credit limit. */
export function accountGateway(context: Context): Gateway {
  const book = groupCalls<Booking, GatewayResponse>({
    name: "book payments",
    run: (bookings) => bookAll(context, bookings),
    sizeMax: BATCH_SIZE,
    concurrencyMax: 1,
  });
  return {
    name: "account",
    batchSize: BATCH_SIZE,
    concurrency: 1,
    charge: (payment) => book(bookingOf("charge", payment)),
    refund: (payment) => book(bookingOf("refund", payment)),
  };
}

const bookingOf = (kind: Booking["kind"], { merchantId, entryId, amountMinor }: ClaimedPayment): Booking => ({
  merchantId,
  id: entryId,
  kind,
  amountMinor,
});

/** Books what arrived together in one transaction. Each charge is decided separately, in the order of arrival. */
function bookAll(context: Context, bookings: readonly Booking[]): Promise<GatewayResponse[]> {
  return inTransaction(context, async (tx) => {
    const accounts = await lockAccounts(tx, [...new Set(bookings.map(({ merchantId }) => merchantId))]);
    const { made, declined } = decideBookings(accounts, bookings, await readDecided(tx, bookings));
    await insertBookings(tx, made, context.clock.now());
    await insertDeclines(tx, [...declined], context.clock.now());
    return bookings.map((booking) =>
      declined.has(booking)
        ? { status: "declined", reason: CREDIT_LIMIT_EXCEEDED }
        : { status: "succeeded", reference: toTypeId("chg", booking.id) },
    );
  });
}
