import Stripe from "stripe";

const { errors } = Stripe;

/**
 * Stripe's refusal of a payment: a card that is declined, or a request that it will never take, such as one for a
 * customer that is gone. Null for everything else: then nobody knows, or only our key is at fault.
 */
export const refusalOf = (error: unknown): Stripe.errors.StripeError | null =>
  error instanceof errors.StripeCardError || error instanceof errors.StripeInvalidRequestError ? error : null;

/** Stripe's own failure. It repeats the answer as long as it knows the key, whatever has become of the payment. */
export const isServerError = (error: unknown): boolean => error instanceof errors.StripeAPIError;

/** Stripe's most precise code for a refusal; the library makes an empty text of a missing one. */
export const reasonOf = ({ decline_code, code, type }: Stripe.errors.StripeError): string =>
  decline_code || code || type;

/** An error that may be logged: Stripe's own carry the payment, the customer and the card. */
export function withoutDetails(error: unknown): unknown {
  if (!(error instanceof errors.StripeError)) return error;
  const { type, code = "no code", statusCode = "no status", requestId = "no id" } = error;
  return new Error(`Stripe: ${type}, ${code}, ${statusCode}, request ${requestId}.`);
}
