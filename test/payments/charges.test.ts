import { describe, expect, it } from "vitest";
import { readTimeline } from "../../src/orders/changes/timeline-sql.ts";
import { notFound } from "../../src/platform/wire/problems.ts";
import {
  countRows,
  createPartner,
  createProduct,
  exposeProduct,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { requestOrder } from "../support/order-requests.ts";
import {
  cancelOrder,
  connectionKey,
  readOrder,
  readOrderEventTypes,
  transitionOrder,
} from "../support/orders.ts";
import {
  balanceOf,
  ledgerOf,
  moves,
  orderUuid,
  payIn,
  processDuePayments,
  readDuePayments,
  retry,
  setCreditLimit,
} from "../support/payments.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest } from "../support/test-service.ts";

describe("the charge for an order's goods", () => {
  it("exists with the order, and is made by the worker: once, and without an event", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const lines = partner.productIds.map((productId) => ({ productId, quantity: 2 }));
    const { id } = await placeOrder(partner, { lines });
    expect(await ledgerOf(test, partner, id)).toMatchObject([
      {
        id: orderUuid(id),
        kind: "goods",
        attempt: 1,
        status: "pending",
        amountMinor: 4_000n,
        currency: "EUR",
      },
    ]);
    const before = await readOrder(partner, id);
    expect(await processDuePayments(test)).toBe(1);
    expect(await ledgerOf(test, partner, id)).toMatchObject([
      { status: "succeeded", gateway: "account", failureReason: null },
    ]);
    expect(await balanceOf(test, partner)).toBe(-4_000n);
    expect(await readDuePayments(test)).toEqual([]);
    expect(await readOrder(partner, id)).toEqual(before);
    const done = await dumpTables(test);
    test.clock.advance({ hours: 1 });
    expect(await processDuePayments(test)).toBe(0);
    expect(await dumpTables(test)).toEqual(done);
  });

  it("is never made for a test order or for goods that cost nothing, approved or not", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
    const gift = await createProduct(test, partner.merchantId, {
      price: { amount: "0.00", currency: "EUR" },
    });
    await exposeProduct(test, partner.connectionId, gift);
    const free = await placeOrder(partner, { lines: [{ productId: gift, quantity: 1 }] });
    const reviewed = await placeOrder(partner, { lines: [{ productId: gift, quantity: 2 }] });
    await transitionOrder(test, partner, reviewed.id, { name: "approve" });
    await placeTestOrder(partner);
    expect(await processDuePayments(test)).toBe(0);
    expect(await moves(test, partner, free.id)).toEqual([]);
    expect(await countRows(test, "ledger_entries")).toBe(0);
    expect(await countRows(test, "due_payments")).toBe(0);
  });

  it("is not made for a request that created nothing", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const first = { externalOrderId: "one" };
    await placeOrder(partner, first);
    const answer = await requestOrder(partner, {
      ...first,
      lines: [{ productId: partner.productIds[0], quantity: 7 }],
    });
    expect(answer.status).toBe(422);
    expect(await countRows(test, "due_payments")).toBe(1);
  });
});

