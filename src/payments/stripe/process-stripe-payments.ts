import Stripe from "stripe";
import type { Config } from "../../platform/config.ts";
import type { Context } from "../../platform/context.ts";
import { processPayments } from "../process-payments.ts";
import { stripeGateway } from "./stripe-gateway.ts";

/** Sends due payments to Stripe. Does nothing without an API key. */
export async function processStripePayments(context: Context, stopping?: AbortSignal): Promise<number> {
  const stripe = stripeClient(context.config);
  return stripe === null ? 0 : processPayments(context, stripeGateway(stripe, context.clock), stopping);
}

/** Timeout of one request. A payment needs up to four requests within its lease. */
const TIMEOUT_MS = 12_000;

const clients = new WeakMap<Config, Stripe>();

/** Returns one client per configuration, because it keeps connections open. Null without a key. */
function stripeClient(config: Config): Stripe | null {
  if (config.stripeSecretKey === null) return null;
  const known = clients.get(config);
  if (known !== undefined) return known;
  const { protocol, hostname, port } = new URL(config.stripeApiUrl);
  const client = new Stripe(config.stripeSecretKey, {
    protocol: protocol === "http:" ? "http" : "https",
    host: hostname,
    ...(port === "" ? {} : { port }),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 0, // A failed payment is claimed again instead, so a stopping process waits for no retries.
    telemetry: false,
  });
  clients.set(config, client);
  return client;
}
