import { isDeepStrictEqual } from "node:util";
import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import type { ClaimedPayment } from "../../ledger/due-payments-sql.ts";
import { type ShippingCharge, storeBookedShippings } from "../../ledger/shipping-charges.ts";
import { changedOverrides, type LimitChange, type MerchantLimitName } from "../../merchants/limits.ts";
import { lockMerchant, type Merchant, updateMerchant } from "../../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { groupCalls } from "../../platform/database/group.ts";
import { type NewId, toTypeId } from "../../platform/ids.ts";
import { processPayments } from "../process-payments.ts";
import type { Gateway, GatewayResponse } from "../record-responses.ts";
import { requestPaymentRetry } from "../retries-sql.ts";
import {
  type AccountEntry,
  insertBookings,
  insertDeclines,
  insertPayment,
  listBookable,
  lockAccounts,
  readDecided,
  readPayment,
} from "./account-sql.ts";
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
        : { status: "succeeded", reference: referenceOf(booking.id) },
    );
  });
}

/**
 * Books first charges for shipping on the accounts of merchants that pay from them, in the transaction that routes the orders
 * (docs/design/money.md, "Shipping is booked with the route"). Returns the charges that are left to the worker: those of other
 * merchants, of orders whose goods are not charged yet, and beyond a credit limit. The caller has locked the orders, and commits
 * soon: the accounts stay locked.
 */
export async function bookShippings<Charge extends ShippingCharge>(
  tx: Queryable,
  charges: readonly Charge[],
  { newId, now }: { newId: NewId; now: Date },
): Promise<Charge[]> {
  const bookable = await listBookable(
    tx,
    charges.map(({ order }) => order),
  );
  const requested = charges
    .filter(({ order, amountMinor }) => amountMinor > 0n && bookable.has(order.id))
    .map((charge) => {
      const { amountMinor, order } = charge;
      return {
        charge,
        booking: { merchantId: order.merchantId, id: newId(), kind: "charge" as const, amountMinor },
      };
    });
  const accounts = await lockAccounts(tx, [...new Set(requested.map(({ booking }) => booking.merchantId))]);
  const bookings = requested.map(({ booking }) => booking);
  const { made, declined } = decideBookings(accounts, bookings, () => null);
  const booked = requested.filter(({ booking }) => !declined.has(booking));
  await insertBookings(tx, made, now);
  await storeBookedShippings(
    tx,
    booked.map(({ charge, booking: { id } }) => ({ ...charge, id, reference: referenceOf(id) })),
    now,
  );
  const done = new Set<ShippingCharge>(booked.map(({ charge }) => charge));
  return charges.filter((charge) => !done.has(charge));
}

/** The account's name of a booking. */
const referenceOf = (id: string): string => toTypeId("chg", id);

/**
 * Changes the given fields. Returns null if there is no such merchant. The currency never changes. A credit limit that is not
 * lower than before requests that declined charges are attempted again. Else a change to what it is already writes nothing.
 */
export async function changeMerchant(
  context: Context,
  merchantId: string,
  {
    limits: limitChange = {},
    ...change
  }: Partial<Pick<Merchant, "name" | "accountEmail" | "creditLimitMinor" | "completeWhenShipped">> & {
    readonly limits?: LimitChange<MerchantLimitName>;
  },
  by: Initiator,
): Promise<Merchant | null> {
  return inTransaction(context, async (tx) => {
    const merchant = await lockMerchant(tx, merchantId);
    if (merchant === null) return null;
    const { name, accountEmail, creditLimitMinor, completeWhenShipped } = { ...merchant, ...change };
    const limits = changedOverrides(merchant.limits, limitChange);
    const changed: Merchant = {
      ...merchant,
      ...{ name, accountEmail, creditLimitMinor, completeWhenShipped, limits },
    };
    const isRetried = change.creditLimitMinor !== undefined && !isLowered(merchant, changed);
    if (isDeepStrictEqual(changed, merchant)) {
      if (isRetried) await requestPaymentRetry(tx, context, merchantId);
      return merchant;
    }
    // Locked, so that a transaction that decides about charges, or records a decline, sees the limit either before or
    // after this change.
    if (change.creditLimitMinor !== undefined) await lockAccounts(tx, [merchantId]);
    await updateMerchant(tx, changed);
    const fact = { merchantId, subject: "mer", ids: [merchantId] } as const;
    await recordAudit(tx, context, by, { ...fact, details: { ...change, ...limitChange } });
    if (isRetried) await requestPaymentRetry(tx, context, merchantId);
    return changed;
  });
}

const isLowered = ({ creditLimitMinor: before }: Merchant, { creditLimitMinor: after }: Merchant): boolean =>
  after !== null && (before === null || after < before);

/** Books due payments on the merchants' accounts. */
export async function processAccountPayments(context: Context, stopping?: AbortSignal): Promise<number> {
  return processPayments(context, accountGateway(context), stopping);
}

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
