import type { Context } from "../../platform/context.ts";
import { processPayments } from "../process-payments.ts";
import { stripeClient } from "./stripe-client.ts";
import { stripeGateway } from "./stripe-gateway.ts";

/** Sends due payments to Stripe. Does nothing without an API key. */
export async function processStripePayments(context: Context, stopping?: AbortSignal): Promise<number> {
  const stripe = stripeClient(context.config);
  return stripe === null ? 0 : processPayments(context, stripeGateway(stripe, context.clock), stopping);
}
