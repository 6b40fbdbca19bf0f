import type Stripe from "stripe";
import type { Clock } from "../../platform/clock.ts";
import type { Gateway, GatewayResponse } from "../gateway.ts";
import { chargeAtStripe } from "./stripe-charges.ts";
import { withoutDetails } from "./stripe-errors.ts";
import { refundAtStripe } from "./stripe-refunds.ts";

/** Payments in a batch, and concurrent batches. Together they are below Stripe's rate limit. */
const BATCH_SIZE = 8;
const CONCURRENCY = 8;

/** Charges and refunds the payment method that a merchant has at Stripe (decision 0043). */
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
