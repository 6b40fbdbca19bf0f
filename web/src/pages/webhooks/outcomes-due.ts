import type { Delivery } from "../../api/schema.d.ts";

const SOON_MS = 2_000;
/** An attempt may be running, or none is planned. */
const UNPLANNED_MS = 5_000;
const LATEST_MS = 60_000;

/**
 * After how many milliseconds to read deliveries again, because an attempt of one of them will have ended: outcomes are not
 * among the updates (docs/design/console.md, "Live updates"). False: all have ended.
 */
export function outcomesDueInMs(
  deliveries: readonly Pick<Delivery, "status" | "nextAttemptAt">[],
): number | false {
  const delays = deliveries
    .filter(({ status }) => status === "pending")
    .map(({ nextAttemptAt }) =>
      nextAttemptAt === null ? UNPLANNED_MS : Date.parse(nextAttemptAt) - Date.now() + SOON_MS,
    );
  return delays.length === 0 ? false : Math.min(LATEST_MS, Math.max(SOON_MS, Math.min(...delays)));
}
