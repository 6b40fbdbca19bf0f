import { expect, inject, it } from "vitest";
import { anAddress, countRows, type Partner, placeOrder } from "../support/builders.ts";
import { loseNode } from "../support/citus-nodes.ts";
import { createFacility, readOperations, setStock, ship } from "../support/facilities.ts";
import { runJob, storedStatuses } from "../support/jobs.ts";
import { partnersOnTwoNodes } from "../support/partners-on-nodes.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { times } from "../support/two-services.ts";
import { uuidIn } from "../support/webhooks.ts";

const onCitus = it.skipIf(inject("citusNodes").length === 0);

const ORDERS = 3;
const JOBS = ["accept-orders", "process-payments", "route-orders", "process-payments"] as const;

async function startTest() {
  const test = await startServiceForTest();
  const [healthy, lost, node] = await partnersOnTwoNodes(test);
  const facility = await createFacility(test);
  for (const { merchantId, productIds } of [healthy, lost]) {
    const path = `/api/merchants/${merchantId}`;
    const { status } = await test.backOffice.request("PATCH", path, { body: { completeWhenShipped: true } });
    expect(status).toBe(200);
    await setStock(test, facility, productIds[0], 10);
  }
  const place = (partner: Partner): Promise<string[]> =>
    Promise.all(times(ORDERS, async () => (await placeOrder(partner)).id));
  const ordersOfHealthy = await place(healthy);
  const ordersOfLost = await place(lost);
  return { test, healthy, lost, node, ordersOfHealthy, ordersOfLost };
}

async function runToEnd(test: TestService, partner: Partner, orderIds: readonly string[]): Promise<void> {
  for (const job of JOBS) await runJob(test, job);
  for (const id of orderIds) await ship(test, partner, id);
  await runJob(test, "complete-shipped-orders");
}

onCitus(
  "while a node is down, orders of merchants on others go through their whole life, and the rest follow when it is back",
  async () => {
    const { test, healthy, lost, node, ordersOfHealthy, ordersOfLost } = await startTest();
    const restore = await loseNode(test, node);
    test.clock.advance({ hours: 2 });
    await runToEnd(test, healthy, ordersOfHealthy);
    for (const id of ordersOfHealthy)
      expect((await healthy.client.get(`/v1/orders/${id}`)).body.status).toBe("COMPLETED");

    await restore();
    // That the node is back is noticed after a second.
    for (let count = 0; count < ORDERS; ) count += await runJob(test, "accept-orders");
    await runToEnd(test, lost, ordersOfLost);
    expect(await storedStatuses(test)).toEqual(times(2 * ORDERS, () => "COMPLETED"));
    for (const id of [...ordersOfHealthy, ...ordersOfLost])
      expect(await readOperations(test, id)).toEqual(["accept", "route", "ship", "complete"]);
    // Goods and shipping of each order.
    expect(await countRows(test, "ledger_entries")).toBe(2 * 2 * ORDERS);
    expect(await countRows(test, "account_entries")).toBe(2 * 2 * ORDERS);
  },
);

onCitus(
  "while a node is down, an order without a rate is put on hold, with the others of its batch",
  async () => {
    const { test, healthy, node, ordersOfHealthy } = await startTest();
    const address = anAddress({ countryCode: "FR" }); // No facility ships there.
    const { id } = await placeOrder(healthy, { shippingAddress: address });
    await loseNode(test, node);
    test.clock.advance({ hours: 2 });
    await runJob(test, "accept-orders");
    await runJob(test, "route-orders");
    const routed = await test.db.query({
      name: "test-routed-of-merchant",
      text: "select id from orders where merchant_id = $1 and routed_at is not null",
      values: [uuidIn("mer", healthy.merchantId)],
    });
    expect(routed).toHaveLength(ordersOfHealthy.length);
    const held = (await healthy.client.get(`/v1/orders/${id}`)).body;
    expect(held).toMatchObject({
      status: "ACCEPTED",
      onHold: true,
      onHoldReasons: ["address_unserviceable"],
    });
  },
);
