import { onTestFinished } from "vitest";
import { createDispatcher, type Dispatcher } from "../../src/webhooks/dispatcher.ts";
import { createSender } from "../../src/webhooks/sender.ts";
import { newSigningSecret } from "../../src/webhooks/signature.ts";
import type { Partner } from "./builders.ts";
import { connectionUuid } from "./orders.ts";
import { type Receiver, type ReceiverHandler, startReceiver } from "./receivers.ts";
import type { TestService } from "./test-service.ts";

export const SPECIFIED_TYPES = [
  "order.created",
  "order.canceled",
  "order.onHold",
  "order.onHoldReleased",
  "order.shipmentCreated",
  "order.shipmentReturned",
  "order.completed",
  "product.published",
];

/** An endpoint as it lies in the tables. */
export type StoredEndpoint = { connectionId: string; id: string; secret: string };

/** Stores an endpoint without asking the API, so that a test can have any. */
export async function storeEndpoint(
  { service, db }: TestService,
  partner: Pick<Partner, "connectionId">,
  {
    url,
    eventTypes = SPECIFIED_TYPES,
    inFlightMax = 8,
  }: { url: string; eventTypes?: string[]; inFlightMax?: number },
): Promise<StoredEndpoint> {
  const [id, secretId, secret] = [service.newId(), service.newId(), newSigningSecret()];
  const [connectionId, now] = [connectionUuid(partner), service.clock.now()];
  await db.query({
    name: "test-store-endpoint",
    text: `
      insert into webhook_endpoints (connection_id, id, number, url, event_types, status, in_flight_max, created_at, updated_at)
      select $1, $2, coalesce(max(number), 0) + 1, $3, $4, 'active', $5, $6, $6
      from webhook_endpoints where connection_id = $1`,
    values: [connectionId, id, url, eventTypes, inFlightMax, now],
  });
  await db.query({
    name: "test-store-secret",
    text: "insert into webhook_secrets (connection_id, endpoint_id, id, sealed, created_at) values ($1, $2, $3, $4, $5)",
    values: [connectionId, id, secretId, service.secrets.seal(secret, id), now],
  });
  await db.query({
    name: "test-store-endpoint-state",
    text: `
      insert into webhook_endpoint_states (
        connection_id, endpoint_id, leased_until, consecutive_failures, last_success_at, warnings_sent)
      values ($1, $2, $3, 0, $3, 0)`,
    values: [connectionId, id, now],
  });
  return { connectionId, id, secret };
}

/** A dispatcher of its own, as a worker process has one; stopped when the test has finished. */
export function startDispatcher({ service }: TestService): Dispatcher {
  const sender = createSender({
    timeoutMs: service.config.webhookTimeoutMs,
    allowPrivateNetworks: service.config.webhookAllowPrivateNetworks,
  });
  const dispatcher = createDispatcher(service, sender);
  onTestFinished(async () => {
    await dispatcher.stop();
    await sender.close();
  });
  return dispatcher;
}

/** Sends all that is due now, and waits until its outcomes are stored. */
export async function sendDue(dispatcher: Dispatcher): Promise<void> {
  await dispatcher.poll();
  await dispatcher.idle();
}

/** A receiver for one test. */
export async function startReceiverForTest(handler?: ReceiverHandler): Promise<Receiver> {
  const receiver = await startReceiver(handler);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Types and sequences of what arrived, in the order of arrival. */
export const received = (receiver: Receiver): { type: string; sequence: number | null; orderId: string }[] =>
  receiver.requests.map(({ body }) => {
    const { type, sequence, data } = JSON.parse(body);
    return { type, sequence, orderId: data.order?.id };
  });

export type StoredAttempt = {
  deliveryId: string;
  cause: string;
  responseStatus: number | null;
  error: string | null;
};

/** Every attempt on record, oldest first. */
export const readAttempts = ({ db }: TestService): Promise<StoredAttempt[]> =>
  db.query({
    name: "test-read-attempts",
    text: `
      select delivery_id as "deliveryId", cause, response_status as "responseStatus", error
      from attempts order by started_at, id`,
    values: [],
  });

export type StoredDelivery = {
  id: string;
  endpointId: string;
  type: string;
  sequence: number | null;
  status: string;
};

/** Every delivery, oldest first. */
export const readDeliveries = ({ db }: TestService): Promise<StoredDelivery[]> =>
  db.query({
    name: "test-read-deliveries",
    text: `
      select id, endpoint_id as "endpointId", event_type as type, sequence, status from deliveries order by id`,
    values: [],
  });
