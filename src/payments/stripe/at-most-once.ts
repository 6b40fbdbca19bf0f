import type Stripe from "stripe";
import type { ClaimedPayment } from "../../ledger/claim-payments-sql.ts";
import type { Clock } from "../../platform/clock.ts";
import { HOUR_MS } from "../../platform/time.ts";
import type { GatewayResponse } from "../gateway.ts";
import { isServerError, rejectionOf } from "./stripe-errors.ts";
import { nameOf, type PaymentName } from "./stripe-names.ts";

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
export async function sendAtMostOnce(
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
