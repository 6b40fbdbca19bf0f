import type { Config } from "../../../platform/config.ts";
import { MINUTE_MS } from "../../../platform/time.ts";

const LEASE_MIN_MS = MINUTE_MS;

/** How long a worker may work with what it has claimed: deliveries, and the secrets that sign them. */
export const leaseMsOf = ({ webhookTimeoutMs }: Pick<Config, "webhookTimeoutMs">): number =>
  Math.max(LEASE_MIN_MS, 3 * webhookTimeoutMs);
