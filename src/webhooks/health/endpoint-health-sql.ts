import type { Queryable } from "../../platform/database/database.ts";
import type { HealthReport, PauseReason } from "./endpoint-health.ts";

/** Notes how an endpoint is doing. Only the worker that holds the endpoint may. */
export async function saveHealth(tx: Queryable, workerId: string, report: HealthReport): Promise<void> {
  const { connectionId, endpointId, health } = report;
  await tx.query({
    name: "save-endpoint-health",
    text: `
      update webhook_endpoint_states
      set consecutive_failures = $4, failing_since = $5, last_failure_at = $6, last_success_at = $7,
          backoff_until = $8, warnings_sent = $9
      where connection_id = $1 and endpoint_id = $2 and worker_id = $3`,
    values: [
      connectionId,
      endpointId,
      workerId,
      health.consecutiveFailures,
      health.failingSince,
      health.lastFailureAt,
      health.lastSuccessAt,
      health.backoffUntil,
      health.warningsSent,
    ],
  });
}

/**
 * Pauses an endpoint. Its deliveries stay in the log and wait there; what is due is taken out of the streams, apart from
 * what is under way. Answers whether it was active before.
 */
export async function pauseEndpoint(
  tx: Queryable,
  { connectionId, endpointId }: Pick<HealthReport, "connectionId" | "endpointId">,
  reason: PauseReason,
  now: Date,
): Promise<boolean> {
  const paused = await tx.query({
    name: "pause-endpoint",
    text: `
      update webhook_endpoints
      set status = 'paused', pause_reason = $3, paused_at = $4, updated_at = $4
      where connection_id = $1 and id = $2 and status = 'active'
      returning id`,
    values: [connectionId, endpointId, reason, now],
  });
  if (paused.length === 0) return false;
  await tx.query({
    name: "park-streams",
    text: "delete from due_deliveries where connection_id = $1 and endpoint_id = $2 and claim_id is null",
    values: [connectionId, endpointId],
  });
  return true;
}
