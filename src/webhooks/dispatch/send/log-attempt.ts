import type { Logger } from "pino";
import type { Completion } from "../claimed-delivery.ts";

/**
 * Writes one line for an attempt: ids, status, outcome and duration. URLs, bodies and secrets are never logged. `attempt`
 * is its number in the schedule, 1 for a manual one; `error` is one of a few fixed texts.
 */
export function logAttempt(log: Logger, { delivery, attempt, outcome }: Completion): void {
  if (attempt === null || !log.isLevelEnabled("info")) return;
  log.info(
    {
      delivery: { id: delivery.deliveryId },
      event: { id: delivery.eventId },
      order: delivery.ownStreamId === delivery.eventId ? undefined : { id: delivery.ownStreamId },
      endpoint: { id: delivery.endpointId },
      connection: { id: delivery.connectionId },
      attempt: delivery.attemptCount + 1,
      trigger: delivery.trigger,
      status: attempt.responseStatus,
      outcome: outcome.is,
      error: attempt.error ?? undefined,
      durationMs: attempt.durationMs,
      nextAttemptAt: outcome.is === "retry" ? outcome.at : undefined,
    },
    "delivery attempted",
  );
}
