import type { Queryable } from "../../platform/database/database.ts";
import type { HealthReport, PauseReason } from "./endpoint-health.ts";

/** Notes how an endpoint is doing. Only the worker that holds the endpoint may. */
export async function saveHealth(tx: Queryable, workerId: string, report: HealthReport): Promise<void> {
  const { merchantId, connectionId, endpointId, health } = report;
  await tx.query({
    name: "save-endpoint-health",
    text: `
      update webhook_endpoint_states
      set consecutive_failures = $5, failing_since = $6, last_failure_at = $7, last_success_at = $8,
          backoff_until = $9, warnings_sent = $10
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and worker_id = $4`,
    values: [
      merchantId,
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
  { merchantId, connectionId, endpointId }: Pick<HealthReport, "merchantId" | "connectionId" | "endpointId">,
  reason: PauseReason,
  now: Date,
): Promise<boolean> {
  const paused = await tx.query({
    name: "pause-endpoint",
    text: `
      update webhook_endpoints
      set status = 'paused', pause_reason = $4, paused_at = $5, updated_at = $5
      where merchant_id = $1 and connection_id = $2 and id = $3 and status = 'active'
      returning id`,
    values: [merchantId, connectionId, endpointId, reason, now],
  });
  if (paused.length === 0) return false;
  await tx.query({
    name: "park-streams",
    text: "delete from due_deliveries where merchant_id = $1 and endpoint_id = $2 and claim_id is null",
    values: [merchantId, endpointId],
  });
  return true;
}
