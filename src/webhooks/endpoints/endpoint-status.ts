import { enumeration } from "../../platform/wire/schemas.ts";

const HEALTH_STATUSES = ["healthy", "failing", "backing_off", "paused"] as const;
/** The health of an endpoint in one word (decision 0099). */
export type ShownHealthStatus = (typeof HEALTH_STATUSES)[number];

export const HealthStatusSchema = enumeration(
  "WebhookEndpointHealth",
  HEALTH_STATUSES,
  "`healthy`: no failure since the last success. `failing`: attempts fail, and are still made. `backing_off`: nothing is sent for some minutes. `paused`: nothing is sent until it is resumed.",
);

/** The values of a filter by health. */
export const HEALTH_FILTERS = [...HEALTH_STATUSES, "unhealthy"] as const;

type Shown = {
  readonly status: string;
  readonly backingOffUntil: string | null;
  readonly consecutiveFailures: number;
};

/** `listAllEndpoints` filters by the same. */
export function healthStatusOf({ status, backingOffUntil, consecutiveFailures }: Shown): ShownHealthStatus {
  if (status === "paused") return "paused";
  if (backingOffUntil !== null) return "backing_off";
  return consecutiveFailures > 0 ? "failing" : "healthy";
}
