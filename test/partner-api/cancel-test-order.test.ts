import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { readOrder } from "../support/orders.ts";
import { applied, eventsOf, typesOf } from "../support/sandbox.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test, { reviewPolicy: { maxQuantity: 10 } });
});
afterAll(() => test.close());

const cancel = (orderId: string): Promise<Answer> => partner.client.post(`/v1/orders/${orderId}/cancel`);

/** A cancel that must be rejected with 409 and change nothing; returns the problem without its path. */
async function rejectionOf(orderId: string): Promise<object> {
  const before = await dumpTables(test);
  const { status, body } = await cancel(orderId);
  expect(status, JSON.stringify(body)).toBe(409);
  expect(body.instance).toBe(`/v1/orders/${orderId}/cancel`);
  expect(await dumpTables(test)).toEqual(before);
  const { instance: _, ...problem } = body;
  return problem;
}

describe("POST /v1/orders/{orderId}/cancel on a test order", () => {
  it("cancels a NEW one and publishes order.canceled with testMode true", async () => {
    const { id } = await placeTestOrder(partner);
    const { status, body } = await cancel(id);
    expect(status).toBe(200);
    expect(body).toEqual(await readOrder(partner, id));
    expect(body).toMatchObject({ status: "CANCELED", testMode: true, cancelableUntil: null });
    const [, canceled, ...more] = await eventsOf(test, id);
    expect(canceled).toMatchObject({ type: "order.canceled", testMode: true, sequence: 2 });
    expect(canceled.data).toEqual({ order: body });
    expect(more).toEqual([]);
  });

  it("returns 200 again when it is already canceled, in either way, and publishes nothing more", async () => {
    const { id } = await placeTestOrder(partner);
    const canceled = await applied(partner, id, "cancel");
    test.clock.advance({ minutes: 1 });
    expect(await cancel(id)).toMatchObject({ status: 200, body: canceled });
    expect(typesOf(await eventsOf(test, id))).toEqual(["order.created", "order.canceled"]);
  });

  it("is possible until just before its erasure: a test order is never accepted automatically", async () => {
    const { id } = await placeTestOrder(partner);
    test.clock.advance({ hours: 2, ms: -1 });
    expect((await cancel(id)).body).toMatchObject({ status: "CANCELED" });
  });

  it("starts in PROCESSING if a real one would, and is rejected with exactly the same text", async () => {
    const lines = [{ productId: partner.productIds[0], quantity: 11 }];
    const real = await placeOrder(partner, { lines });
    const rehearsed = await placeTestOrder(partner, { lines });
    expect([real.status, rehearsed.status]).toEqual(["PROCESSING", "PROCESSING"]);
    const rejection = await rejectionOf(rehearsed.id);
    expect(rejection).toEqual(await rejectionOf(real.id));
    expect(rejection).toMatchObject({ title: "Order cannot be canceled", orderStatus: "PROCESSING" });
    expect(rejection).toMatchObject({ detail: expect.stringContaining("never had a cancel window") });
  });

  it("rejects one moved to PROCESSING with that text too", async () => {
    const lines = [{ productId: partner.productIds[0], quantity: 11 }];
    const real = await placeOrder(partner, { lines });
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "process");
    expect(await rejectionOf(id)).toEqual(await rejectionOf(real.id));
  });

  it("rejects one moved past its window with the text for a real order whose window has closed", async () => {
    const real = await placeOrder(partner);
    test.clock.advance({ hours: 2 });
    await cancel(real.id); // Stores the acceptance, so that the rejection compared below changes nothing.
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "accept");
    const rejection = await rejectionOf(id);
    expect(rejection).toEqual(await rejectionOf(real.id));
    expect(rejection).toMatchObject({ detail: expect.stringContaining("window has closed") });
  });

  it.each([
    ["ACCEPTED", ["accept"]],
    ["IN_PROGRESS", ["ship"]],
    ["COMPLETED", ["ship", "complete"]],
    ["RETURNED", ["ship", "returnShipment"]],
    ["ACCEPTED", ["accept", "hold"]],
    ["PROCESSING", ["process", "hold"]],
  ])("rejects with 409 order-not-cancelable: %s after %j", async (orderStatus, transitions) => {
    const { id } = await placeTestOrder(partner);
    for (const name of transitions) await applied(partner, id, name);
    expect(await rejectionOf(id)).toMatchObject({ status: 409, orderStatus });
  });

  it.each([[[]], [["process"]], [["accept"]], [["ship"]]])(
    "cancels it while its payment has failed, after %j",
    async (transitions) => {
      const { id } = await placeTestOrder(partner);
      for (const name of transitions) await applied(partner, id, name);
      await applied(partner, id, "hold", { reasons: ["out_of_stock", "payment_failed"] });
      const { status, body } = await cancel(id);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body).toMatchObject({ status: "CANCELED", onHold: false, onHoldReasons: [] });
    },
  );

  it("does not cancel it once the failed payment was cleared", async () => {
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "accept");
    await applied(partner, id, "hold", { reasons: ["payment_failed"] });
    await applied(partner, id, "releaseHold");
    expect(await rejectionOf(id)).toMatchObject({ orderStatus: "ACCEPTED" });
  });

  it("does not cancel it once other reasons have replaced the failed payment", async () => {
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "process");
    await applied(partner, id, "hold", { reasons: ["payment_failed"] });
    await applied(partner, id, "hold");
    expect(await rejectionOf(id)).toMatchObject({ orderStatus: "PROCESSING" });
  });

  it("a NEW one on hold can be canceled", async () => {
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "hold");
    expect((await cancel(id)).body).toMatchObject({ status: "CANCELED", onHold: false });
  });
});
