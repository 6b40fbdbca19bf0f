import type Stripe from "stripe";
import type { ClaimedPayment } from "../../ledger/due-payments-sql.ts";
import type { Clock } from "../../platform/clock.ts";
import { HOUR_MS, MINUTE_MS } from "../../platform/time.ts";
import type { Gateway, GatewayResponse } from "../gateway.ts";
import { toStripeAmount } from "./stripe-amount.ts";
import { isServerError, reasonOf, refusalOf, withoutDetails } from "./stripe-errors.ts";
import { nameOf, type PaymentName } from "./stripe-names.ts";

/** Requests at a time for one connection, and connections at a time; below what Stripe takes of one account. */
const BATCH_SIZE = 8;
const CONCURRENCY = 8;
/** What Stripe has not decided is looked at again then, if it has not told by a webhook before. */
const RECHECK_MS = HOUR_MS;
/** Stripe forgets idempotency keys after 24 hours; from now on we look first whether it has the payment. */
const KEY_TRUSTED_MS = 20 * HOUR_MS;
/** How far its clock and ours may differ. */
const CLOCK_SKEW_MS = 5 * MINUTE_MS;
const PAGE_SIZE = 100;

/** Charges the card that a merchant has at Stripe, without the merchant being there, and refunds it (decision 0043). */
export function stripeGateway(stripe: Stripe, clock: Clock): Gateway {
  return {
    name: "stripe",
    batchSize: BATCH_SIZE,
    concurrency: CONCURRENCY,
    charge: (payment) => discreetly(() => charge(stripe, clock, payment)),
    refund: (payment) => discreetly(() => refund(stripe, clock, payment)),
  };
}

async function discreetly(ask: () => Promise<GatewayResponse>): Promise<GatewayResponse> {
  try {
    return await ask();
  } catch (error) {
    throw withoutDetails(error);
  }
}

async function charge(stripe: Stripe, clock: Clock, payment: ClaimedPayment): Promise<GatewayResponse> {
  const { stripeMethod, reference } = payment;
  if (stripeMethod === null) throw new Error("A charge at Stripe has no method.");
  const amount = toStripeAmount(payment.amountMinor, payment.currency);
  if (amount === null) return { answer: "declined", reason: "amount_not_supported" };
  const answerOf = (intent: Stripe.PaymentIntent, reason?: string) =>
    answerOfIntent(stripe, clock, intent, reason);
  if (reference !== null) return answerOf(await stripe.paymentIntents.retrieve(reference));
  return atMostOnce(clock, payment, {
    find: async () => {
      const intent = await findIntent(stripe, payment, stripeMethod.customerId);
      return intent && answerOf(intent);
    },
    make: async ({ metadata, idempotencyKey }) => {
      const intent = await stripe.paymentIntents.create(
        {
          amount,
          currency: payment.currency.toLowerCase(),
          customer: stripeMethod.customerId,
          payment_method: stripeMethod.paymentMethodId,
          automatic_payment_methods: { enabled: true, allow_redirects: "never" }, // Nobody is there to be redirected.
          confirm: true,
          off_session: true,
          metadata,
        },
        { idempotencyKey },
      );
      return answerOf(intent);
    },
    refused: async (error) =>
      error.payment_intent === undefined
        ? { answer: "declined", reason: reasonOf(error) }
        : answerOf(error.payment_intent, reasonOf(error)),
  });
}

async function refund(stripe: Stripe, clock: Clock, payment: ClaimedPayment): Promise<GatewayResponse> {
  const { chargeReference, reference } = payment;
  const amount = toStripeAmount(payment.amountMinor, payment.currency);
  if (chargeReference === null || amount === null) throw new Error("A refund has no charge at Stripe.");
  if (reference !== null) return answerOfRefund(clock, await stripe.refunds.retrieve(reference));
  return atMostOnce(clock, payment, {
    find: async () => {
      const found = await findRefund(stripe, nameOf(payment), chargeReference);
      return found && answerOfRefund(clock, found);
    },
    make: async ({ metadata, idempotencyKey }) => {
      const made = await stripe.refunds.create(
        { payment_intent: chargeReference, amount, metadata },
        { idempotencyKey },
      );
      return answerOfRefund(clock, made);
    },
    refused: async (error) => {
      // Somebody gave the money back in Stripe's dashboard: that is what was wanted.
      if (error.code === "charge_already_refunded")
        return { answer: "succeeded", reference: chargeReference };
      return { answer: "declined", reason: reasonOf(error) };
    },
  });
}

