import { expect } from "vitest";
import { type ConnectionKeyRow, toConnectionKey } from "../../src/platform/connection-key.ts";
import { fromTypeId, type IdPrefix } from "../../src/platform/ids.ts";
import { pauseEndpoint as pause } from "../../src/webhooks/endpoints/health-sql.ts";
import { created, type Partner } from "./builders.ts";
import type { Answer, TestService } from "./test-service.ts";

export const ENDPOINTS = "/v1/webhook-endpoints";
export const endpointPath = (endpointId: string, operation?: string) =>
  `${ENDPOINTS}/${endpointId}${operation === undefined ? "" : `/${operation}`}`;

let endpointCount = 0;

/** A valid request for a new endpoint. Its address is a public one, written as a number, so that no name is looked up. */
export function anEndpoint(fields: object = {}) {
  endpointCount += 1;
  return { url: `https://1.1.1.1/hooks/${endpointCount}`, ...fields };
}

/** Registers an endpoint; returns it with its secret. */
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
  table: "webhook_secrets" | "webhook_endpoint_states" | "due_deliveries" | "deliveries" | "webhook_resends",
  endpointId: string,
): Promise<Record<string, unknown>[]> {
  return db.query({
    name: `test-read-${table}`,
    text: `select * from ${table} where endpoint_id = $1 order by 1, 2, 3, 4`,
    values: [uuidIn("whe", endpointId)],
  });
}

/** As the service itself does it after failures. */
export async function pauseEndpoint(
  { db, clock }: TestService,
  endpointId: string,
  reason: "gone" | "failing" = "failing",
): Promise<void> {
  const id = uuidIn("whe", endpointId);
  const [row] = await db.query<ConnectionKeyRow>({
    name: "test-fail-endpoint",
    text: `
      update webhook_endpoint_states
      set consecutive_failures = 9, failing_since = $2, last_failure_at = $2, backoff_until = $2, warnings_sent = 3
      where endpoint_id = $1
      returning merchant_id, connection_id`,
    values: [id, clock.now()],
  });
  if (row === undefined) throw new Error("There is no such endpoint.");
  const endpoint = { ...toConnectionKey(row), id };
  await db.transaction((tx) => pause(tx, endpoint, reason, clock.now()));
}

/** The delivery of an order's event to an endpoint, which was written with the event; returns its id. */
export async function deliveryOf(
  partner: Pick<Partner, "client">,
  endpointId: string,
  orderId: string,
  eventType = "order.created",
): Promise<string> {
  const { status, body } = await partner.client.get(
    `/v1/deliveries?endpointId=${endpointId}&orderId=${orderId}`,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  const found = body.data.find((delivery: { eventType: string }) => delivery.eventType === eventType);
  expect(found, `delivery of ${eventType}`).toBeDefined();
  return found.id;
}

/** A worker claims what is due at an endpoint and never reports the outcome. */
export async function loseWorker(
  { context, db, clock }: TestService,
  endpointUuid: string,
  leaseMs = 60_000,
): Promise<void> {
  const now = clock.now();
  const leasedUntil = new Date(now.getTime() + leaseMs);
  await db.query({
    name: "test-claim-for-lost-worker",
    text: `
      update due_deliveries set claim_id = $2, claimed_at = $3, leased_until = $4
      where endpoint_id = $1 and due_at <= $3`,
    values: [endpointUuid, context.newId(), now, leasedUntil],
  });
  await db.query({
    name: "test-lease-for-lost-worker",
    text: "update webhook_endpoint_states set worker_id = $2, leased_until = $3 where endpoint_id = $1",
    values: [endpointUuid, context.newId(), leasedUntil],
  });
}
