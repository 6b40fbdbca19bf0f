import type { Config } from "../../../platform/config.ts";
import { MINUTE_MS, SECOND_MS } from "../../../platform/time.ts";

const LEASE_MIN_MS = MINUTE_MS;

/** How long a worker may work with what it has claimed: deliveries, and the secrets that sign them. */
export const leaseMsOf = ({ webhookTimeoutMs }: Pick<Config, "webhookTimeoutMs">): number =>
  Math.max(LEASE_MIN_MS, 3 * webhookTimeoutMs);

/**
 * How long an endpoint belongs to a worker that neither claims for it nor renews its lease. A worker that was killed keeps new
 * deliveries from the endpoint for so long (decision 0196).
 */
export const ENDPOINT_LEASE_MS = 15 * SECOND_MS;

/** A lease that ends sooner is renewed by the next poll. What is left covers the time in which a worker stops. */
export const RENEWED_BEFORE_MS = 12 * SECOND_MS;
