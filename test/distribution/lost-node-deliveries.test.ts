import { expect, inject, it, vi } from "vitest";
import { countRows, placeOrder } from "../support/builders.ts";
import { loseNode } from "../support/citus-nodes.ts";
import {
  readAttempts,
  readDeliveries,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { partnersOnTwoNodes } from "../support/partners-on-nodes.ts";
import { accept } from "../support/receivers.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { times } from "../support/two-services.ts";
import { uuidIn } from "../support/webhooks.ts";

const onCitus = it.skipIf(inject("citusNodes").length === 0);

const ORDERS = 2;
const WAIT = { timeout: 20_000, interval: 50 };

async function startTest() {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const [healthy, lost, node] = await partnersOnTwoNodes(test);
  const held: (() => void)[] = [];
  let isHolding = false;
  const receiver = await startReceiverForTest((request, response) => {
    if (isHolding) held.push(() => accept(request, response));
    else accept(request, response);
  });
  for (const partner of [healthy, lost]) await storeEndpoint(test, partner, { url: receiver.url });
  const place = async () => {
    for (const partner of [healthy, lost]) await Promise.all(times(ORDERS, () => placeOrder(partner)));
  };
  const hold = (): void => {
    isHolding = true;
  };
  const letGo = (): void => {
    isHolding = false;
    for (const answer of held.splice(0)) answer();
  };
  return { test, healthy, node, receiver, place, hold, letGo };
}

onCitus(
  "while a node is down, deliveries of merchants on others are sent, and the rest once it is back",
  async () => {
    const { test, healthy, node, receiver, place } = await startTest();
    const dispatcher = startDispatcher(test);
    await place();
    const restore = await loseNode(test, node);
    await sendDue(dispatcher);
    expect(receiver.requests).toHaveLength(ORDERS);
    // The second delivery of a stream takes a transaction instead of one statement.
    const order = await placeOrder(healthy);
    expect((await healthy.client.post(`/v1/orders/${order.id}/cancel`)).status).toBe(200);
    await sendDue(dispatcher);
    expect(receiver.requests).toHaveLength(ORDERS + 2);

    await restore();
    while (receiver.requests.length < 2 * ORDERS + 2) await sendDue(dispatcher);
    expect((await readDeliveries(test)).map(({ status }) => status)).toEqual(
      times(2 * ORDERS + 2, () => "succeeded"),
    );
    expect(await readAttempts(test)).toHaveLength(2 * ORDERS + 2);
    expect(await countRows(test, "due_deliveries")).toBe(0);
  },
);

onCitus(
  "outcomes of deliveries that are in flight when a node is lost are stored once it is back, each once",
  async () => {
    const { test, healthy, node, receiver, place, hold, letGo } = await startTest();
    const dispatcher = startDispatcher(test);
    await place();
    hold();
    const sent = sendDue(dispatcher);
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(2 * ORDERS), WAIT);
    const restore = await loseNode(test, node);
    letGo();
    await vi.waitFor(async () => {
      const statuses = await test.db.query<{ status: string }>({
        name: "test-statuses-of-merchant",
        text: "select status from deliveries where merchant_id = $1",
        values: [uuidIn("mer", healthy.merchantId)],
      });
      expect(statuses.map(({ status }) => status)).toEqual(times(ORDERS, () => "succeeded"));
    }, WAIT);
    await restore();
    await sent;
    expect((await readDeliveries(test)).map(({ status }) => status)).toEqual(
      times(2 * ORDERS, () => "succeeded"),
    );
    expect(receiver.requests).toHaveLength(2 * ORDERS);
    expect(await readAttempts(test)).toHaveLength(2 * ORDERS);
  },
);
