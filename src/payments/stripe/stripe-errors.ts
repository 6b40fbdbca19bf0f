import Stripe from "stripe";

const { errors } = Stripe;

/**
 * Stripe's rejection of a payment: a declined card, or a request that can never succeed, such as one for a deleted
 * customer. Null for any other error: the outcome is unknown, or only our API key is invalid.
 */
export const rejectionOf = (error: unknown): Stripe.errors.StripeError | null =>
  error instanceof errors.StripeCardError || error instanceof errors.StripeInvalidRequestError ? error : null;

/**
 * An error of Stripe's own. Stripe repeats this response as long as it keeps the key, whatever the state of the
 * payment.
 */
export const isServerError = (error: unknown): boolean => error instanceof errors.StripeAPIError;

/** Stripe's most precise code for a rejection. The library turns a missing code into an empty string. */
export const reasonOf = ({ decline_code, code, type }: Stripe.errors.StripeError): string =>
  decline_code || code || type;

/** An error that can be logged. Stripe's errors contain the payment, the customer and the card. */
export function withoutDetails(error: unknown): unknown {
  if (!(error instanceof errors.StripeError)) return error;
  const { type, code = "no code", statusCode = "no status", requestId = "no id" } = error;
  return new Error(`Stripe: ${type}, ${code}, ${statusCode}, request ${requestId}.`);
}
