import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anAddress, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  cancelOrder,
  expectProblem,
  failPayment,
  orderPath,
  readOrder,
  readOrderEvents,
  readStoredOrders,
  transitionOrder,
  withoutItsOwn,
} from "../support/orders.ts";
import { applied } from "../support/sandbox.ts";
import { startServiceForTest, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

/** An instant, in hours and milliseconds from the test's now. */
const inHours = (hours: number) => new Date(test.clock.now().getTime() + hours * 3_600_000).toISOString();

async function expectMissing(id: string): Promise<void> {
  expectProblem(await partner.client.get(orderPath(id)), 404, "not-found");
}

describe("GET /v1/orders/{orderId}", () => {
  it("returns 200 with every field of an order", async () => {
    const [mug, shirt] = partner.productIds;
    const createdAt = test.clock.now().toISOString();
    const shippingAddress = anAddress({
      address2: "Flat 2",
      company: "Analytical Engines",
      phone: "+44 20 7946 0000",
      name: "Countess of Lovelace",
      stateCode: "LDN",
    });
    const lines = [
      { productId: shirt, quantity: 2 },
      { productId: mug, quantity: 1 },
    ];
    const { id } = await placeOrder(partner, { externalOrderId: "shop-1", shippingAddress, lines });
    const { status, body } = await partner.client.get(`/v1/orders/${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id,
      testMode: false,
      externalOrderId: "shop-1",
      status: "NEW",
      onHold: false,
      onHoldReasons: [],
      createdAt,
      updatedAt: createdAt,
      sequence: 1,
      cancelableUntil: inHours(2),
      shippingAddress,
      note: null,
      metadata: {},
      lines: lines.map((line) => ({
        ...line,
        id: expect.stringMatching(/^line_/),
        shipmentId: null,
        returnedQuantity: 0,
        canceledQuantity: 0,
      })),
      shipments: [],
    });
  });

  it("returns the same by the service's id and by the external id", async () => {
    const { id } = await placeOrder(partner, { externalOrderId: "shop-1" });
    expect(await readOrder(partner, "shop-1")).toEqual(await readOrder(partner, id));
  });

  it("changes and publishes nothing", async () => {
    const { id } = await placeOrder(partner);
    const before = await readStoredOrders(test, partner);
    test.clock.advance({ hours: 3 });
    await readOrder(partner, id);
    expect(await readStoredOrders(test, partner)).toEqual(before);
  });

  it("shows a hold, which leaves the status unchanged", async () => {
    const { id } = await placeOrder(partner);
    await transitionOrder(test, partner, id, { name: "hold", reasons: ["out_of_stock", "merchant_request"] });
    expect(await readOrder(partner, id)).toMatchObject({
      status: "NEW",
      onHold: true,
      onHoldReasons: ["out_of_stock", "merchant_request"],
    });
  });

  it("shows shipments with the lines they cover; tracking is null until the carrier has issued it", async () => {
    const lines = partner.productIds.map((productId) => ({ productId, quantity: 1 }));
    const { id } = await placeTestOrder(partner, { lines });
    const [first, second] = (await readOrder(partner, id)).lines;
    test.clock.advance({ minutes: 1 });
    await applied(partner, id, "ship", { lineIds: [second.id] });
    const read = await readOrder(partner, id);
    const [shipment] = read.shipments;
    expect(read.shipments).toEqual([
      {
        id: expect.stringMatching(/^shp_[0-9a-z]{26}$/),
        status: "pending",
        carrier: null,
        trackingNumber: null,
        trackingUrl: null,
        shippedAt: null,
        deliveredAt: null,
        createdAt: test.clock.now().toISOString(),
        lineIds: [second.id],
      },
    ]);
    expect(read.lines).toEqual([first, { ...second, shipmentId: shipment.id }]);
  });

  it("shows when the order last changed", async () => {
    const { id, createdAt } = await placeTestOrder(partner);
    test.clock.advance({ minutes: 5 });
    await applied(partner, id, "process");
    expect(await readOrder(partner, id)).toMatchObject({
      createdAt,
      updatedAt: test.clock.now().toISOString(),
    });
  });
});

describe("GET /v1/orders/{orderId}, cancelableUntil", () => {
  it("is the end of a new order's window, and null once it has closed", async () => {
    const { id } = await placeOrder(partner);
    expect((await readOrder(partner, id)).cancelableUntil).toBe(inHours(2));
    test.clock.advance({ hours: 2 });
    expect((await readOrder(partner, id)).cancelableUntil).toBeNull();
  });

  it("is null for a canceled order", async () => {
    const { id } = await placeOrder(partner);
    await cancelOrder(partner, id);
    expect((await readOrder(partner, id)).cancelableUntil).toBeNull();
  });

  it("is the erasure of a new test order, and null once it was moved on", async () => {
    const { id } = await placeTestOrder(partner);
    expect((await readOrder(partner, id)).cancelableUntil).toBe(inHours(2));
    await applied(partner, id, "accept");
    expect((await readOrder(partner, id)).cancelableUntil).toBeNull();
  });

  it("is in the future while payment has failed, even after the window", async () => {
    const { id } = await placeOrder(partner);
    await failPayment(test, partner, id);
    test.clock.advance({ hours: 24 });
    const { cancelableUntil } = await readOrder(partner, id);
    expect(Date.parse(cancelableUntil)).toBeGreaterThan(test.clock.now().getTime());
  });
});

describe("GET /v1/orders/{orderId}, a test order's two hours", () => {
  it("is found until two hours after its creation, then 404, before any worker has run", async () => {
    const { id } = await placeTestOrder(partner, { externalOrderId: "rehearsal" });
    test.clock.advance({ hours: 2, ms: -1 });
    expect(await readOrder(partner, id)).toMatchObject({ id, status: "NEW" });
    test.clock.advance({ ms: 1 });
    for (const name of [id, "rehearsal"]) await expectMissing(name);
  });

  it("is not extended by transitions", async () => {
    const { id } = await placeTestOrder(partner);
    test.clock.advance({ hours: 1 });
    await applied(partner, id, "accept");
    test.clock.advance({ hours: 1 });
    await expectMissing(id);
  });

  it("returns the same for an expired one as for a missing one", async () => {
    const path = orderPath("rehearsal");
    const missing = await partner.client.get(path);
    await placeTestOrder(partner, { externalOrderId: "rehearsal" });
    test.clock.advance({ hours: 2 });
    expect(withoutItsOwn(await partner.client.get(path))).toBe(withoutItsOwn(missing));
  });

  it("does not hide the order whose external id is the expired one's service id", async () => {
    const { id } = await placeTestOrder(partner);
    const named = await placeOrder(partner, { externalOrderId: id });
    test.clock.advance({ hours: 2 });
    expect((await readOrder(partner, id)).id).toBe(named.id);
    expect((await cancelOrder(partner, id)).body).toMatchObject({ orderStatus: "ACCEPTED" });
  });

  it("lasts for the configured time", async () => {
    const brief = await startServiceForTest({
      config: { testOrderLifetimeMs: 1_000, acceptanceWindowMs: 500 },
    });
    const rehearsing = await createPartner(brief);
    const { id } = await placeTestOrder(rehearsing);
    brief.clock.advance({ ms: 999 });
    expect((await readOrder(rehearsing, id)).status).toBe("NEW");
    brief.clock.advance({ ms: 1 });
    expect((await rehearsing.client.get(orderPath(id))).status).toBe(404);
  });
});

describe("GET /v1/orders/{orderId}, the deadline decides", () => {
  it("shows NEW to the last millisecond of the window, and ACCEPTED from its end on, without an event", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 2, ms: -1 });
    const before = await readOrder(partner, id);
    expect(before.status).toBe("NEW");
    test.clock.advance({ ms: 1 });
    const closedAt = test.clock.now().toISOString();
    test.clock.advance({ minutes: 10 });
    expect(await readOrder(partner, id)).toEqual({
      ...before,
      status: "ACCEPTED",
      updatedAt: closedAt,
      cancelableUntil: null,
    });
    expect((await readOrderEvents(test, partner)).map(({ type }) => type)).toEqual(["order.created"]);
  });

  it("never shows an order in PROCESSING as accepted", async () => {
    const reviewed = await createPartner(test, { reviewPolicy: { countries: [] } });
    const { id } = await placeOrder(reviewed);
    test.clock.advance({ hours: 48 });
    expect((await readOrder(reviewed, id)).status).toBe("PROCESSING");
  });
});
