import type { Queryable } from "../../platform/database/database.ts";
import type { EndpointKey, PauseReason } from "../endpoints/endpoint.ts";
import type { HealthReport } from "./endpoint-health.ts";

/** Stores the health of an endpoint, if the worker still has its lease. */
export async function saveHealth(tx: Queryable, workerId: string, report: HealthReport): Promise<void> {
  const { endpoint, health, provenHost } = report;
  await tx.query({
    name: "save-endpoint-health",
    text: `
      update webhook_endpoint_states
      set consecutive_failures = $5, failing_since = $6, last_failure_at = $7, last_success_at = $8,
          backoff_until = $9, warnings_sent = $10, proven_host = coalesce($11, proven_host), succeeded_at = $12
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and worker_id = $4`,
    values: [
      endpoint.merchantId,
      endpoint.connectionId,
      endpoint.id,
      workerId,
      health.consecutiveFailures,
      health.failingSince,
      health.lastFailureAt,
      health.lastSuccessAt,
      health.backoffUntil,
      health.warningsSent,
      provenHost ?? null,
      health.succeededAt,
    ],
  });
}

/**
 * Pauses an endpoint. Its deliveries stay pending. Those that are due are removed from `due_deliveries`, except for
 * attempts in progress. Returns false if the endpoint was not active.
 */
export async function pauseEndpoint(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
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
    values: [merchantId, connectionId, id, reason, now],
  });
  if (paused.length === 0) return false;
  await tx.query({
    name: "delete-due-deliveries-of-paused",
    text: "delete from due_deliveries where merchant_id = $1 and endpoint_id = $2 and claim_id is null",
    values: [merchantId, id],
  });
  return true;
}

/** Where a warning about an endpoint goes, and what it names. */
export type WarningContact = {
  readonly endpointUrl: string;
  readonly connectionName: string;
  readonly accountEmail: string;
};

/** Null for a test endpoint: a merchant needs no mail about a rehearsal. */
export async function readWarningContact(
  tx: Queryable,
  { merchantId, id }: EndpointKey,
): Promise<WarningContact | null> {
  const [contact] = await tx.query<WarningContact>({
    name: "read-warning-contact",
    text: `
      select w.url as "endpointUrl", c.name as "connectionName", m.account_email as "accountEmail"
      from webhook_endpoints w
      join connections c on c.merchant_id = $1 and c.id = w.connection_id
      join merchants m on m.id = c.merchant_id
      where w.merchant_id = $1 and w.id = $2 and w.mode = 'live' and m.id = $1`,
    values: [merchantId, id],
  });
  return contact ?? null;
}
