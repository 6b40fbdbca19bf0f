import { expect, it } from "vitest";
import { acceptDueOrders } from "../../src/orders/deadlines/accept-orders.ts";
import { OPT_IN_EVENT_TYPES } from "../../src/webhooks/events/event.ts";
import { createPartner, placeOrder, placeTestOrder, readEvents } from "../support/builders.ts";
import { received, sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { connectionKey } from "../support/orders.ts";
import { operationApplied, placeAcceptedOrder } from "../support/real-orders.ts";
import { applied, eventsOf, typesOf } from "../support/sandbox.ts";
import { startServiceForTest } from "../support/test-service.ts";

async function start(eventTypes?: string[]) {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest();
  const body = { url: receiver.url, ...(eventTypes && { eventTypes }) };
  expect((await partner.client.post("/v1/webhook-endpoints", body)).status).toBe(201);
  return {
    test,
    partner,
    receiver,
    accept: () => acceptDueOrders(test.context, [connectionKey(partner)], []),
  };
}

it("an endpoint that names order.accepted receives it when the window has closed, after the earlier events", async () => {
  const { test, partner, receiver, accept } = await start(["order.created", "order.accepted"]);
  const order = await placeOrder(partner);
  test.clock.advance({ hours: 2 });
  expect(await accept()).toBe(1);
  await sendDue(startDispatcher(test));
  expect(received(receiver)).toEqual([
    { type: "order.created", sequence: 1, orderId: order.id },
    { type: "order.accepted", sequence: null, orderId: order.id },
  ]);
  expect(JSON.parse(receiver.requests[1]?.body ?? "").data.order.status).toBe("ACCEPTED");
});

it("it receives it once, also when a cancel comes too late", async () => {
  const { test, partner, receiver, accept } = await start(["order.accepted"]);
  const order = await placeOrder(partner);
  test.clock.advance({ hours: 2 });
  expect((await partner.client.post(`/v1/orders/${order.id}/cancel`)).status).toBe(409);
  expect(await accept()).toBe(0);
  await sendDue(startDispatcher(test));
  expect(received(receiver)).toEqual([{ type: "order.accepted", sequence: null, orderId: order.id }]);
});

it("no other endpoint receives it, the feed does not contain it, and the sequence has no gap", async () => {
  const { test, partner, receiver, accept } = await start();
  await placeOrder(partner);
  test.clock.advance({ hours: 2 });
  expect(await accept()).toBe(1);
  await sendDue(startDispatcher(test));
  expect(received(receiver).map(({ type }) => type)).toEqual(["order.created"]);
  expect((await readEvents(test)).map(({ type }) => type)).not.toContain("order.accepted");
});

it("test orders publish them to endpoints that name them, but no acceptance", async () => {
  const { test, partner, receiver } = await start([...OPT_IN_EVENT_TYPES]);
  const { id } = await placeTestOrder(partner);
  const hold = { reasons: ["payment_failed"] };
  for (const [name, fields] of [["accept"], ["hold", hold], ["releaseHold"], ["ship"], ["complete"]] as const)
    await applied(partner, id, name, fields);
  await sendDue(startDispatcher(test));
  expect(received(receiver)).toEqual(
    ["order.paymentFailed", "order.inProgress", "order.shipmentUpdated"].map((type) => ({
      ...{ type, sequence: null, orderId: id },
    })),
  );
  const bodies = receiver.requests.map(({ body }) => JSON.parse(body));
  expect(bodies.map(({ testMode }) => testMode)).toEqual([true, true, true]);
  expect(bodies[2].data.shipment.status).toBe("shipped");
  expect((await readEvents(test)).map(({ type }) => type)).not.toContain("order.accepted");
});

it("test orders publish those only that an endpoint names, and they are erased with the order", async () => {
  const { test, partner, receiver } = await start(["order.inProgress"]);
  const { id } = await placeTestOrder(partner);
  for (const name of ["accept", "hold", "releaseHold"]) await applied(partner, id, name);
  await applied(partner, id, "hold", { reasons: ["payment_failed"] });
  for (const name of ["releaseHold", "ship"]) await applied(partner, id, name);
  const held = ["order.onHold", "order.onHoldReleased"];
  expect(typesOf(await eventsOf(test, id))).toEqual([
    "order.created",
    ...held,
    ...held,
    "order.shipmentCreated",
    "order.inProgress",
  ]);
  test.clock.advance({ hours: 2 });
  await sendDue(startDispatcher(test));
  expect(receiver.requests).toEqual([]);
  expect((await partner.client.get("/v1/deliveries")).body.data).toEqual([]);
  expect(JSON.stringify((await partner.client.get("/v1/events")).body)).not.toContain("order.inProgress");
});

it("an endpoint that names order.shipmentUpdated receives each change of a shipment's status or tracking", async () => {
  const { test, partner, receiver } = await start(["order.shipmentUpdated", "order.inProgress"]);
  const { id } = await placeAcceptedOrder(test, partner);
  const [shipment] = (await operationApplied(test, id, "ship")).shipments;
  const patch = (body: object) => test.backOffice.request("PATCH", `/api/shipments/${shipment.id}`, { body });
  await patch({ status: "shipped" });
  await patch({ carrier: "Local Bikes" });
  await patch({ trackingNumber: "1" });
  await patch({ trackingNumber: "1" });
  await patch({ trackingUrl: "https://bikes.example/1" });
  await sendDue(startDispatcher(test));
  expect(received(receiver).map(({ type }) => type)).toEqual([
    "order.inProgress",
    ...Array(4).fill("order.shipmentUpdated"),
  ]);
  const { data } = JSON.parse(receiver.requests[4]?.body ?? "");
  expect(data.shipment).toMatchObject({
    id: shipment.id,
    status: "shipped",
    trackingNumber: "1",
    trackingUrl: "https://bikes.example/1",
  });
  expect(data.order.shipments).toEqual([data.shipment]);
});
