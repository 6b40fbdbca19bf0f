import Stripe from "stripe";
import type { ClaimedPayment } from "../../ledger/due-payments-sql.ts";
import { fromTypeId, toTypeId } from "../../platform/ids.ts";
import { fractionDigits } from "../../platform/money.ts";
import { after, type Clock, HOUR_MS, MINUTE_MS } from "../../platform/time.ts";
import type { Gateway, GatewayResponse } from "../record-responses.ts";

/** Payments in a batch, and concurrent batches. Together they are below Stripe's rate limit. */
const BATCH_SIZE = 8;
const CONCURRENCY = 8;

/** Charges and refunds the payment method that a merchant has at Stripe (docs/design/money.md, "Stripe"). */
export function stripeGateway(stripe: Stripe, clock: Clock): Gateway {
  return {
    name: "stripe",
    batchSize: BATCH_SIZE,
    concurrency: CONCURRENCY,
    charge: (payment) => withLoggableErrors(() => chargeAtStripe(stripe, clock, payment)),
    refund: (payment) => withLoggableErrors(() => refundAtStripe(stripe, clock, payment)),
  };
}

async function withLoggableErrors(send: () => Promise<GatewayResponse>): Promise<GatewayResponse> {
  try {
    return await send();
  } catch (error) {
    throw withoutDetails(error);
  }
}

/** Stripe deletes idempotency keys after 24 hours. After this time, a payment is looked up before it is sent again. */
const KEY_TRUSTED_MS = 20 * HOUR_MS;

type StripeRequest = {
  /** Looks up what an earlier attempt left at Stripe. Null if nothing. */
  find(): Promise<GatewayResponse | null>;
  send(name: { metadata: PaymentName; idempotencyKey: string }): Promise<GatewayResponse>;
  rejected(error: Stripe.errors.StripeError): Promise<GatewayResponse>;
};

/**
 * Sends a payment under its idempotency key: Stripe carries it out once and repeats its response. In two cases the key
 * does not help, and the payment is looked up: the key is deleted after a day, or the repeated response is a failure of
 * Stripe's own, which contains nothing about the payment.
 */
async function sendAtMostOnce(
  clock: Clock,
  payment: ClaimedPayment,
  request: StripeRequest,
): Promise<GatewayResponse> {
  const metadata = nameOf(payment);
  const mayBeForgotten = clock.now().getTime() - payment.firstAttemptedAt.getTime() > KEY_TRUSTED_MS;
  const earlier = mayBeForgotten ? await request.find() : null;
  if (earlier !== null) return earlier;
  try {
    return await request.send({ metadata, idempotencyKey: metadata.ledger_entry });
  } catch (error) {
    const rejection = rejectionOf(error);
    if (rejection !== null) return request.rejected(rejection);
    const found = isServerError(error) && payment.attemptCount > 1 ? await request.find() : null;
    if (found !== null) return found;
    throw error; // The outcome is unknown.
  }
}

// https://docs.stripe.com/currencies: regardless of ISO 4217, Stripe counts these currencies in whole units,
const WHOLE = new Set("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "));
// these in thousandths, whose last digit must be 0,
const THOUSANDTHS = new Set("BHD JOD KWD OMR TND".split(" "));
// and all others in hundredths. Those of ISK and UGX must be whole units, which they are: these have no decimals.

/** An amount in Stripe's units. Null if Stripe cannot express it. */
export function toStripeAmount(minor: bigint, currency: string): number | null {
  const digits = WHOLE.has(currency) ? 0 : THOUSANDTHS.has(currency) ? 3 : 2;
  const scaled = minor * 10n ** BigInt(digits);
  const unit = 10n ** BigInt(fractionDigits(currency));
  const amount = scaled / unit;
  const multiple = THOUSANDTHS.has(currency) ? 10n : 1n;
  const isExact = scaled % unit === 0n && amount % multiple === 0n && amount <= Number.MAX_SAFE_INTEGER;
  return isExact ? Number(amount) : null;
}

/** How far Stripe's clock and ours may differ. */
const CLOCK_SKEW_MS = 5 * MINUTE_MS;
const PAGE_SIZE = 100;

