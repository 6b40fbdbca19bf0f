import { fromTypeId, type IdPrefix, toTypeId, uuidAt } from "../../src/ids.ts";
import { created, type Partner } from "./builders.ts";
import { connectionUuid } from "./orders.ts";
import type { Answer, TestService } from "./test-service.ts";

export const ENDPOINTS = "/v1/webhook-endpoints";
export const endpointPath = (endpointId: string, step?: string) =>
  `${ENDPOINTS}/${endpointId}${step === undefined ? "" : `/${step}`}`;

let endpointCount = 0;

/** A valid request for a new endpoint. Its address is a public one, written as a number, so that no name is looked up. */
export function anEndpoint(fields: object = {}) {
  endpointCount += 1;
  return { url: `https://1.1.1.1/hooks/${endpointCount}`, ...fields };
}

/** Registers an endpoint; answers it with its secret. */
export const createEndpoint = (partner: Partner, fields: object = {}): Promise<Answer["body"]> =>
  created(partner.client.post(ENDPOINTS, anEndpoint(fields)));

/** A wire id as the tables have it. */
export function uuidIn(prefix: IdPrefix, wireId: string): string {
  const id = fromTypeId(prefix, wireId);
  if (id === null) throw new Error(`${wireId} is no id with ${prefix}.`);
  return id;
}

/** Rows of a table that belong to one endpoint, as they are stored. */
export function readRows(
  { db }: TestService,
  table:
    | "webhook_secrets"
    | "webhook_endpoint_states"
    | "due_deliveries"
    | "deliveries"
    | "webhook_recoveries",
  endpointId: string,
): Promise<Record<string, unknown>[]> {
  return db.query({
    name: `test-read-${table}`,
    text: `select * from ${table} where endpoint_id = $1 order by 1, 2, 3`,
    values: [uuidIn("whe", endpointId)],
  });
}

/** As the service itself does it after failures. */
export async function pauseEndpoint(
  { db, clock }: TestService,
  endpointId: string,
  reason: "gone" | "failing" = "failing",
): Promise<void> {
  await db.query({
    name: "test-pause-endpoint",
    text: "update webhook_endpoints set status = 'paused', pause_reason = $2, paused_at = $3 where id = $1",
    values: [uuidIn("whe", endpointId), reason, clock.now()],
  });
  await db.query({
    name: "test-fail-endpoint",
    text: `
      update webhook_endpoint_states
      set consecutive_failures = 9, failing_since = $2, last_failure_at = $2, held_until = $2, warnings_sent = 3
      where endpoint_id = $1`,
    values: [uuidIn("whe", endpointId), clock.now()],
  });
}

type Due = { cause?: string; dueAt?: Date; claimed?: boolean };

/** The delivery of a stored event to an endpoint, as the step that tells the event would write it; answers its id. */
export async function deliver(
  test: TestService,
  endpointId: string,
  eventId: string,
  { status = "pending", due }: { status?: string; due?: Due } = {},
): Promise<string> {
  const [row] = await test.db.query<{ id: string }>({
    name: "test-deliver",
    text: `
      insert into deliveries (connection_id, id, endpoint_id, event_id, event_type, order_id, sequence, lane_id,
                              not_after, status)
      select e.connection_id, (left(e.id::text, 28) || lpad(to_hex(w.number), 8, '0'))::uuid, w.id, e.id, e.type,
             e.order_id, e.sequence, coalesce(e.order_id, e.id), o.expires_at, $3
      from events e
      join webhook_endpoints w on w.connection_id = e.connection_id and w.id = $2
      left join orders o on o.connection_id = e.connection_id and o.id = e.order_id
      where e.id = $1
      on conflict (connection_id, id) do update set status = excluded.status
      returning id`,
    values: [uuidIn("evt", eventId), uuidIn("whe", endpointId), status],
  });
  if (row === undefined) throw new Error(`${eventId} is no stored event.`);
  if (due !== undefined) await makeDue(test, row.id, due);
  return toTypeId("dlv", row.id);
}

async function makeDue(
  { db, clock }: TestService,
  id: string,
  { cause = "schedule", dueAt = clock.now(), claimed = false }: Due,
): Promise<void> {
  await db.query({
    name: "test-make-due",
    text: `
      insert into due_deliveries (connection_id, endpoint_id, lane_id, delivery_id, event_id, cause, tries, due_at,
                                  claim_id, claimed_at, not_after)
      select d.connection_id, d.endpoint_id, case $2 when 'manual' then d.id else d.lane_id end, d.id, d.event_id, $2,
             0, $3, $4, $5, d.not_after
      from deliveries d
      where d.id = $1`,
    values: [id, cause, dueAt, claimed ? uuidAt(dueAt) : null, claimed ? dueAt : null],
  });
}

type AttemptFields = {
  cause?: string;
  durationMs?: number | null;
  responseStatus?: number | null;
  responseBody?: string | null;
  error?: string | null;
};

/** One try to deliver, at the test's time. */
export async function attempt(
  { service, db, clock }: TestService,
  partner: Partner,
  deliveryId: string,
  fields: AttemptFields = {},
): Promise<void> {
  await db.runScript(PARTITION_OF_ATTEMPTS);
  const {
    cause = "schedule",
    durationMs = 12,
    responseStatus = 200,
    responseBody = "",
    error = null,
  } = fields;
  await db.query({
    name: "test-attempt",
    text: `
      insert into attempts (connection_id, id, delivery_id, cause, url, started_at, duration_ms, response_status,
                            response_body, error)
      values ($1, $2, $3, $4, 'https://1.1.1.1/', $5, $6, $7, $8, $9)`,
    values: [
      connectionUuid(partner),
      service.newId(),
      uuidIn("dlv", deliveryId),
      cause,
      clock.now(),
      durationMs,
      responseStatus,
      responseBody,
      error,
    ],
  });
}

/** A test that moves its clock must not depend on the days for which somebody has made partitions. */
const PARTITION_OF_ATTEMPTS = "create table if not exists attempts_of_tests partition of attempts default";
