import { onTestFinished } from "vitest";
import { NO_TOKEN } from "../../src/audit/maker.ts";
import { byService } from "../../src/audit/record-audit.ts";
import type { ConnectionKey } from "../../src/platform/connection-key.ts";
import type { Signal } from "../../src/platform/signals.ts";
import { isProblem } from "../../src/platform/wire/problems.ts";
import { Dispatcher } from "../../src/webhooks/delivery/dispatcher.ts";
import { createSender } from "../../src/webhooks/delivery/sender.ts";
import { createEndpoint } from "../../src/webhooks/endpoints/change-endpoints.ts";
import type { NewEndpoint } from "../../src/webhooks/endpoints/endpoint.ts";
import { DEFAULT_EVENT_TYPES } from "../../src/webhooks/events/event.ts";
import type { Partner } from "./builders.ts";
import { connectionKey } from "./orders.ts";
import { type Receiver, type ReceiverHandler, startReceiver } from "./receivers.ts";
import type { TestService } from "./test-service.ts";

/** An endpoint as it lies in the tables. */
export type StoredEndpoint = ConnectionKey & { id: string; secret: string };

/** Registers an endpoint without the API, whose service may have other keys or rules. */
export async function storeEndpoint(
  { context }: TestService,
  partner: Pick<Partner, "merchantId" | "connectionId">,
  {
    url,
    eventTypes = DEFAULT_EVENT_TYPES,
    inFlightMax = 8,
    headers = {},
    alertEmail = null,
    mode = "live",
  }: Partial<Omit<NewEndpoint, "kind">> & { url: string },
): Promise<StoredEndpoint> {
  const connection = connectionKey(partner);
  const settings = {
    ...{ kind: "push" as const, url, eventTypes, inFlightMax, headers, alertEmail, mode },
    description: null,
  };
  const by = byService("createWebhookEndpoint");
  const stored = await createEndpoint(context, connection, settings, NO_TOKEN, by);
  if (isProblem(stored)) throw new Error(`The endpoint was not stored: ${stored.code}.`);
  return { ...connection, id: stored.endpoint.id, secret: stored.secret };
}

/** A dispatcher of its own, as a worker process has one; stopped when the test has finished. */
export function startDispatcher(
  { context }: TestService,
  senderSettings: Partial<Parameters<typeof createSender>[0]> = {},
  inFlightMax?: number,
): Dispatcher {
  const sender = createSender({
    timeoutMs: context.config.webhookTimeoutMs,
    allowPrivateNetworks: context.config.webhookAllowPrivateNetworks,
    ...senderSettings,
  });
  const dispatcher = new Dispatcher(context, sender, {
    random: Math.random,
    ...(inFlightMax !== undefined && { inFlightMax }),
  });
  // As in a process with both roles, except for due deliveries: a test decides when those are sent.
  const { send } = context.signals;
  Object.assign(context, {
    signals: {
      ...context.signals,
      send(signal: Signal, connections: Iterable<ConnectionKey>) {
        send(signal, connections);
        if (signal === "endpoints_changed") dispatcher.refresh(connections);
      },
    },
  });
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
  trigger: string;
  responseStatus: number | null;
  error: string | null;
};

/** Every attempt on record, oldest first. */
export const readAttempts = ({ db }: TestService): Promise<StoredAttempt[]> =>
  db.query({
    name: "test-read-attempts",
    text: `
      select delivery_id as "deliveryId", trigger, response_status as "responseStatus", error
      from (
        select delivery_id, id, trigger, started_at, response_status, error from attempts
        union all
        select id, null, trigger, started_at, response_status, null from deliveries where started_at is not null) as made
      order by started_at, delivery_id, id`,
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
