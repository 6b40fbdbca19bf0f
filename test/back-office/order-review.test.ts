import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { personOf, warehouseOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { cancelOrder, failPayment, readOrder, readOrderEventTypes } from "../support/orders.ts";
import {
  expectRejected,
  operationApplied,
  operationsOf,
  placeAcceptedOrder,
  readDetail,
  requestOperation,
} from "../support/real-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
});
afterAll(() => test.close());

const lines = (quantity: number) => ({ lines: [{ productId: partner.productIds[0], quantity }] });
const placeReviewed = () => placeOrder(partner, lines(2));
const typesOf = (orderId: string) => readOrderEventTypes(test, partner, orderId);

describe("review (specification, part 3)", () => {
  it("approves: the order is accepted, and no event is published", async () => {
    const { id } = await placeReviewed();
    const approved = await operationApplied(test, id, "approve", { reason: "A known buyer." });
    expect(approved).toMatchObject({ id, status: "ACCEPTED", cancelableUntil: null });
    expect(approved.timeline.at(-1)).toEqual({
      at: test.clock.now().toISOString(),
      operation: "approve",
      actor: { kind: "operator", name: "operator", id: null },
      status: "ACCEPTED",
      onHoldReasons: [],
      shipmentId: null,
      refundId: null,
      detail: "A known buyer.",
      requestId: expect.any(String),
    });
    expect(await readOrder(partner, id)).toMatchObject({ status: "ACCEPTED" });
    expect(await typesOf(id)).toEqual(["order.created"]);
  });

  it("rejects: the order is canceled, and its partner gets an event", async () => {
    const { id } = await placeReviewed();
    const rejected = await operationApplied(test, id, "reject", { reason: "Too many." });
    expect(rejected).toMatchObject({ status: "CANCELED" });
    expect(rejected.timeline.at(-1)).toMatchObject({ operation: "reject", detail: "Too many." });
    expect(await typesOf(id)).toEqual(["order.created", "order.canceled"]);
  });

  it.each(["approve", "reject"])("%s is for orders under review only", async (operation) => {
    const { id } = await placeOrder(partner, lines(1));
    expectRejected(await requestOperation(test, id, operation), "not_in_review", operation, "NEW");
    await operationApplied(test, id, "cancel");
    expectRejected(await requestOperation(test, id, operation), "order_settled", operation, "CANCELED");
  });

  it("is decided once, however many decide at the same time", async () => {
    const { id } = await placeReviewed();
    const operations = ["approve", "reject", "approve", "reject", "approve", "reject"];
    const answers = await Promise.all(operations.map((operation) => requestOperation(test, id, operation)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won.map(({ body }) => body.status)).toContain((await readDetail(test, id)).status);
    // Approving and then rejecting fails, and so does the other way round.
    expect(won).toHaveLength(1);
    for (const { status } of answers.filter((answer) => !won.includes(answer))) expect(status).toBe(409);
  });

  it("may happen while the order is held; the hold stays", async () => {
    const { id } = await placeReviewed();
    await operationApplied(test, id, "hold", { reasons: ["merchant_request"] });
    expect(await operationApplied(test, id, "approve")).toMatchObject({
      status: "ACCEPTED",
      onHoldReasons: ["merchant_request"],
    });
  });
});

describe("holds", () => {
  it("are placed and released, each published once, with the time since when", async () => {
    const { id } = await placeOrder(partner, lines(1));
    const since = test.clock.now().toISOString();
    const held = await operationApplied(test, id, "hold", {
      reasons: ["merchant_request", "address_unserviceable"],
    });
    expect(held).toMatchObject({ status: "NEW", onHold: true });
    test.clock.advance({ minutes: 1 });
    const less = await operationApplied(test, id, "release-hold", {
      reasons: ["merchant_request", "unknown"],
    });
    expect(less.holds).toMatchObject([
      { reason: "address_unserviceable", since, placedBy: { kind: "operator", name: "operator", id: null } },
    ]);
    expect(await operationApplied(test, id, "release-hold")).toMatchObject({ onHold: false, holds: [] });
    const before = await dumpTables(test);
    expect(await operationApplied(test, id, "release-hold")).toMatchObject({ onHold: false });
    expect(await dumpTables(test)).toEqual(before);
    expect(await typesOf(id)).toEqual([
      "order.created",
      "order.onHold",
      "order.onHold",
      "order.onHoldReleased",
    ]);
  });

  it("of a failed payment stays under another hold, and goes when it is released by name", async () => {
    const { id } = await placeOrder(partner, lines(1));
    await failPayment(test, partner, id);
    expect(await operationApplied(test, id, "hold", { reasons: ["out_of_stock"] })).toMatchObject({
      onHoldReasons: ["payment_failed", "out_of_stock"],
    });
    test.clock.advance({ hours: 3 });
    expect(await operationApplied(test, id, "release-hold", { reasons: ["payment_failed"] })).toMatchObject({
      status: "ACCEPTED",
      onHoldReasons: ["out_of_stock"],
    });
  });

  it("are for a merchant's people theirs alone: they place and lift merchant_request", async () => {
    const owner = personOf(test, partner.merchantId);
    const { id } = await placeOrder(partner, lines(1));
    await failPayment(test, partner, id);
    const held = await requestOperation(test, id, "hold", {}, owner);
    expect(held.body).toMatchObject({ onHoldReasons: ["payment_failed", "merchant_request"] });
    expect(held.body.timeline.at(-1).actor).toEqual({ kind: "merchant", name: "Mia Merchant", id: null });
    const released = await requestOperation(test, id, "release-hold", {}, owner);
    expect(released.body).toMatchObject({ onHoldReasons: ["payment_failed"] });
    for (const operation of ["hold", "release-hold"]) {
      const reasons = ["merchant_request", "payment_failed"];
      const rejected = await requestOperation(test, id, operation, { reasons }, owner);
      expect(rejected.status).toBe(422);
      expect(rejected.body.errors).toMatchObject([{ pointer: "/reasons/1" }]);
    }
  });

  it("of the service and the warehouse outlive every change by a merchant's staff", async () => {
    const owner = personOf(test, partner.merchantId);
    const { id } = await placeOrder(partner, lines(1));
    await operationApplied(test, id, "hold", { reasons: ["fraud_suspected"] });
    expect((await requestOperation(test, id, "hold", {}, owner)).body).toMatchObject({
      onHoldReasons: ["fraud_suspected", "merchant_request"],
    });
    expect((await requestOperation(test, id, "release-hold", {}, owner)).body).toMatchObject({
      onHoldReasons: ["fraud_suspected"],
    });
  });

  it("of a failed payment are lifted by name only, and by the operator", async () => {
    const { id } = await placeOrder(partner, lines(1));
    await failPayment(test, partner, id);
    await operationApplied(test, id, "hold", { reasons: ["out_of_stock"] });
    expect(await operationApplied(test, id, "release-hold")).toMatchObject({
      onHoldReasons: ["payment_failed"],
    });
    const reasons = ["out_of_stock", "payment_failed"];
    const rejected = await requestOperation(test, id, "release-hold", { reasons }, warehouseOf(test));
    expect(rejected.status).toBe(422);
    expect(rejected.body.errors).toMatchObject([{ pointer: "/reasons/1" }]);
    expect(await operationApplied(test, id, "release-hold", { reasons })).toMatchObject({ onHold: false });
  });

  it.each([
    ["no reasons at all", { reasons: [] }, ["/reasons"]],
    ["too many", { reasons: Array.from({ length: 21 }, (_, at) => `r${at}`) }, ["/reasons"]],
    ["an empty one and a long one", { reasons: ["", "x".repeat(101)] }, ["/reasons/0", "/reasons/1"]],
    ["a NUL", { reasons: ["a\u0000"] }, ["/reasons/0"]],
    ["a number", { reasons: [1] }, ["/reasons/0"]],
    ["a text", { reasons: "out_of_stock" }, ["/reasons"]],
  ])("are rejected with %s", async (_title, body, pointers) => {
    const { id } = await placeOrder(partner, lines(1));
    const rejected = await requestOperation(test, id, "hold", body);
    expect(rejected.status).toBe(422);
    expect(rejected.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
    expect(await readDetail(test, id)).toMatchObject({ onHold: false });
  });
});

describe("cancelling from the back office", () => {
  it("needs no open window", async () => {
    const { id } = await placeOrder(partner, lines(1));
    test.clock.advance({ hours: 3 });
    await runJob(test, "accept-orders");
    expect((await cancelOrder(partner, id)).status).toBe(409);
    const canceled = await operationApplied(test, id, "cancel", { reason: "The buyer called." });
    expect(canceled).toMatchObject({ status: "CANCELED" });
    expect(operationsOf(canceled).slice(0, 2)).toEqual(["create by partner", "accept by service"]);
    expect(canceled.timeline.at(-1)).toMatchObject({ operation: "cancel", detail: "The buyer called." });
    expect((await cancelOrder(partner, id)).body).toMatchObject({ status: "CANCELED" });
  });

  it("records the acceptance that only the deadline had seen to", async () => {
    const { id } = await placeOrder(partner, lines(1));
    test.clock.advance({ hours: 3 });
    expect(operationsOf(await operationApplied(test, id, "cancel"))).toEqual([
      "create by partner",
      "accept by service",
      "cancel by operator",
    ]);
  });

  it("is the operator's alone once something has been shipped", async () => {
    const { id } = await placeAcceptedOrder(test, partner, lines(1));
    const owner = personOf(test, partner.merchantId);
    await operationApplied(test, id, "ship");
    const rejected = await requestOperation(test, id, "cancel", {}, owner);
    expectRejected(rejected, "already_shipped", "cancel", "IN_PROGRESS");
    await operationApplied(test, id, "cancel");
  });

  it("is rejected when the order is settled", async () => {
    const { id } = await placeOrder(partner, lines(1));
    await cancelOrder(partner, id);
    expectRejected(await requestOperation(test, id, "cancel"), "order_settled", "cancel", "CANCELED");
  });
});

describe("what a transition cannot name", () => {
  it.each(["approve", "reject", "cancel", "hold", "release-hold", "ship", "complete", "return"])(
    "%s: an unknown order, a test order, another id",
    async (operation) => {
      const { id: testId } = await placeTestOrder(partner);
      const { externalOrderId } = await placeOrder(partner, lines(1));
      for (const id of ["ord_01m7y7np16fe68bxp4h91tdmdn", testId, externalOrderId, "ord_x", "%20"]) {
        const { status, body } = await requestOperation(test, id, operation);
        expect(status, id).toBe(404);
        expect(body.detail).toBe("No such order.");
      }
    },
  );

  it("a test order can be read, as long as it lives", async () => {
    const { id } = await placeTestOrder(partner);
    expect(await readDetail(test, id)).toMatchObject({
      id,
      testMode: true,
      timeline: [{ operation: "create" }],
    });
    expect((await test.backOffice.get(`/api/orders/${id.replace("test_", "ord_")}`)).status).toBe(404);
    test.clock.advance({ hours: 2 });
    expect((await test.backOffice.get(`/api/orders/${id}`)).status).toBe(404);
  });
});

it("the warehouse's staff apply transitions under their own names", async () => {
  const { id } = await placeReviewed();
  const { body } = await requestOperation(test, id, "approve", {}, warehouseOf(test));
  expect(body.timeline.at(-1).actor).toEqual({ kind: "warehouse", name: "Wilma Packer", id: null });
});
