import { expect } from "vitest";
import { createPartner, type Partner, placeOrder, readEvents } from "./builders.ts";
import { startDispatcher, startReceiverForTest } from "./dispatch.ts";
import { connectionKey } from "./orders.ts";
import type { ReceiverHandler } from "./receivers.ts";
import type { TestService } from "./test-service.ts";
import { createEndpoint, deliveryOf } from "./webhooks.ts";

/** For a service whose schedule has no second try: what fails is given up. */
export const ONE_TRY = { webhookAllowPrivateNetworks: true, webhookRetryMs: [] };

type Sent = { partner: Partner; endpointId: string; order: { id: string; externalOrderId: string } };

/** A partner with an endpoint and an order, whose creation waits to be sent. */
export async function aSender(
  test: TestService,
  { place = placeOrder, url }: { place?: typeof placeOrder; url?: string } = {},
): Promise<Sent> {
  const partner = await createPartner(test);
  const { id: endpointId } = await createEndpoint(partner, url === undefined ? {} : { url });
  return { partner, endpointId, order: await place(partner) };
}

/** The same with a receiver behind the endpoint, which responds as configured. */
export async function aSenderTo(
  test: TestService,
  handler: ReceiverHandler,
): Promise<Sent & { send: () => Promise<void> }> {
  const { url } = await startReceiverForTest(handler);
  const sent = await aSender(test, { url });
  return { ...sent, send: () => sendFor(test, sent.partner) };
}

/** Sends what is due to this partner alone: the endpoints of the others lead to nowhere. */
export async function sendFor(test: TestService, partner: Partner): Promise<void> {
  const dispatcher = startDispatcher(test);
  dispatcher.wake([connectionKey(partner)]);
  await dispatcher.idle();
}

/** The event of an order's creation; returns its id. */
export async function createdEvent(test: TestService, partner: Partner, orderId: string): Promise<string> {
  const events = await readEvents(test, partner.connectionId);
  return events.find(({ type, data }) => type === "order.created" && data.order.id === orderId).id;
}

/** The delivery of an order's creation; returns its id. */
export const deliveryOfOrder = (
  { partner, endpointId, order }: Sent,
  which: Partial<Pick<Sent, "endpointId" | "order">> = {},
): Promise<string> => deliveryOf(partner, which.endpointId ?? endpointId, which.order?.id ?? order.id);

export async function readDelivery({ client }: Partner, deliveryId: string) {
  const { status, body } = await client.get(`/v1/deliveries/${deliveryId}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** A delivery as lists show it. */
export const withoutRequests = (delivery: Awaited<ReturnType<typeof readDelivery>>) => ({
  ...delivery,
  attempts: delivery.attempts.map(({ request: _, ...attempt }: { request: unknown }) => attempt),
});

/** Ids of a partner's deliveries as they are listed. */
export async function listedIds({ client }: Partner, query = ""): Promise<string[]> {
  const { status, body } = await client.get(`/v1/deliveries${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.map(({ id }: { id: string }) => id);
}

export const redeliver = ({ client }: Partner, deliveryId: string) =>
  client.post(`/v1/deliveries/${deliveryId}/redeliver`);