type Request = {
  /** What an earlier try has left at Stripe, if anything. */
  find(): Promise<GatewayResponse | null>;
  make(name: { metadata: PaymentName; idempotencyKey: string }): Promise<GatewayResponse>;
  refused(error: Stripe.errors.StripeError): Promise<GatewayResponse>;
};

/**
 * Makes a payment under its own key, which Stripe carries out once and then repeats its answer to. Two things the key
 * cannot do: it is forgotten after a day, and what it repeats may be a failure of Stripe's own that tells nothing of
 * the payment. In both cases we look for the payment itself.
 */
async function atMostOnce(clock: Clock, payment: ClaimedPayment, request: Request): Promise<GatewayResponse> {
  const metadata = nameOf(payment);
  const isForgotten = clock.now().getTime() - payment.firstAttemptedAt.getTime() > KEY_TRUSTED_MS;
  const earlier = isForgotten ? await request.find() : null;
  if (earlier !== null) return earlier;
  try {
    return await request.make({ metadata, idempotencyKey: metadata.ledger_entry });
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal !== null) return request.refused(refusal);
    const found = isServerError(error) && payment.attemptCount > 1 ? await request.find() : null;
    if (found !== null) return found;
    throw error; // Nobody knows.
  }
}

/** An intent that waits for somebody to act is canceled, so that what we tell as declined cannot be paid later. */
async function answerOfIntent(
  stripe: Stripe,
  clock: Clock,
  intent: Stripe.PaymentIntent,
  reason = intent.last_payment_error?.decline_code ?? intent.last_payment_error?.code ?? intent.status,
): Promise<GatewayResponse> {
  switch (intent.status) {
    case "succeeded":
      return { answer: "succeeded", reference: intent.id };
    case "processing":
      return pending(clock, intent.id);
    case "canceled":
      return { answer: "declined", reason };
    default:
      return answerOfIntent(stripe, clock, await cancelIntent(stripe, intent.id), reason);
  }
}

/** The intent in an end state, or processing: the answer to an earlier request may be older than what has become of it. */
async function cancelIntent(stripe: Stripe, id: string): Promise<Stripe.PaymentIntent> {
  try {
    return await stripe.paymentIntents.cancel(id);
  } catch (error) {
    if (refusalOf(error) === null) throw error;
    const current = await stripe.paymentIntents.retrieve(id);
    if (["succeeded", "processing", "canceled"].includes(current.status)) return current;
    throw error;
  }
}

function answerOfRefund(clock: Clock, { id, status, failure_reason }: Stripe.Refund): GatewayResponse {
  if (status === "succeeded") return { answer: "succeeded", reference: id };
  if (status === "failed" || status === "canceled")
    return { answer: "declined", reason: failure_reason ?? status };
  return pending(clock, id);
}

const pending = (clock: Clock, reference: string): GatewayResponse => ({
  answer: "pending",
  reference,
  recheckAt: new Date(clock.now().getTime() + RECHECK_MS),
});

async function findIntent(
  stripe: Stripe,
  payment: ClaimedPayment,
  customer: string,
): Promise<Stripe.PaymentIntent | null> {
  const gte = Math.floor((payment.firstAttemptedAt.getTime() - CLOCK_SKEW_MS) / 1_000);
  // A list, not Stripe's search, which may be a minute behind.
  const intents = stripe.paymentIntents.list({ customer, created: { gte }, limit: PAGE_SIZE });
  for await (const intent of intents)
    if (intent.metadata["ledger_entry"] === nameOf(payment).ledger_entry) return intent;
  return null;
}

async function findRefund(
  stripe: Stripe,
  { ledger_entry }: PaymentName,
  paymentIntent: string,
): Promise<Stripe.Refund | null> {
  for await (const found of stripe.refunds.list({ payment_intent: paymentIntent, limit: PAGE_SIZE }))
    if (found.metadata?.["ledger_entry"] === ledger_entry) return found;
  return null;
}
