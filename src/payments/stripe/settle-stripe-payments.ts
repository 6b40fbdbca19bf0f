import type { Service } from "../../service.ts";
import { settlePayments } from "../settle-payments.ts";
import { stripeClient } from "./stripe-client.ts";
import { stripeGateway } from "./stripe-gateway.ts";

/** Sends what is due to Stripe; without a key it waits. */
export async function settleStripePayments(service: Service, stopping?: AbortSignal): Promise<number> {
  const stripe = stripeClient(service.config);
  return stripe === null ? 0 : settlePayments(service, stripeGateway(stripe, service.clock), stopping);
}