describe("a declined charge", () => {
  it("holds the order, which publishes an event, suspends acceptance, and lets the partner cancel", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 999n);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 pending"]);
    expect((await ledgerOf(test, partner, id))[0]?.failureReason).toBe("credit_limit_exceeded");
    expect(await readOrder(partner, id)).toMatchObject({ status: "NEW", onHoldReasons: ["payment_failed"] });
    test.clock.advance({ hours: 3 });
    expect(await runJob(test, "accept-orders")).toBe(0);
    expect((await cancelOrder(partner, id)).status).toBe(200);
    expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 canceled"]);
    expect(await readOrderEventTypes(test, partner, id)).toEqual([
      "order.created",
      "order.onHold",
      "order.canceled",
    ]);
    expect(await processDuePayments(test)).toBe(0);
    expect(await balanceOf(test, partner)).toBe(0n);
  });

  it("is attempted again by the schedule, no earlier and no more often, with one event for the hold", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    expect(await processDuePayments(test)).toBe(1);
    for (const hours of [1, 6, 24, 48, 72]) {
      test.clock.advance({ hours, ms: -1 });
      expect(await processDuePayments(test)).toBe(0);
      test.clock.advance({ ms: 1 });
      expect(await processDuePayments(test)).toBe(1);
    }
    test.clock.advance({ hours: 10_000 });
    expect(await processDuePayments(test)).toBe(0);
    expect((await moves(test, partner, id)).map((move) => move.split(" ").slice(1).join(" "))).toEqual(
      [1, 2, 3, 4, 5, 6].map((attempt) => `${attempt} failed`),
    );
    expect(await readOrderEventTypes(test, partner, id)).toEqual(["order.created", "order.onHold"]);
  });

  it("that is paid in time releases the hold, and the window continues", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    await setCreditLimit(test, partner, null);
    test.clock.advance({ hours: 1 });
    await processDuePayments(test);
    expect(await readOrder(partner, id)).toMatchObject({ status: "NEW", onHold: false });
    expect(await readOrderEventTypes(test, partner, id)).toEqual([
      "order.created",
      "order.onHold",
      "order.onHoldReleased",
    ]);
  });

  it("that is paid after the window lets the order be accepted at once", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    test.clock.advance({ hours: 5 });
    await payIn(test, partner, "10.00");
    await processDuePayments(test);
    expect(await readOrder(partner, id)).toMatchObject({ status: "ACCEPTED", onHold: false });
    expect((await cancelOrder(partner, id)).status).toBe(409);
    expect(await balanceOf(test, partner)).toBe(0n);
  });

  it("keeps other hold reasons, and releases only its own", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    await transitionOrder(test, partner, id, { name: "hold", reasons: ["merchant_request"] });
    await processDuePayments(test);
    expect((await readOrder(partner, id)).onHoldReasons).toEqual(["merchant_request", "payment_failed"]);
    await payIn(test, partner, "100.00");
    await processDuePayments(test);
    expect((await readOrder(partner, id)).onHoldReasons).toEqual(["merchant_request"]);
  });

  it("of many orders gives each its own hold and next attempt, and charges those within the limit", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 25_00n);
    const orders = [];
    for (let count = 0; count < 130; count += 1) orders.push(await placeOrder(partner));
    expect(await processDuePayments(test)).toBe(130);
    const held = await Promise.all(orders.map(async ({ id }) => (await readOrder(partner, id)).onHold));
    expect(held.filter((onHold) => !onHold)).toHaveLength(2);
    expect(await balanceOf(test, partner)).toBe(-20_00n);
    expect(await countRows(test, "due_payments")).toBe(128);
  });
});

describe("a retry by request", () => {
  it("makes the scheduled attempt due now, and records the caller on the timeline, once", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    await setCreditLimit(test, partner, null);
    expect(await retry(test, partner, id)).toMatchObject({ status: "NEW", holdReasons: ["payment_failed"] });
    const before = await dumpTables(test);
    expect(await retry(test, partner, id)).toMatchObject({ status: "NEW" });
    expect(await dumpTables(test)).toEqual(before);
    expect(await processDuePayments(test)).toBe(1);
    expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 succeeded"]);
    expect((await readOrder(partner, id)).onHold).toBe(false);
    const timeline = await readTimeline(test.db, connectionKey(partner), orderUuid(id));
    expect(timeline.map(({ operation, actor }) => `${actor.kind} ${operation}`)).toEqual([
      "service addHold",
      "operator retryPayment",
      "service releaseHold",
    ]);
  });

  it("adds an attempt when the schedule has ended, and only one however often it is requested", async () => {
    const test = await startServiceForTest({ config: { paymentRetryMs: [] } });
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 failed"]);
    await Promise.all(Array.from({ length: 5 }, () => retry(test, partner, id)));
    expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 pending"]);
  });

  it("is rejected when nothing is unpaid: before the first response, when paid, and when canceled", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    const rejection = {
      code: "transition-refused",
      members: { rule: "nothing_to_pay", transition: "retryPayment" },
    };
    expect(await retry(test, partner, id)).toMatchObject(rejection);
    await processDuePayments(test);
    expect(await retry(test, partner, id)).toMatchObject(rejection);
    await setCreditLimit(test, partner, 0n);
    const other = await placeOrder(partner);
    await processDuePayments(test);
    await cancelOrder(partner, other.id);
    expect(await retry(test, partner, other.id)).toMatchObject({
      ...rejection,
      members: { orderStatus: "CANCELED" },
    });
    expect(await retry(test, partner, unknownOrder)).toEqual(notFound("order"));
  });
});

const unknownOrder = "ord_01m7y7np16fe68bxp4h91tdmdn";
