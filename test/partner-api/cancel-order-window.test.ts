import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  cancelOrder,
  expectCanceled,
  expectProblem,
  failPayment,
  readOrder,
  readOrderEvents,
  readOrderEventTypes,
  readStoredOrders,
  transitionOrder,
  withoutItsOwn,
} from "../support/orders.ts";
import { applied } from "../support/sandbox.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

/** Rejected with the status of the order, and no event is published. */
async function expectNotCancelable(orderId: string, orderStatus: string, by = partner): Promise<void> {
  const before = await readOrder(by, orderId);
  const published = await readOrderEventTypes(test, by);
  const rejected = await cancelOrder(by, orderId);
  expectProblem(rejected, 409, "order-not-cancelable", { orderStatus });
  expect(rejected.body.title).toBe("Order cannot be canceled");
  expect(await readOrder(by, orderId)).toEqual(before);
  expect(await readOrderEventTypes(test, by)).toEqual(published);
}

describe("POST /v1/orders/{orderId}/cancel, past the window: 409 order-not-cancelable", () => {
  it("cancels in the last millisecond of the window", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 2, ms: -1 });
    await expectCanceled(partner, id);
  });

  it.each([0, 1, 86_400_000])(
    "rejects %i ms after its end, with the status ACCEPTED, before any worker has run",
    async (ms) => {
      const { id } = await placeOrder(partner);
      test.clock.advance({ hours: 2, ms });
      await expectNotCancelable(id, "ACCEPTED");
    },
  );

  it("accepts the order at once: it stays accepted even for a clock that is behind", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 2 });
    const closedAt = test.clock.now().toISOString();
    test.clock.advance({ minutes: 3 });
    await cancelOrder(partner, id);
    expect(await readStoredOrders(test, partner)).toMatchObject([
      { status: "ACCEPTED", updatedAt: closedAt },
    ]);
  });

  it("returns the same response to a retry", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 2 });
    const first = await cancelOrder(partner, id);
    const second = await cancelOrder(partner, id);
    expect(withoutItsOwn(second)).toBe(withoutItsOwn(first));
  });

  it.each([
    ["ACCEPTED", ["accept"]],
    ["IN_PROGRESS", ["ship"]],
    ["COMPLETED", ["ship", "complete"]],
    ["RETURNED", ["ship", "returnShipment"]],
  ])("rejects an order that is %s", async (status, transitions) => {
    const { id } = await placeTestOrder(partner);
    for (const name of transitions) await applied(partner, id, name);
    await expectNotCancelable(id, status);
  });
});

describe("POST /v1/orders/{orderId}/cancel, in PROCESSING: 409 order-not-cancelable", () => {
  it.each([
    ["real", false],
    ["test", true],
  ])("rejects a %s order in review, at once and later", async (_, testMode) => {
    const reviewed = await createPartner(test, { reviewPolicy: { countries: [] } });
    const { id } = await placeOrder(reviewed, { testMode });
    await expectNotCancelable(id, "PROCESSING", reviewed);
    test.clock.advance({ minutes: 119 });
    await expectNotCancelable(id, "PROCESSING", reviewed);
  });

  it("returns the same for a real and a test order", async () => {
    const reviewed = await createPartner(test, { reviewPolicy: { countries: [] } });
    const real = await placeOrder(reviewed);
    const rehearsal = await placeTestOrder(reviewed);
    expect(withoutItsOwn(await cancelOrder(reviewed, rehearsal.id))).toBe(
      withoutItsOwn(await cancelOrder(reviewed, real.id)),
    );
  });

  it("rejects a test order that was moved there", async () => {
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "process");
    await expectNotCancelable(id, "PROCESSING");
  });
});

describe("POST /v1/orders/{orderId}/cancel, while payment has failed", () => {
  it.each([0, 2, 200])("cancels %i hours after creation, and clears the hold", async (hours) => {
    const { id } = await placeOrder(partner);
    await failPayment(test, partner, id);
    test.clock.advance({ hours });
    expect(await expectCanceled(partner, id)).toMatchObject({
      onHold: false,
      onHoldReasons: [],
      cancelableUntil: null,
    });
    const published = await readOrderEvents(test, partner);
    expect(published.map(({ type, sequence }) => [type, sequence])).toEqual([
      ["order.created", 1],
      ["order.onHold", 2],
      ["order.canceled", 3],
    ]);
    expect(published[2].data).toEqual({ order: await readOrder(partner, id) });
  });

  it.each(["process", "accept"])("cancels even after %s, while the hold lasts", async (name) => {
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, name);
    await applied(partner, id, "hold", { reasons: ["out_of_stock", "payment_failed"] });
    await expectCanceled(partner, id);
  });

  it("rejects again after a payment later than the window: the order is accepted", async () => {
    const { id } = await placeOrder(partner);
    await failPayment(test, partner, id);
    test.clock.advance({ hours: 3 });
    await transitionOrder(test, partner, id, { name: "releaseHold", reasons: ["payment_failed"] });
    await expectNotCancelable(id, "ACCEPTED");
  });

  it("does not apply to other reasons: an order on hold past its window is accepted", async () => {
    const { id } = await placeOrder(partner);
    await transitionOrder(test, partner, id, { name: "hold", reasons: ["out_of_stock"] });
    test.clock.advance({ hours: 2 });
    await expectNotCancelable(id, "ACCEPTED");
  });
});
