import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decideRefund, readRefunds } from "../../src/ledger/refunds.ts";
import { inSeenOrder } from "../../src/orders/changes/change-order.ts";
import { storeOrderRefund } from "../../src/orders/returns/refund-order.ts";
import { personOf, warehouseOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { createFacility, routeAll } from "../support/facilities.ts";
import { cancelOrder, connectionKey } from "../support/orders.ts";
import {
  balanceOf,
  moves,
  orderUuid,
  processDuePayments,
  processPaymentsWith,
  retry,
  scriptedGateway,
  setCreditLimit,
} from "../support/payments.ts";
import {
  expectRejected,
  operationApplied,
  operationsOf,
  placeAcceptedOrder,
  readDetail,
} from "../support/real-orders.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService({ config: { paymentRetryMs: [3_600_000] } });
});
afterAll(() => test.close());

const eur = (amount: string) => ({ amount, currency: "EUR" });
let tickets = 0;
const ticket = (): string => {
  tickets += 1;
  return `ticket-${tickets}`;
};

const refund = (id: string, fields: object = {}): Promise<Answer> =>
  test.backOffice.post(`/api/orders/${id}/refund`, { reason: "damaged", reference: ticket(), ...fields });

/** A real order of 10.00 EUR that was charged. */
async function chargedOrder(): Promise<string> {
  partner = await createPartner(test);
  const { id } = await placeOrder(partner);
  await processDuePayments(test);
  return id;
}

/** Each refund of the ledger, as amount and status. */
async function refundsOf(id: string): Promise<string[]> {
  const { charges } = await readDetail(test, id);
  return charges
    .filter(({ kind }: { kind: string }) => kind === "refund")
    .map(
      (charge: { amount: { amount: string }; status: string }) => `${charge.amount.amount} ${charge.status}`,
    );
}

const errorsOf = ({ status, body }: Answer) => {
  expect(status, JSON.stringify(body)).toBe(422);
  return body.errors.map(({ pointer, detail }: Record<string, string>) => `${pointer} ${detail}`);
};

