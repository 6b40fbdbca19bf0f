import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  cancelOrder,
  expectFaults,
  expectProblem,
  failPayment,
  orderPath,
  readOrder,
  readOrderEvents,
  readStoredOrders,
  takeStep,
  transition,
  withoutItsOwn,
} from "../support/orders.ts";
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

const eventTypes = async (by = partner) => (await readOrderEvents(test, by)).map(({ type }) => type);

async function expectCanceled(orderId: string, by = partner) {
  const { status, body } = await cancelOrder(by, orderId);
  expect([status, body.status], JSON.stringify(body)).toEqual([200, "CANCELED"]);
  return body;
}

/** Refused with the status the order has, and nothing is told. */
async function expectNotCancelable(orderId: string, orderStatus: string, by = partner): Promise<void> {
  const before = await readOrder(by, orderId);
  const told = await eventTypes(by);
  const refused = await cancelOrder(by, orderId);
  expectProblem(refused, 409, "order-not-cancelable", { orderStatus });
  expect(refused.body.title).toBe("Order cannot be canceled");
  expect(await readOrder(by, orderId)).toEqual(before);
  expect(await eventTypes(by)).toEqual(told);
}

describe("POST /v1/orders/{orderId}/cancel", () => {
  it("cancels a NEW order, and answers 200 with every field of it", async () => {
    const { id } = await placeOrder(partner);
    const before = await readOrder(partner, id);
    test.clock.advance({ minutes: 5 });
    const updatedAt = test.clock.now().toISOString();
    const { status, body } = await cancelOrder(partner, id);
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, status: "CANCELED", updatedAt, cancelableUntil: null });
    expect(await readOrder(partner, id)).toEqual(body);
  });

  it("tells order.canceled, with the order as GET answers it", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ minutes: 5 });
    await cancelOrder(partner, id);
    const [, event, ...further] = await readOrderEvents(test, partner);
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: "order.canceled",
      timestamp: test.clock.now().toISOString(),
      testMode: false,
      connectionId: partner.connectionId,
      sequence: 2,
      data: { order: await readOrder(partner, id) },
    });
    expect(further).toEqual([]);
  });

  it.each(["shop-1", "a/b", "a b+c%?#", "注文😀", "x".repeat(200)])(
    "cancels by the external id %s, percent-encoded",
    async (externalOrderId) => {
      const { id } = await placeOrder(partner, { externalOrderId });
      expect((await expectCanceled(externalOrderId)).id).toBe(id);
    },
  );

  it("tries the service's id first, then the external id", async () => {
    const { id } = await placeOrder(partner);
    const other = await placeOrder(partner, { externalOrderId: id });
    await expectCanceled(id);
    expect((await readOrder(partner, id)).status).toBe("CANCELED");
    expect((await readOrder(partner, other.id)).status).toBe("NEW");
  });

  it.each([
    ["JSON", "application/json", '{"reason":"changed my mind"}'],
    ["broken JSON", "application/json", "{"],
    ["an empty JSON body", "application/json", ""],
    ["plain text", "text/plain", "please"],
  ])("needs no body, and ignores one: %s", async (_, type, rawBody) => {
    const { id } = await placeOrder(partner);
    const path = `${orderPath(id)}/cancel`;
    const answer = await partner.client.request("POST", path, { rawBody, headers: { "content-type": type } });
    expect([answer.status, answer.body.status]).toEqual([200, "CANCELED"]);
  });

  it("cancels an order on hold, and clears its hold", async () => {
    const { id } = await placeOrder(partner);
    await takeStep(test, partner, id, { name: "hold", reasons: ["out_of_stock"] });
    expect(await expectCanceled(id)).toMatchObject({ onHold: false, onHoldReasons: [] });
  });

  it("cancels a test order as a real one, and marks its event", async () => {
    const { id } = await placeTestOrder(partner);
    await expectCanceled(id);
    const [, event] = await readOrderEvents(test, partner);
    expect(event).toMatchObject({ type: "order.canceled", testMode: true, sequence: 2 });
    expect(event.data).toEqual({ order: await readOrder(partner, id) });
  });

  it("leaves every other order alone", async () => {
    const { id } = await placeOrder(partner);
    const other = await placeOrder(partner);
    await expectCanceled(id);
    expect((await readOrder(partner, other.id)).status).toBe("NEW");
  });
});

