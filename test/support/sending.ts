import { createPartner } from "./builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "./dispatch.ts";
import type { ReceiverHandler } from "./receivers.ts";
import { startServiceForTest } from "./test-service.ts";
import { createEndpoint } from "./webhooks.ts";

/** A partner with an endpoint and a receiver that responds as configured, for a single test. */
export async function startSending(handler?: ReceiverHandler, fields: object = {}) {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest(handler);
  const endpoint = await createEndpoint(partner, { url: receiver.url, ...fields });
  const dispatcher = startDispatcher(test);
  return { test, partner, receiver, endpoint, dispatcher, send: () => sendDue(dispatcher) };
}