/** Charges the merchant's payment method off-session. */
async function chargeAtStripe(
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

const { errors } = Stripe;

/**
 * Stripe's rejection of a payment: a declined card, or a request that can never succeed, such as one for a deleted
 * customer. Null for any other error: the outcome is unknown, or only our API key is invalid.
 */
const rejectionOf = (error: unknown): Stripe.errors.StripeError | null =>
  error instanceof errors.StripeCardError || error instanceof errors.StripeInvalidRequestError ? error : null;

/**
 * An error of Stripe's own. Stripe repeats this response as long as it keeps the key, whatever the state of the
 * payment.
 */
const isServerError = (error: unknown): boolean => error instanceof errors.StripeAPIError;

/** Stripe's most precise code for a rejection. The library turns a missing code into an empty string. */
const reasonOf = ({ decline_code, code, type }: Stripe.errors.StripeError): string =>
  decline_code || code || type;

/** An error that can be logged. Stripe's errors contain the payment, the customer and the card. */
function withoutDetails(error: unknown): unknown {
  if (!(error instanceof errors.StripeError)) return error;
  const { type, code = "no code", statusCode = "no status", requestId = "no id" } = error;
  return new Error(`Stripe: ${type}, ${code}, ${statusCode}, request ${requestId}.`);
}

/** Metadata of a payment at Stripe, which names its ledger entry. `ledger_entry` is the idempotency key as well. */
type PaymentName = {
  readonly merchant: string;
  readonly order: string;
  readonly ledger_entry: string;
};

type EntryKey = Pick<ClaimedPayment, "merchantId" | "orderId" | "entryId">;

const nameOf = ({ merchantId, orderId, entryId }: EntryKey): PaymentName => ({
  merchant: toTypeId("mer", merchantId),
  order: toTypeId("ord", orderId),
  ledger_entry: toTypeId("chg", entryId),
});

/** The entry that the metadata of a Stripe object names. Null if it names none. */
export function entryNamedBy(metadata: Readonly<Record<string, unknown>>): EntryKey | null {
  const { merchant, order, ledger_entry } = metadata as Partial<Record<keyof PaymentName, unknown>>; // Checked below.
  const merchantId = fromTypeId("mer", String(merchant));
  const orderId = fromTypeId("ord", String(order));
  const entryId = fromTypeId("chg", String(ledger_entry));
  if (merchantId === null || orderId === null || entryId === null) return null;
  return { merchantId, orderId, entryId };
}

/** Refunds a charge, or a part of it. */
async function refundAtStripe(
  stripe: Stripe,
  clock: Clock,
  payment: ClaimedPayment,
): Promise<GatewayResponse> {
  const { chargeReference, reference } = payment;
  const amount = toStripeAmount(payment.amountMinor, payment.currency);
  if (chargeReference === null) throw new Error("A refund has no charge at Stripe.");
  if (amount === null) return { status: "declined", reason: "amount_not_supported" };
  if (reference !== null) return responseToRefund(await stripe.refunds.retrieve(reference), clock.now());
  return sendAtMostOnce(clock, payment, {
    find: async () => {
      const found = await findRefund(stripe, nameOf(payment), chargeReference);
      return found && responseToRefund(found, clock.now());
    },
    send: async ({ metadata, idempotencyKey }) => {
      const refund = await stripe.refunds.create(
        { payment_intent: chargeReference, amount, metadata },
        { idempotencyKey },
      );
      return responseToRefund(refund, clock.now());
    },
    rejected: async (error) => {
      // The charge was refunded in Stripe's dashboard, so the money has already moved.
      if (error.code === "charge_already_refunded")
        return { status: "succeeded", reference: chargeReference };
      return { status: "declined", reason: reasonOf(error) };
    },
  });
}

async function findRefund(
  stripe: Stripe,
  { ledger_entry }: PaymentName,
  paymentIntent: string,
): Promise<Stripe.Refund | null> {
  for await (const refund of stripe.refunds.list({ payment_intent: paymentIntent, limit: PAGE_SIZE }))
    if (refund.metadata?.["ledger_entry"] === ledger_entry) return refund;
  return null;
}

/** A payment without an outcome at Stripe is checked again after this time, or earlier if Stripe sends an event. */
const RECHECK_MS = HOUR_MS;

/**
 * The response for a payment intent. Null if the intent still waits for the customer.
 * @param reason code of the decline, if the intent does not have the present one
 */
function responseToIntent(
  intent: Stripe.PaymentIntent,
  now: Date,
  reason = declineReasonOf(intent),
): GatewayResponse | null {
  switch (intent.status) {
    case "succeeded":
      return { status: "succeeded", reference: intent.id };
    case "processing":
      return pending(intent.id, now);
    case "canceled":
      return { status: "declined", reason };
    default:
      return null;
  }
}

const declineReasonOf = ({ last_payment_error, status }: Stripe.PaymentIntent): string =>
  last_payment_error?.decline_code ?? last_payment_error?.code ?? status;

function responseToRefund({ id, status, failure_reason }: Stripe.Refund, now: Date): GatewayResponse {
  if (status === "succeeded") return { status: "succeeded", reference: id };
  if (status === "failed" || status === "canceled")
    return { status: "declined", reason: failure_reason ?? status };
  return pending(id, now);
}

const pending = (reference: string, now: Date): GatewayResponse => ({
  status: "pending",
  reference,
  recheckAt: after(now, RECHECK_MS),
});