describe("POST /v1/orders/{orderId}/cancel, already canceled", () => {
  it("answers 200 again with the same order, and sends no second event", async () => {
    const { id } = await placeOrder(partner);
    const first = await expectCanceled(id);
    test.clock.advance({ minutes: 1 });
    expect(await expectCanceled(id)).toEqual(first);
    expect(await eventTypes()).toEqual(["order.created", "order.canceled"]);
  });

  it("answers 200 again even after the window, for a retry is safe", async () => {
    const { id } = await placeOrder(partner);
    const first = await expectCanceled(id);
    test.clock.advance({ hours: 24 });
    expect(await expectCanceled(id)).toEqual(first);
  });

  it("answers 200 for an order that was canceled in the sandbox", async () => {
    const { id } = await placeTestOrder(partner);
    await transition(partner, id, "accept");
    await transition(partner, id, "cancel");
    await expectCanceled(id);
    expect(await eventTypes()).toEqual(["order.created", "order.canceled"]);
  });
});

describe("POST /v1/orders/{orderId}/cancel, past the window: 409 order-not-cancelable", () => {
  it("cancels in the last millisecond of the window", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 2, ms: -1 });
    await expectCanceled(id);
  });

  it.each([0, 1, 86_400_000])(
    "refuses %i ms after its end, with the status ACCEPTED, before any worker has run",
    async (ms) => {
      const { id } = await placeOrder(partner);
      test.clock.advance({ hours: 2, ms });
      await expectNotCancelable(id, "ACCEPTED");
    },
  );

  it("accepts the order there and then: it stays accepted even for a clock that lags behind", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 2 });
    const closedAt = test.clock.now().toISOString();
    test.clock.advance({ minutes: 3 });
    await cancelOrder(partner, id);
    expect(await readStoredOrders(test, partner)).toMatchObject([
      { status: "ACCEPTED", updatedAt: closedAt },
    ]);
  });

  it("gives the same answer to a retry", async () => {
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
  ])("refuses an order that is %s", async (status, steps) => {
    const { id } = await placeTestOrder(partner);
    for (const step of steps) await transition(partner, id, step);
    await expectNotCancelable(id, status);
  });
});

describe("POST /v1/orders/{orderId}/cancel, in PROCESSING: 409 order-not-cancelable", () => {
  it.each([
    ["real", false],
    ["test", true],
  ])("refuses a %s order under review, at once and later", async (_, testMode) => {
    const reviewed = await createPartner(test, { reviewPolicy: { countries: [] } });
    const { id } = await placeOrder(reviewed, { testMode });
    await expectNotCancelable(id, "PROCESSING", reviewed);
    test.clock.advance({ minutes: 119 });
    await expectNotCancelable(id, "PROCESSING", reviewed);
  });

  it("answers a real and a test order the same", async () => {
    const reviewed = await createPartner(test, { reviewPolicy: { countries: [] } });
    const real = await placeOrder(reviewed);
    const rehearsal = await placeTestOrder(reviewed);
    expect(withoutItsOwn(await cancelOrder(reviewed, rehearsal.id))).toBe(
      withoutItsOwn(await cancelOrder(reviewed, real.id)),
    );
  });

  it("refuses a test order that was moved there", async () => {
    const { id } = await placeTestOrder(partner);
    await transition(partner, id, "process");
    await expectNotCancelable(id, "PROCESSING");
  });
});

