import { merchantByMerchant } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { requestClearing } from "./clearings.ts";
import type { EndpointKey, PauseReason } from "./endpoint.ts";
import { recordEndpoint } from "./endpoints-sql.ts";
import type { HealthReport } from "./health.ts";

/** A report, and whose endpoint it is about. */
type OwnReport = HealthReport & { readonly merchantId: string };

/**
 * Stores the health of endpoints of which the worker still has the lease; of pull endpoints, which no worker has, with null. Locks them in the order in which endpoints are
 * leased, so that the two never wait for each other in a circle.
 */
export async function saveHealth(
  tx: Queryable,
  workerId: string | null,
  reports: readonly HealthReport[],
): Promise<void> {
  if (reports.length === 0) return;
  const owned = reports.map((report) => ({ ...report, merchantId: report.endpoint.merchantId }));
  await merchantByMerchant(tx, owned, (own, merchantId) => saveRows(tx, workerId, own, merchantId));
}

const saveRows = (
  tx: Queryable,
  workerId: string | null,
  own: readonly OwnReport[],
  merchantId: string | null,
): Promise<unknown[]> =>
  tx.query({
    name: "save-endpoint-health",
    text: `
      update webhook_endpoint_states s
      set consecutive_failures = h.consecutive_failures, failing_since = h.failing_since,
          last_failure_at = h.last_failure_at, last_error = h.last_error, last_success_at = h.last_success_at,
          backoff_until = case when h.failed_since < s.recovered_at then null else h.backoff_until end,
          warnings_sent = h.warnings_sent, proven_host = coalesce(h.proven_host, s.proven_host),
          succeeded_at = h.succeeded_at, retries_due = s.retries_due or h.ends_backoff,
          recovered_at = case when h.ends_backoff then h.last_success_at else s.recovered_at end
      from (
        select report.*
        from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::integer[], $7::timestamptz[], $8::timestamptz[],
                    $9::timestamptz[], $10::timestamptz[], $11::integer[], $12::text[], $13::timestamptz[],
                    $14::timestamptz[], $15::boolean[], $16::text[])
          as report (merchant_id, connection_id, endpoint_id, consecutive_failures, failing_since, last_failure_at,
                     last_success_at, backoff_until, warnings_sent, proven_host, succeeded_at, failed_since, ends_backoff,
                     last_error)
        join webhook_endpoint_states s on s.merchant_id = report.merchant_id
          and s.connection_id = report.connection_id and s.endpoint_id = report.endpoint_id
        where s.worker_id is not distinct from $1::uuid and ($2::uuid is null or s.merchant_id = $2)
        order by s.endpoint_id
        for no key update of s) as h
      where s.merchant_id = h.merchant_id and s.endpoint_id = h.endpoint_id and ($2::uuid is null or s.merchant_id = $2)`,
    values: [
      workerId,
      merchantId,
      own.map((report) => report.merchantId),
      own.map(({ endpoint }) => endpoint.connectionId),
      own.map(({ endpoint }) => endpoint.id),
      own.map(({ health }) => health.consecutiveFailures),
      own.map(({ health }) => health.failingSince),
      own.map(({ health }) => health.lastFailureAt),
      own.map(({ health }) => health.lastSuccessAt),
      own.map(({ health }) => health.backoffUntil),
      own.map(({ health }) => health.warningsSent),
      own.map(({ provenHost }) => provenHost ?? null),
      own.map(({ health }) => health.succeededAt),
      own.map(({ failedSince }) => failedSince ?? null),
      own.map(({ endsBackoff }) => endsBackoff === true),
      own.map(({ health }) => health.lastError),
    ],
  });

/**
 * Pauses an endpoint. From the commit on nothing of it is claimed. Its deliveries stay pending, and a worker removes those that
 * are due from `due_deliveries` (docs/design/deliveries.md, "Backoff and pause"). Returns false if the endpoint was not active.
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
  recordEndpoint(tx, now, { merchantId, connectionId, id });
  await requestClearing(tx, { merchantId, connectionId, id }, now);
  return true;
}

/** A paused endpoint gets another reason. */
export async function setPauseReason(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
  reason: PauseReason,
  now: Date,
): Promise<void> {
  await tx.query({
    name: "set-pause-reason",
    text: `
      update webhook_endpoints
      set pause_reason = $4, updated_at = $5
      where merchant_id = $1 and connection_id = $2 and id = $3 and status = 'paused'`,
    values: [merchantId, connectionId, id, reason, now],
  });
  recordEndpoint(tx, now, { merchantId, connectionId, id });
}

/** Where a warning about an endpoint goes, and what it names. */
export type WarningContact = {
  /** Null of a pull endpoint. */
  readonly endpointUrl: string | null;
  /** Of the connection, or of the merchant or the facility whose own endpoint it is. */
  readonly ownerName: string;
  /** Of the merchant. Null for an endpoint of a facility. */
  readonly accountEmail: string | null;
  readonly alertEmail: string | null;
};

/** Null for a test endpoint: a rehearsal needs no mail, and strangers can make test endpoints. */
export async function readWarningContact(
  tx: Queryable,
  { merchantId, id }: EndpointKey,
): Promise<WarningContact | null> {
  const [contact] = await tx.query<WarningContact>({
    name: "read-warning-contact",
    text: `
      select w.url as "endpointUrl", coalesce(c.name, m.name, f.name) as "ownerName", m.account_email as "accountEmail",
             w.alert_email as "alertEmail"
      from webhook_endpoints w
      left join merchants m on m.id = w.merchant_id
      left join connections c on c.merchant_id = $1 and c.id = w.connection_id
      left join facilities f on f.id = w.connection_id
      where w.merchant_id = $1 and w.id = $2 and w.mode = 'live'`,
    values: [merchantId, id],
  });
  return contact ?? null;
}

/** Partner's people of a connection that a mail goes to at most. */
const PARTNERS_MAILED_MAX = 20;

/** The addresses of those who have signed in with the role partner for a connection, and may still do so. */
export async function listPartnerEmails(
  tx: Queryable,
  { merchantId, connectionId }: EndpointKey,
): Promise<string[]> {
  const rows = await tx.query<{ email: string }>({
    name: "list-partner-emails",
    text: `
      select p.email
      from people p
      where p.disabled_at is null and p.accepted_at is not null and exists (
        select
        from person_grants g
        where g.person_id = p.id and g.role = 'partner' and g.merchant_ids @> array[$1::uuid]
          and g.connection_ids @> array[$2::uuid])
      order by p.id
      limit $3`,
    values: [merchantId, connectionId, PARTNERS_MAILED_MAX],
  });
  return rows.map(({ email }) => email);
}
