import type Stripe from "stripe";
import { after, HOUR_MS } from "../../platform/time.ts";
import type { GatewayResponse } from "../gateway.ts";

/** A payment without an outcome at Stripe is checked again after this time, or earlier if Stripe sends an event. */
const RECHECK_MS = HOUR_MS;

/**
 * The response for a payment intent. Null if the intent still waits for the customer.
 * @param reason code of the decline, if the intent does not have the present one
 */
export function responseToIntent(
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

export const declineReasonOf = ({ last_payment_error, status }: Stripe.PaymentIntent): string =>
  last_payment_error?.decline_code ?? last_payment_error?.code ?? status;

export function responseToRefund({ id, status, failure_reason }: Stripe.Refund, now: Date): GatewayResponse {
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
