import Stripe from "stripe";
import type { Config } from "../../platform/config.ts";

/** For one request. A payment takes up to four of them within its lease. */
const TIMEOUT_MS = 12_000;

const clients = new WeakMap<Config, Stripe>();

/** One client for each configuration, since it keeps connections open; null without a key. */
export function stripeClient(config: Config): Stripe | null {
  if (config.stripeSecretKey === null) return null;
  const known = clients.get(config);
  if (known !== undefined) return known;
  const { protocol, hostname, port } = new URL(config.stripeApiUrl);
  const client = new Stripe(config.stripeSecretKey, {
    protocol: protocol === "http:" ? "http" : "https",
    host: hostname,
    ...(port === "" ? {} : { port }),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 0, // What is to be repeated is claimed again, so that a stopping process leaves nothing behind.
    telemetry: false,
  });
  clients.set(config, client);
  return client;
}
