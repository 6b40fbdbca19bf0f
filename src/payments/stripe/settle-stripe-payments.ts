import type { Context } from "../../platform/context.ts";
import { settlePayments } from "../settle-payments.ts";
import { stripeClient } from "./stripe-client.ts";
import { stripeGateway } from "./stripe-gateway.ts";

/** Sends what is due to Stripe; without a key it waits. */
export async function settleStripePayments(context: Context, stopping?: AbortSignal): Promise<number> {
  const stripe = stripeClient(context.config);
  return stripe === null ? 0 : settlePayments(context, stripeGateway(stripe, context.clock), stopping);
}