describe("POST /v1/orders/{orderId}/cancel, while payment has failed (decision 0011)", () => {
  it.each([0, 2, 200])("cancels %i hours after creation, and clears the hold", async (hours) => {
    const { id } = await placeOrder(partner);
    await failPayment(test, partner, id);
    test.clock.advance({ hours });
    expect(await expectCanceled(id)).toMatchObject({
      onHold: false,
      onHoldReasons: [],
      cancelableUntil: null,
    });
    const told = await readOrderEvents(test, partner);
    expect(told.map(({ type, sequence }) => [type, sequence])).toEqual([
      ["order.created", 1],
      ["order.onHold", 2],
      ["order.canceled", 3],
    ]);
    expect(told[2].data).toEqual({ order: await readOrder(partner, id) });
  });

  it.each(["process", "accept"])("cancels even after %s, as long as the hold is there", async (step) => {
    const { id } = await placeTestOrder(partner);
    await transition(partner, id, step);
    await transition(partner, id, "hold", { reasons: ["out_of_stock", "payment_failed"] });
    await expectCanceled(id);
  });

  it("refuses again once it was paid after the window: the order is accepted", async () => {
    const { id } = await placeOrder(partner);
    await failPayment(test, partner, id);
    test.clock.advance({ hours: 3 });
    await takeStep(test, partner, id, { name: "releaseHold", reasons: ["payment_failed"] });
    await expectNotCancelable(id, "ACCEPTED");
  });

  it("does not hold for other reasons: a held order past its window is accepted", async () => {
    const { id } = await placeOrder(partner);
    await takeStep(test, partner, id, { name: "hold", reasons: ["out_of_stock"] });
    test.clock.advance({ hours: 2 });
    await expectNotCancelable(id, "ACCEPTED");
  });
});

describe("POST /v1/orders/{orderId}/cancel, 404 not-found and ids", () => {
  it.each(["nothing", "ord_7zzzzzzzzzzzzzzzzzzzzzzzzz", "a\u0000b"])(
    "answers 404 for the unknown id %j",
    async (id) => {
      const answer = await cancelOrder(partner, id);
      expectProblem(answer, 404, "not-found");
      expect(answer.body).toMatchObject({ title: "Resource not found", instance: `${orderPath(id)}/cancel` });
    },
  );

  it("answers another connection's order exactly as a missing one, and leaves it alone", async () => {
    const other = await createPartner(test);
    const missing = await cancelOrder(partner, "theirs");
    const { id } = await placeOrder(other, { externalOrderId: "theirs" });
    for (const name of ["theirs", id]) {
      expect(withoutItsOwn(await cancelOrder(partner, name))).toBe(withoutItsOwn(missing));
    }
    expect((await readOrder(other, id)).status).toBe("NEW");
    expect(await eventTypes(other)).toEqual(["order.created"]);
  });

  it("answers a test order's cancel until two hours after creation, then 404, before any worker has run", async () => {
    const first = await placeTestOrder(partner, { externalOrderId: "first" });
    const second = await placeTestOrder(partner, { externalOrderId: "second" });
    test.clock.advance({ hours: 2, ms: -1 });
    await expectCanceled(first.id);
    test.clock.advance({ ms: 1 });
    for (const id of [first.id, second.id, "first", "second"]) {
      expectProblem(await cancelOrder(partner, id), 404, "not-found");
    }
  });

  it("refuses an id of more than 200 characters with 422", async () => {
    expectFaults(await cancelOrder(partner, "x".repeat(201)), [{ parameter: "orderId" }]);
    expectProblem(await cancelOrder(partner, "x".repeat(200)), 404, "not-found");
  });

  it("answers 401 without a valid key, and cancels nothing", async () => {
    const { id } = await placeOrder(partner);
    expectProblem(await test.partner().post(`${orderPath(id)}/cancel`), 401, "unauthorized");
    expect((await readOrder(partner, id)).status).toBe("NEW");
  });
});
