import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  cancelOrder,
  expectCanceled,
  expectErrors,
  expectProblem,
  orderPath,
  readOrder,
  readOrderEvents,
  readOrderEventTypes,
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

describe("POST /v1/orders/{orderId}/cancel", () => {
  it("cancels a NEW order, and returns 200 with every field of it", async () => {
    const { id } = await placeOrder(partner);
    const before = await readOrder(partner, id);
    test.clock.advance({ minutes: 5 });
    const updatedAt = test.clock.now().toISOString();
    const { status, body } = await cancelOrder(partner, id);
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, status: "CANCELED", updatedAt, sequence: 2, cancelableUntil: null });
    expect(await readOrder(partner, id)).toEqual(body);
  });

  it("publishes order.canceled, with the order as GET returns it", async () => {
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
      expect((await expectCanceled(partner, externalOrderId)).id).toBe(id);
    },
  );

  it("tries the service's id first, then the external id", async () => {
    const { id } = await placeOrder(partner);
    const other = await placeOrder(partner, { externalOrderId: id });
    await expectCanceled(partner, id);
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
    await transitionOrder(test, partner, id, { name: "hold", reasons: ["out_of_stock"] });
    expect(await expectCanceled(partner, id)).toMatchObject({ onHold: false, onHoldReasons: [] });
  });

  it("cancels a test order as a real one, and marks its event", async () => {
    const { id } = await placeTestOrder(partner);
    await expectCanceled(partner, id);
    const [, event] = await readOrderEvents(test, partner);
    expect(event).toMatchObject({ type: "order.canceled", testMode: true, sequence: 2 });
    expect(event.data).toEqual({ order: await readOrder(partner, id) });
  });

  it("leaves every other order alone", async () => {
    const { id } = await placeOrder(partner);
    const other = await placeOrder(partner);
    await expectCanceled(partner, id);
    expect((await readOrder(partner, other.id)).status).toBe("NEW");
  });
});

describe("POST /v1/orders/{orderId}/cancel, already canceled", () => {
  it("returns 200 again with the same order, and sends no second event", async () => {
    const { id } = await placeOrder(partner);
    const first = await expectCanceled(partner, id);
    test.clock.advance({ minutes: 1 });
    expect(await expectCanceled(partner, id)).toEqual(first);
    expect(await readOrderEventTypes(test, partner)).toEqual(["order.created", "order.canceled"]);
  });

  it("returns 200 again even after the window, so a retry is safe", async () => {
    const { id } = await placeOrder(partner);
    const first = await expectCanceled(partner, id);
    test.clock.advance({ hours: 24 });
    expect(await expectCanceled(partner, id)).toEqual(first);
  });

  it("returns 200 for an order that was canceled in the sandbox", async () => {
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "accept");
    await applied(partner, id, "cancel");
    await expectCanceled(partner, id);
    expect(await readOrderEventTypes(test, partner)).toEqual(["order.created", "order.canceled"]);
  });
});

describe("POST /v1/orders/{orderId}/cancel, 404 not-found and ids", () => {
  it.each(["nothing", "ord_7zzzzzzzzzzzzzzzzzzzzzzzzz", "a\u0000b"])(
    "returns 404 for the unknown id %j",
    async (id) => {
      const answer = await cancelOrder(partner, id);
      expectProblem(answer, 404, "not-found");
      expect(answer.body).toMatchObject({ title: "Resource not found", instance: `${orderPath(id)}/cancel` });
    },
  );

  it("returns the same for another connection's order as for a missing one, and does not change it", async () => {
    const other = await createPartner(test);
    const missing = await cancelOrder(partner, "theirs");
    const { id } = await placeOrder(other, { externalOrderId: "theirs" });
    for (const name of ["theirs", id]) {
      expect(withoutItsOwn(await cancelOrder(partner, name))).toBe(withoutItsOwn(missing));
    }
    expect((await readOrder(other, id)).status).toBe("NEW");
    expect(await readOrderEventTypes(test, other)).toEqual(["order.created"]);
  });

  it("accepts the cancel of a test order until two hours after creation, then returns 404, before any worker has run", async () => {
    const first = await placeTestOrder(partner, { externalOrderId: "first" });
    const second = await placeTestOrder(partner, { externalOrderId: "second" });
    test.clock.advance({ hours: 2, ms: -1 });
    await expectCanceled(partner, first.id);
    test.clock.advance({ ms: 1 });
    for (const id of [first.id, second.id, "first", "second"]) {
      expectProblem(await cancelOrder(partner, id), 404, "not-found");
    }
  });

  it("rejects an id of more than 200 characters with 422", async () => {
    expectErrors(await cancelOrder(partner, "x".repeat(201)), [{ parameter: "orderId" }]);
    expectProblem(await cancelOrder(partner, "x".repeat(200)), 404, "not-found");
  });

  it("returns 401 without a valid key, and cancels nothing", async () => {
    const { id } = await placeOrder(partner);
    expectProblem(await test.partner().post(`${orderPath(id)}/cancel`), 401, "unauthorized");
    expect((await readOrder(partner, id)).status).toBe("NEW");
  });
});