describe("POST /api/orders/{id}/refund", () => {
  it("refunds an amount, shows who did it and why, and the merchant's account has it", async () => {
    const id = await chargedOrder();
    const fields = { amount: eur("2.50"), note: "The lamp was broken.", reference: "RMA 1" };
    const { status, body } = await refund(id, fields);
    expect(status).toBe(201);
    expect(body.status).toBe("NEW");
    expect(body.refunds).toMatchObject([
      { amount: eur("2.50"), reason: "damaged", note: "The lamp was broken.", reference: "RMA 1" },
    ]);
    expect(body.refunds[0].actor.kind).toBe("operator");
    expect(body.charges.at(-1)).toMatchObject({ refundId: body.refunds[0].id, refundOf: body.charges[0].id });
    expect(body.timeline.at(-1)).toMatchObject({
      operation: "refund",
      detail: "damaged: The lamp was broken.",
      actor: { kind: "operator" },
    });
    expect(await balanceOf(test, partner)).toBe(-1_000n);
    await processDuePayments(test);
    expect(await refundsOf(id)).toEqual(["2.50 succeeded"]);
    expect(await balanceOf(test, partner)).toBe(-750n);
    const audit = await test.backOffice.get("/api/audit-entries?action=refundOrder");
    expect(audit.body.data[0].details).toMatchObject({
      amountMinor: "250",
      reason: "damaged",
      reference: "RMA 1",
    });
    expect(JSON.stringify(audit.body.data[0])).not.toContain("lamp");
  });

  it("refunds nothing by a request that names neither an amount nor lines nor shipping", async () => {
    const id = await chargedOrder();
    for (const fields of [{}, { amount: null }, { lines: null, shipping: null }])
      expect(errorsOf(await refund(id, fields))).toEqual([
        "/amount is required, or `lines`, or `shipping`: a refund names what it returns",
      ]);
    expect(await refundsOf(id)).toEqual([]);
  });

  it("refunds all that is left, and then nothing", async () => {
    const id = await chargedOrder();
    await refund(id, { amount: eur("0.01") });
    expect((await readDetail(test, id)).totals).toMatchObject({
      charged: eur("10.00"),
      refundable: eur("9.99"),
    });
    await refund(id, { amount: eur("9.99") });
    await processDuePayments(test);
    expect(await refundsOf(id)).toEqual(["0.01 succeeded", "9.99 succeeded"]);
    expect(await balanceOf(test, partner)).toBe(0n);
    expect((await readDetail(test, id)).totals).toMatchObject({
      ...{ charged: eur("10.00"), refunded: eur("10.00"), net: eur("0.00"), refundable: eur("0.00") },
    });
    expectRejected(await refund(id, { amount: eur("0.01") }), "nothing_to_refund", "refund", "NEW");
  });

  it("repeated under the same reference returns the order with 200 and refunds nothing", async () => {
    const id = await chargedOrder();
    const fields = { amount: eur("4.00"), reference: "same" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => refund(id, fields)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 201]);
    expect((await refund(id, { ...fields, note: "Another note." })).status).toBe(200);
    expect(await refundsOf(id)).toEqual(["4.00 pending"]);
    expect(operationsOf(await readDetail(test, id)).filter((name) => name.startsWith("refund"))).toHaveLength(
      1,
    );
    for (const other of [{ amount: eur("4.01") }, { reason: "late" }])
      expect(errorsOf(await refund(id, { ...fields, ...other }))).toEqual([
        "/reference was already used for a different refund of the order",
      ]);
  });

  it("may use a reference that another order has used", async () => {
    const [one, other] = [await chargedOrder(), await chargedOrder()];
    for (const id of [one, other])
      expect((await refund(id, { amount: eur("1.00"), reference: "shared" })).status).toBe(201);
  });

  it("never refunds more than is left: at, and above", async () => {
    const id = await chargedOrder();
    await refund(id, { amount: eur("9.00") });
    expect(errorsOf(await refund(id, { amount: eur("1.01") }))).toEqual([
      "/amount must be at most 1.00 EUR, which is what can still be refunded",
    ]);
    expect((await refund(id, { amount: eur("1.00") })).status).toBe(201);
  });

  it("never refunds more than was charged by many refunds at the same time", async () => {
    const id = await chargedOrder();
    const answers = await Promise.all(Array.from({ length: 9 }, () => refund(id, { amount: eur("3.00") })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    await processDuePayments(test);
    expect(await balanceOf(test, partner)).toBe(-100n);
  });

  it("shares what is left with a cancel at the same time", async () => {
    for (let round = 0; round < 4; round += 1) {
      const id = await chargedOrder();
      await refund(id, { amount: eur("1.00") }); // Still pending when the order is canceled.
      await Promise.all([
        cancelOrder(partner, id),
        refund(id, { amount: eur("3.00") }),
        refund(id, { amount: eur("9.00") }),
      ]);
      await processDuePayments(test);
      expect(await balanceOf(test, partner)).toBe(0n);
      expectRejected(await refund(id, { amount: eur("1.00") }), "nothing_to_refund", "refund", "CANCELED");
    }
  });

  it("finds nothing to refund while the charge is pending, and after it has failed", async () => {
    partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    expectRejected(await refund(id, { amount: eur("1.00") }), "nothing_to_refund", "refund");
    await setCreditLimit(test, partner, 0n);
    await processDuePayments(test);
    expectRejected(await refund(id, { amount: eur("1.00") }), "nothing_to_refund", "refund");
    expect(await refundsOf(id)).toEqual([]);
  });

  it("that is declined is attempted again as the same refund, and is still owed until then", async () => {
    const id = await chargedOrder();
    await refund(id, { amount: eur("6.00") });
    const gateway = scriptedGateway(test, { decide: () => "declined" });
    await processPaymentsWith(test, gateway);
    test.clock.advance({ hours: 1 });
    await processPaymentsWith(test, gateway);
    expect(await refundsOf(id)).toEqual(["6.00 failed", "6.00 failed"]);
    expect(errorsOf(await refund(id, { amount: eur("4.01") }))[0]).toContain("at most 4.00 EUR");
    await retry(test, partner, id);
    await processDuePayments(test);
    expect((await refundsOf(id)).at(-1)).toBe("6.00 succeeded");
    expect(await balanceOf(test, partner)).toBe(-400n);
    expect((await readDetail(test, id)).onHold).toBe(false);
  });

  it("does not release a hold for a failed payment that the operator has placed", async () => {
    const id = await chargedOrder();
    await test.backOffice.post(`/api/orders/${id}/hold`, { reasons: ["payment_failed"] });
    await refund(id, { amount: eur("1.00") });
    await processDuePayments(test);
    expect(await readDetail(test, id)).toMatchObject({ onHoldReasons: ["payment_failed"] });
  });

  it("accepts 100 partial refunds, and then only one of all that is left", async () => {
    const id = await chargedOrder();
    await test.db.runScript(`
      insert into refunds (merchant_id, order_id, id, amount_minor, reason, reference, actor_kind, created_at)
      select merchant_id, id, gen_random_uuid(), 1, 'other', 'earlier-' || number, 'operator', created_at
      from orders cross join generate_series(1, 99) as number
      where id = '${orderUuid(id)}'`);
    expect((await refund(id, { amount: eur("1.00") })).status).toBe(201);
    expectRejected(await refund(id, { amount: eur("1.00") }), "too_many_refunds", "refund");
    expect((await refund(id, { amount: eur("9.00") })).status).toBe(201);
  });

  it("reports every error of a request", async () => {
    const id = await chargedOrder();
    expect(errorsOf(await refund(id, { amount: eur("0.00"), reason: "bored", reference: "" }))).toHaveLength(
      3,
    );
    expect(errorsOf(await refund(id, { amount: { amount: "1.00", currency: "USD" } }))).toEqual([
      "/amount must be an amount in EUR with at most 2 decimals, of at most 1000000000.00",
    ]);
    expect(errorsOf(await refund(id, { amount: eur("1.001") }))).toEqual([
      "/amount must be an amount in EUR with at most 2 decimals, of at most 1000000000.00",
    ]);
    expect(await refundsOf(id)).toEqual([]);
  });

  it("is for the operator only, and treats test orders as missing", async () => {
    const id = await chargedOrder();
    const body = { amount: eur("1.00"), reason: "lost", reference: ticket() };
    for (const client of [warehouseOf(test), personOf(test, partner.merchantId)])
      expect((await client.post(`/api/orders/${id}/refund`, body)).status).toBe(403);
    const { id: testId } = await placeOrder(partner, { testMode: true });
    expect((await refund(testId, { amount: eur("1.00") })).status).toBe(404);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
  });
});

describe("a refund by line", () => {
  /** Three of a product and two of another one at 10.00 EUR, shipped for 5.00 EUR, all paid. */
  async function paidOrder() {
    partner = await createPartner(test);
    const [one, other] = partner.productIds;
    const lines = [
      { productId: one, quantity: 3 },
      { productId: other, quantity: 2 },
    ];
    const { id } = await placeAcceptedOrder(test, partner, { lines });
    await routeAll(test);
    await processDuePayments(test);
    const detail = await readDetail(test, id);
    expect(detail.totals).toMatchObject({ refundableGoods: eur("50.00"), refundableShipping: eur("5.00") });
    return { id, lineIds: detail.lines.map((line: { id: string }) => line.id) as [string, string] };
  }
  const refundable = async (id: string): Promise<number[]> =>
    (await readDetail(test, id)).lines.map((line: { refundableQuantity: number }) => line.refundableQuantity);
  beforeAll(async () => {
    await createFacility(test);
  });

  it("returns the price of the units, and shows what is left of each line", async () => {
    const { id, lineIds } = await paidOrder();
    expect(await refundable(id)).toEqual([3, 2]);
    const { body } = await refund(id, { lines: [{ lineId: lineIds[0], quantity: 2 }] });
    expect(body.refunds).toMatchObject([
      { amount: eur("20.00"), lines: [{ lineId: lineIds[0], quantity: 2 }] },
    ]);
    expect(body.timeline.at(-1)).toMatchObject({ operation: "refund", refundId: body.refunds[0].id });
    expect(await refundable(id)).toEqual([1, 2]);
    expect(errorsOf(await refund(id, { lines: [{ lineId: lineIds[0], quantity: 2 }] }))).toEqual([
      "/lines/0/quantity must be at most 1, the units that have not been refunded",
    ]);
  });

  it("returns a part of the price, and never more than the price", async () => {
    const { id, lineIds } = await paidOrder();
    const lines = [{ lineId: lineIds[1], quantity: 1 }];
    expect(errorsOf(await refund(id, { lines, amount: eur("10.01") }))).toEqual([
      "/amount must be at most 10.00 EUR, which is what can still be refunded",
    ]);
    const { body } = await refund(id, { lines, amount: eur("4.00") });
    expect(body.refunds).toMatchObject([{ amount: eur("4.00"), lines }]);
    expect(body.totals.refundable).toEqual(eur("51.00"));
  });

  it("takes the goods from their charge and the shipping from its own", async () => {
    const { id, lineIds } = await paidOrder();
    const lines = [{ lineId: lineIds[1], quantity: 2 }];
    const { body } = await refund(id, { lines, shipping: eur("5.00") });
    expect(body.refunds).toMatchObject([{ amount: eur("25.00") }]);
    expect(body.totals).toMatchObject({ refundableGoods: eur("30.00"), refundableShipping: eur("0.00") });
    expect(errorsOf(await refund(id, { shipping: eur("0.01") }))).toEqual([
      "/shipping must be at most 0.00 EUR, which is what can still be refunded",
    ]);
    await processDuePayments(test);
    expect(await balanceOf(test, partner)).toBe(-3_000n);
  });

  it("repeated under the same reference refunds nothing, and other lines are another refund", async () => {
    const { id, lineIds } = await paidOrder();
    const fields = { lines: [{ lineId: lineIds[0], quantity: 3 }], reference: "same" };
    expect((await refund(id, fields)).status).toBe(201);
    expect((await refund(id, fields)).status).toBe(200);
    const other = { ...fields, lines: [{ lineId: lineIds[1], quantity: 2 }], amount: eur("20.00") };
    expect(errorsOf(await refund(id, other))).toEqual([
      "/reference was already used for a different refund of the order",
    ]);
    expect((await readDetail(test, id)).refunds).toHaveLength(1);
  });

  it("counts units that came back or were canceled with a refund, also after their line was split", async () => {
    const { id, lineIds } = await paidOrder();
    await operationApplied(test, id, "ship", { lines: [{ lineId: lineIds[0], quantity: 2 }] });
    await operationApplied(test, id, "return", {
      lines: [{ lineId: lineIds[0], quantity: 1 }],
      refund: { reference: "back" },
    });
    await operationApplied(test, id, "cancel-lines", {
      lines: [{ lineId: lineIds[1], quantity: 1 }],
      reason: "out_of_stock",
      reference: "short",
    });
    expect((await readDetail(test, id)).totals.refundableGoods).toEqual(eur("30.00"));
    // Of the first line, one has shipped, one came back and one is open; of the second one, one is open.
    expect((await refundable(id)).toSorted()).toEqual([0, 1, 1, 1]);
  });

  it("names lines of the order, each once", async () => {
    const { id, lineIds } = await paidOrder();
    const lines = [lineIds[0], lineIds[0], "line_01m7y7np16fe68bxp4h91tdmdn"].map((lineId) => ({
      lineId,
      quantity: 1,
    }));
    expect(errorsOf(await refund(id, { lines }))).toEqual([
      "/lines/1/lineId names the same line as an earlier item",
      "/lines/2/lineId is not a line of this order",
    ]);
  });
});

describe("a refund within another operation", () => {
  it("is undone with it", async () => {
    const id = await chargedOrder();
    const key = { ...connectionKey(partner), id: orderUuid(id) };
    const by = {
      actor: { kind: "operator", name: null },
      requestId: null,
      action: "returnShipment",
    } as const;
    const staff = { grants: [{ role: "operator" }], by } as const;
    const failed = inSeenOrder(test.context, staff, key, async (tx, order, at) => {
      const request = {
        ...{ amountMinor: 100n, shippingMinor: null, lines: [] },
        ...({ reason: "returned", note: null, reference: "return-1" } as const),
      };
      const decided = await decideRefund(tx, order, request, by, at);
      if (decided.outcome !== "possible") throw new Error(decided.outcome);
      await storeOrderRefund(tx, order, decided, by, at);
      expect(await readRefunds(tx, order)).toMatchObject([{ reference: "return-1" }]);
      throw new Error("The return failed.");
    });
    await expect(failed).rejects.toThrow("The return failed.");
    expect(await readDetail(test, id)).toMatchObject({ refunds: [], timeline: [{ operation: "create" }] });
  });
});
