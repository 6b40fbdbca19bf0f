import type Stripe from "stripe";
import type { ClaimedPayment } from "../../ledger/claim-payments-sql.ts";
import type { Clock } from "../../platform/clock.ts";
import { MINUTE_MS } from "../../platform/time.ts";
import type { GatewayResponse } from "../gateway.ts";
import { sendAtMostOnce } from "./at-most-once.ts";
import { toStripeAmount } from "./stripe-amount.ts";
import { reasonOf, rejectionOf } from "./stripe-errors.ts";
import { nameOf } from "./stripe-names.ts";
import { declineReasonOf, responseToIntent } from "./stripe-responses.ts";

/** How far Stripe's clock and ours may differ. */
const CLOCK_SKEW_MS = 5 * MINUTE_MS;
const PAGE_SIZE = 100;

/** Charges the merchant's payment method off-session. */
export async function chargeAtStripe(
  stripe: Stripe,
  clock: Clock,
  payment: ClaimedPayment,
): Promise<GatewayResponse> {
  const { stripeMethod, reference } = payment;
  if (stripeMethod === null) throw new Error("A charge at Stripe has no method.");
  const amount = toStripeAmount(payment.amountMinor, payment.currency);
  if (amount === null) return { status: "declined", reason: "amount_not_supported" };
  const conclude = (intent: Stripe.PaymentIntent, reason?: string) =>
    concludeIntent(stripe, clock, intent, reason);
  if (reference !== null) return conclude(await stripe.paymentIntents.retrieve(reference));
  return sendAtMostOnce(clock, payment, {
    find: async () => {
      const intent = await findIntent(stripe, payment, stripeMethod.customerId);
      return intent && conclude(intent);
    },
    send: async ({ metadata, idempotencyKey }) => {
      const intent = await stripe.paymentIntents.create(
        {
          amount,
          currency: payment.currency.toLowerCase(),
          customer: stripeMethod.customerId,
          payment_method: stripeMethod.paymentMethodId,
          automatic_payment_methods: { enabled: true, allow_redirects: "never" }, // There is no browser to redirect.
          confirm: true,
          off_session: true,
          metadata,
        },
        { idempotencyKey },
      );
      return conclude(intent);
    },
    rejected: async (error) =>
      error.payment_intent === undefined
        ? { status: "declined", reason: reasonOf(error) }
        : conclude(error.payment_intent, reasonOf(error)),
  });
}

/**
 * Cancels an intent that waits for the customer, so that a charge that was reported as declined cannot be paid later.
 */
async function concludeIntent(
  stripe: Stripe,
  clock: Clock,
  intent: Stripe.PaymentIntent,
  reason = declineReasonOf(intent),
): Promise<GatewayResponse> {
  const response = responseToIntent(intent, clock.now(), reason);
  return response ?? concludeIntent(stripe, clock, await cancelIntent(stripe, intent.id), reason);
}

/**
 * Returns the intent once it is canceled, succeeded or processing. A repeated response may be older than the intent's
 * state.
 */
async function cancelIntent(stripe: Stripe, id: string): Promise<Stripe.PaymentIntent> {
  try {
    return await stripe.paymentIntents.cancel(id);
  } catch (error) {
    if (rejectionOf(error) === null) throw error;
    const current = await stripe.paymentIntents.retrieve(id);
    if (["succeeded", "processing", "canceled"].includes(current.status)) return current;
    throw error;
  }
}

async function findIntent(
  stripe: Stripe,
  payment: ClaimedPayment,
  customer: string,
): Promise<Stripe.PaymentIntent | null> {
  const gte = Math.floor((payment.firstAttemptedAt.getTime() - CLOCK_SKEW_MS) / 1_000);
  // Uses the list, because Stripe's search can be a minute behind.
  const intents = stripe.paymentIntents.list({ customer, created: { gte }, limit: PAGE_SIZE });
  for await (const intent of intents)
    if (intent.metadata["ledger_entry"] === nameOf(payment).ledger_entry) return intent;
  return null;
}
