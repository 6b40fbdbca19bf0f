import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OrderSchema, ShipmentSchema } from "../../src/orders/order-wire.ts";
import { PartnerProductSchema } from "../../src/products/product.ts";
import { EVENT_TYPES } from "../../src/webhooks/events/event.ts";
import { createPartner, type Partner, placeTestOrder, readEvents } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { expectErrors, expectProblem, readOrder } from "../support/orders.ts";
import { transition } from "../support/sandbox.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath, pauseEndpoint } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
  partner = await createPartner(test);
});
afterAll(() => test.close());

const ping = (endpointId: string, body?: object) =>
  partner.client.post(endpointPath(endpointId, "ping"), body);
const keysOf = (thing: object) => Object.keys(thing).sort();
const fieldsOf = (schema: { properties: object }) => keysOf(schema.properties);

/** The request that an endpoint receives for one ping. */
async function receiveSample(type: string) {
  const receiver = await startReceiverForTest();
  const { id, secret } = await createEndpoint(partner, {
    url: receiver.url,
    eventTypes: ["product.published"],
  });
  const { status, body: delivery } = await ping(id, { type });
  expect(status, JSON.stringify(delivery)).toBe(202);
  await sendDue(startDispatcher(test));
  expect(receiver.requests).toHaveLength(1);
  const [request] = receiver.requests;
  if (request === undefined) throw new Error("Nothing was received.");
  const sentAt = new Date(Number(request.headers["webhook-timestamp"]) * 1_000);
  const signature = new Webhook(secret).sign(String(request.headers["webhook-id"]), sentAt, request.body);
  expect(request.headers["webhook-signature"]).toBe(signature);
  return { event: JSON.parse(request.body), delivery };
}

describe("POST /v1/webhook-endpoints/{endpointId}/ping with a type", () => {
  it.each(EVENT_TYPES)("sends a signed sample of %s with the fields of the real event", async (type) => {
    const { event, delivery } = await receiveSample(type);
    expect(event).toMatchObject({ id: delivery.eventId, type, testMode: true });
    expect(event.connectionId).toBe(partner.connectionId);
    expect(delivery).toMatchObject({ eventType: type, orderId: null });
    const { order, shipment, product, ...others } = event.data;
    const canceled = { canceledLineIds: [order?.lines.at(-1).id], reason: "out_of_stock" };
    expect(others).toEqual(type === "order.linesCanceled" ? canceled : {});
    if (type === "product.published") {
      expect(keysOf(product)).toEqual(fieldsOf(PartnerProductSchema));
      return expect([order, shipment]).toEqual([undefined, undefined]);
    }
    expect(product).toBeUndefined();
    expect(keysOf(order)).toEqual(fieldsOf(OrderSchema));
    expect(order.id).toMatch(/^test_/);
    if (type.startsWith("order.shipment")) expect(keysOf(shipment)).toEqual(fieldsOf(ShipmentSchema));
    else expect(shipment).toBeUndefined();
    // The response is checked against the schema of events.
    const stored = await partner.client.get(`/v1/events/${event.id}`);
    expect(stored.body).toEqual(event);
  });

  it.each([
    ["order.created", { status: "NEW", shipments: [] }, 1],
    ["order.canceled", { status: "CANCELED" }, 2],
    ["order.onHold", { status: "ACCEPTED", onHold: true, onHoldReasons: ["out_of_stock"] }, 2],
    ["order.onHoldReleased", { onHold: false, onHoldReasons: [] }, 3],
    ["order.shipmentReturned", { status: "RETURNED", shipments: [{ status: "returned" }] }, 3],
    ["order.completed", { status: "COMPLETED" }, 3],
    ["order.accepted", { status: "ACCEPTED" }, null],
    ["order.inProgress", { status: "IN_PROGRESS" }, null],
    ["order.shipmentUpdated", { shipments: [{ status: "delivered" }] }, null],
    ["order.paymentFailed", { onHoldReasons: ["payment_failed"] }, null],
    ["order.linesCanceled", { lines: [{ canceledQuantity: 0 }, { canceledQuantity: 1 }] }, null],
  ])("shows in a sample of %s the order as it is after such an event", async (type, state, sequence) => {
    const { event } = await receiveSample(type);
    expect(event.data.order).toMatchObject(state);
    expect(event.sequence).toBe(sequence);
  });

  it("can be canceled as long as a test order in this state, with order.created and order.paymentFailed", async () => {
    const placed = await readOrder(partner, (await placeTestOrder(partner)).id);
    expect(placed.cancelableUntil).not.toBeNull();
    for (const type of ["order.created", "order.paymentFailed"])
      expect((await receiveSample(type)).event.data.order.cancelableUntil, type).toBe(placed.cancelableUntil);
    expect((await receiveSample("order.completed")).event.data.order.cancelableUntil).toBeNull();
  });

  it("has the members of a real event of the sandbox", async () => {
    const placed = await placeTestOrder(partner);
    for (const name of ["accept", "ship"]) await transition(partner, placed.id, name);
    const real = (await readEvents(test, partner.connectionId)).findLast(
      ({ type }) => type === "order.shipmentCreated",
    );
    const { event } = await receiveSample("order.shipmentCreated");
    expect(keysOf(event)).toEqual(keysOf(real));
    expect(keysOf(event.data.order.lines[0])).toEqual(keysOf(real.data.order.lines[0]));
    expect(keysOf(event.data.order.shippingAddress)).toEqual(keysOf(real.data.order.shippingAddress));
    expect(event.data.shipment.lineIds).toEqual([event.data.order.lines[0].id]);
  });

  it("names an order, a line and a product that do not exist", async () => {
    const { order } = (await receiveSample("order.created")).event.data;
    for (const path of [`/v1/orders/${order.id}`, `/v1/products/${order.lines[0].productId}`])
      expectProblem(await partner.client.get(path), 404, "not-found");
    expect(
      await test.db.query({
        name: "orders",
        text: "select from order_requests where note like 'A sample%'",
        values: [],
      }),
    ).toEqual([]);
  });

  it("is not in the feed, with its type as a filter and without", async () => {
    const { event } = await receiveSample("order.accepted");
    for (const query of ["", "?type=order.accepted"]) {
      const { body } = await partner.client.get(`/v1/events${query}`);
      expect(body.data.map(({ id }: { id: string }) => id)).not.toContain(event.id);
    }
  });

  it("rejects an unknown type, and sends nothing to a paused endpoint", async () => {
    const { id } = await createEndpoint(partner);
    expectErrors(await ping(id, { type: "order.shipped" }), [{ pointer: "/type" }]);
    await pauseEndpoint(test, id);
    expectProblem(await ping(id, { type: "order.created" }), 409, "endpoint-paused");
  });
});
