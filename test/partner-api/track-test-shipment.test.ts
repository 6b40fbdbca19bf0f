import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { expectErrors, expectProblem, readOrder } from "../support/orders.ts";
import { applied, eventsOf, typesOf } from "../support/sandbox.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  await createEndpoint(partner, { eventTypes: ["order.shipmentUpdated"] });
});
afterAll(() => test.close());

const pathOf = (orderId: string, shipmentId: string) =>
  `/v1/test/orders/${orderId}/shipments/${shipmentId}/tracking`;
const track = (orderId: string, shipmentId: string, body: object, as: Partner = partner) =>
  as.client.post(pathOf(orderId, shipmentId), body);

async function shipped(): Promise<{ id: string; shipmentId: string }> {
  const { id } = await placeTestOrder(partner);
  const { shipments } = await applied(partner, id, "ship");
  return { id, shipmentId: shipments[0].id };
}

describe("POST /v1/test/orders/{orderId}/shipments/{shipmentId}/tracking", () => {
  it("adds tracking later, then the delivery, and publishes what a real shipment would", async () => {
    const { id, shipmentId } = await shipped();
    const trackingUrl = "https://carrier.example/JD1";
    test.clock.advance({ minutes: 1 });
    const tracked = await track(id, shipmentId, { trackingNumber: "JD1", trackingUrl });
    expect(tracked.status, JSON.stringify(tracked.body)).toBe(200);
    const at = test.clock.now().toISOString();
    const known = { id: shipmentId, trackingNumber: "JD1", trackingUrl, shippedAt: at };
    expect(tracked.body).toMatchObject({ sequence: 2, updatedAt: at });
    expect(tracked.body.shipments).toMatchObject([{ ...known, status: "shipped", deliveredAt: null }]);
    await applied(partner, id, "complete");
    const delivered = await track(id, shipmentId, { status: "delivered" });
    expect(delivered.body.status).toBe("COMPLETED");
    expect(delivered.body.shipments).toMatchObject([{ ...known, status: "delivered", deliveredAt: at }]);
    expect(await readOrder(partner, id)).toEqual(delivered.body);
    const events = (await eventsOf(test, id)).filter(({ type }) => type === "order.shipmentUpdated");
    expect(events.map(({ data }) => data.shipment.status)).toEqual(["shipped", "delivered"]);
    expect(events[1]?.data.order).toEqual(delivered.body);
  });

  it("repeated, changes nothing and publishes nothing", async () => {
    const { id, shipmentId } = await shipped();
    const first = await track(id, shipmentId, { status: "delivered" });
    const before = await dumpTables(test);
    expect((await track(id, shipmentId, { status: "delivered" })).body).toEqual(first.body);
    expect((await track(id, shipmentId, {})).body).toEqual(first.body);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("is rejected for a shipment that came back, as the real one is", async () => {
    const { id, shipmentId } = await shipped();
    await applied(partner, id, "returnShipment");
    const members = { transition: "updateShipment", orderStatus: "RETURNED", rule: "no_shipment_out" };
    const answer = await track(id, shipmentId, { status: "delivered" });
    expectProblem(answer, 409, "transition-refused", members);
    expect(typesOf(await eventsOf(test, id)).at(-1)).toBe("order.shipmentReturned");
  });

  it("rejects what a real shipment cannot be", async () => {
    const { id, shipmentId } = await shipped();
    expectErrors(await track(id, shipmentId, { status: "failed" }), [{ pointer: "/status" }]);
    expectErrors(await track(id, shipmentId, { trackingUrl: "javascript:0" }), [{ pointer: "/trackingUrl" }]);
  });

  it("answers 404 for a real order, a missing one, another connection's, another shipment and an expired one", async () => {
    const { id, shipmentId } = await shipped();
    const other = await shipped();
    const real = await placeOrder(partner);
    const stranger = await createPartner(test);
    const answers = [
      await track(real.id, shipmentId, {}),
      await track("unknown", shipmentId, {}),
      await track(id, shipmentId, {}, stranger),
      await track(id, other.shipmentId, {}),
      await track(id, "shp_1", {}),
    ];
    test.clock.advance({ hours: 2 });
    answers.push(await track(id, shipmentId, {}));
    for (const answer of answers) expectProblem(answer, 404, "not-found");
  });

  it("counts as a transition", async () => {
    const { id, shipmentId } = await shipped();
    const path = `/api/connections/${partner.connectionId}`;
    await test.backOffice.request("PATCH", path, { body: { limits: { testOrderTransitions: 1 } } });
    const answer = await track(id, shipmentId, { status: "delivered" });
    expectProblem(answer, 409, "limit-reached", { limit: "testOrderTransitions", maximum: 1 });
  });
});
