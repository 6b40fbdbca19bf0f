import Stripe from "stripe";

const { errors } = Stripe;

/**
 * Stripe's rejection of a payment: a declined card, or a request that can never succeed, such as one for a deleted
 * customer. Null for every other error: then the outcome is unknown, or only our API key is at fault.
 */
export const rejectionOf = (error: unknown): Stripe.errors.StripeError | null =>
  error instanceof errors.StripeCardError || error instanceof errors.StripeInvalidRequestError ? error : null;

/** A failure of Stripe's own. Stripe repeats this response for as long as it knows the key, whatever the payment's state. */
export const isServerError = (error: unknown): boolean => error instanceof errors.StripeAPIError;

/** Stripe's most precise code for a rejection. The library turns a missing code into an empty string. */
export const reasonOf = ({ decline_code, code, type }: Stripe.errors.StripeError): string =>
  decline_code || code || type;

/** An error that may be logged: Stripe's own errors contain the payment, the customer and the card. */
export function withoutDetails(error: unknown): unknown {
  if (!(error instanceof errors.StripeError)) return error;
  const { type, code = "no code", statusCode = "no status", requestId = "no id" } = error;
  return new Error(`Stripe: ${type}, ${code}, ${statusCode}, request ${requestId}.`);
}
