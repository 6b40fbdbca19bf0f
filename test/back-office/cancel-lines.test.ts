import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { personOf, warehouseOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { received, sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { createFacility, expectStockAddsUp, readStock, routeAll, setStock } from "../support/facilities.ts";
import { readOrder } from "../support/orders.ts";
import { balanceOf, processDuePayments, setCreditLimit } from "../support/payments.ts";
import {
  expectRejected,
  operationApplied,
  operationsOf,
  placeAcceptedOrder,
  readDetail,
  requestOperation,
} from "../support/real-orders.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let facility: string;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
  facility = await createFacility(test);
});
afterAll(() => test.close());

type Line = { id: string; quantity: number; canceledQuantity: number; shipmentId: string | null };
const unitsOf = ({ lines }: { lines: Line[] }) =>
  lines.map(({ quantity, canceledQuantity, shipmentId }) =>
    canceledQuantity > 0
      ? `${canceledQuantity} canceled`
      : `${quantity} ${shipmentId === null ? "open" : "shipped"}`,
  );
const eur = (amount: string) => ({ amount, currency: "EUR" });

let references = 0;
const cancelLines = (
  id: string,
  lines: object[],
  fields: object = {},
  client = test.backOffice,
): Promise<Answer> => {
  references += 1;
  const body = { lines, reason: "out_of_stock", reference: `ticket-${references}`, ...fields };
  return requestOperation(test, id, "cancel-lines", body, client);
};
const some = (line: { id: string } | undefined, quantity: number) => ({ lineId: line?.id, quantity });

/** A paid order of a merchant of its own, ready to ship; 10.00 EUR a unit of the first product, of which there is stock. */
async function placePaid(...quantities: number[]) {
  partner = await createPartner(test);
  await setStock(test, facility, partner.productIds[0], 100);
  const lines = quantities.map((quantity, index) => ({ productId: partner.productIds[index % 2], quantity }));
  const { id } = await placeAcceptedOrder(test, partner, { lines });
  await routeAll(test);
  await processDuePayments(test);
  return readDetail(test, id);
}
const stock = () => readStock(test, facility, partner.productIds[0]);

/** The refunds of an order, each with its reason. */
const refundsOf = ({ refunds }: { refunds: { amount: { amount: string }; reason: string }[] }) =>
  refunds.map(({ amount, reason }) => `${amount.amount} ${reason}`);

describe("units of an order that cannot be delivered are canceled", () => {
  it("the merchant is refunded for exactly these, their stock is free, and the others ship", async () => {
    const { id, lines } = await placePaid(5);
    const price = lines[0].unitPrice.amount;
    const paid = await balanceOf(test, partner);
    const { status, body } = await cancelLines(id, [some(lines[0], 2)], {
      note: "Shelf is empty.",
      reference: "RMA 1",
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.status).toBe("ACCEPTED");
    expect(unitsOf(body)).toEqual(["3 open", "2 canceled"]);
    expect(body.lines[0].id).toBe(lines[0].id);
    expect(refundsOf(body)).toEqual([`${(2 * Number(price)).toFixed(2)} canceled`]);
    expect(body.cancellations).toMatchObject([
      {
        lineIds: [body.lines[1].id],
        reason: "out_of_stock",
        note: "Shelf is empty.",
        reference: "RMA 1",
        refundId: body.refunds[0].id,
        actor: { kind: "operator" },
      },
    ]);
    expect(operationsOf(body).slice(-2)).toEqual(["cancelLines by operator", "refund by operator"]);
    expect(body.timeline.at(-2).detail).toBe("out_of_stock: Shelf is empty.");
    expect(body.lines).toMatchObject([{ refundableQuantity: 3 }, { refundableQuantity: 0 }]);
    expect(await stock()).toEqual({ onHand: 100, reserved: 3 });
    await processDuePayments(test);
    expect(await balanceOf(test, partner)).toBe(paid + BigInt(200 * Number(price)));
    expect((await readOrder(partner, id)).lines).toMatchObject([
      { canceledQuantity: 0 },
      { canceledQuantity: 2 },
    ]);

    const shipped = await operationApplied(test, id, "ship");
    expect(unitsOf(shipped)).toEqual(["3 shipped", "2 canceled"]);
    expect((await operationApplied(test, id, "complete")).status).toBe("COMPLETED");
    expect(await stock()).toEqual({ onHand: 97, reserved: 0 });
    await expectStockAddsUp(test);
  });

  it("the order is completed if nothing is left to ship; what was shipped and the shipping stay paid", async () => {
    const { id, lines, charges } = await placePaid(3, 2);
    const shipped = await operationApplied(test, id, "ship", { lines: [some(lines[0], 1)] });
    const rest = shipped.lines.filter(({ shipmentId }: Line) => shipmentId === null);
    const { body } = await cancelLines(
      id,
      rest.map((line: Line) => some(line, line.quantity)),
    );
    expect(body.status).toBe("COMPLETED");
    expect(unitsOf(body)).toEqual(["1 shipped", "2 canceled", "2 canceled"]);
    expect(body.shipments).toMatchObject([{ status: "shipped" }]);
    const prices = rest.map(
      (line: Line & { unitPrice: { amount: string } }) => line.quantity * Number(line.unitPrice.amount),
    );
    const sum = prices.reduce((one: number, other: number) => one + other, 0);
    expect(refundsOf(body)).toEqual([`${sum.toFixed(2)} canceled`]);
    await processDuePayments(test);
    const { body: exported } = await test.backOffice.get(`/api/orders/${id}`);
    const refunds = exported.charges.filter(({ kind }: { kind: string }) => kind === "refund");
    const goods = charges.find(({ kind }: { kind: string }) => kind === "goods");
    expect(refunds).toMatchObject([{ refundOf: goods.id, status: "succeeded", amount: eur(sum.toFixed(2)) }]);
    expect(await stock()).toEqual({ onHand: 99, reserved: 0 });
    await expectStockAddsUp(test);
  });

  it("repeating the request changes nothing, and a reference has one cancellation", async () => {
    const { id, lines } = await placePaid(4);
    const body = [some(lines[0], 1)];
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => cancelLines(id, body, { reference: "same" })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.filter(({ headers }) => headers["idempotent-replayed"] === "true")).toHaveLength(4);
    const after = await readDetail(test, id);
    expect(unitsOf(after)).toEqual(["3 open", "1 canceled"]);
    expect(after.refunds).toHaveLength(1);
    for (const other of [{ reason: "damaged" }, { lines: [some(lines[0], 2)] }])
      expect((await cancelLines(id, body, { reference: "same", ...other })).body.errors).toMatchObject([
        { pointer: "/reference", rule: "reference_used", usedFor: "cancellation" },
      ]);
    await test.backOffice.post(`/api/orders/${id}/refund`, {
      ...{ amount: eur("1.00"), reason: "goodwill", reference: "a refund" },
    });
    expect((await cancelLines(id, body, { reference: "a refund" })).body.errors).toMatchObject([
      { pointer: "/reference", rule: "reference_used", usedFor: "refund" },
    ]);
  });

  it("never more is refunded than is left of the goods", async () => {
    const { id, lines } = await placePaid(2);
    const [{ amount: price }] = lines.map(({ unitPrice }: { unitPrice: { amount: string } }) => unitPrice);
    const already = (2 * Number(price) - 1).toFixed(2);
    await test.backOffice.post(`/api/orders/${id}/refund`, {
      ...{ amount: eur(already), reason: "goodwill", reference: "before" },
    });
    const { body } = await cancelLines(id, [some(lines[0], 1)]);
    expect(refundsOf(body)).toEqual([`${already} goodwill`, "1.00 canceled"]);
    const free = await placePaid(2);
    await test.backOffice.post(`/api/orders/${free.id}/refund`, {
      ...{ amount: free.totals.refundable, reason: "goodwill", reference: "all" },
    });
    const nothingLeft = await cancelLines(free.id, [some(free.lines[0], 1)]);
    expect(nothingLeft.body.cancellations).toMatchObject([{ refundId: null }]);
    expect(nothingLeft.body.refunds).toHaveLength(1);
  });

  it("units that were refunded before by their line are not refunded twice", async () => {
    const { id, lines } = await placePaid(4, 1);
    const refund = (quantity: number) =>
      test.backOffice.post(`/api/orders/${id}/refund`, {
        ...{ lines: [some(lines[0], quantity)], reason: "goodwill", reference: `by-line-${quantity}` },
      });
    expect((await refund(2)).status).toBe(201);
    const price = Number(lines[0].unitPrice.amount);
    const first = await cancelLines(id, [some(lines[0], 3)]);
    expect(refundsOf(first.body)).toEqual([
      `${(2 * price).toFixed(2)} goodwill`,
      `${(2 * price).toFixed(2)} canceled`,
    ]);
    const left = (order: { lines: { refundableQuantity: number }[] }) =>
      order.lines.map(({ refundableQuantity }) => refundableQuantity);
    expect(left(first.body)).toEqual([0, 0, 1]);
    const second = await cancelLines(id, [some(lines[0], 1)]);
    expect(second.body.cancellations.at(-1)).toMatchObject({ refundId: null });
    expect(left(second.body)).toEqual([0, 0, 1]);
  });

  it("an order that waits for stock ships what there is", async () => {
    partner = await createPartner(test);
    await setStock(test, facility, partner.productIds[0], 2);
    await setStock(test, facility, partner.productIds[1], 0);
    const lines = partner.productIds.map((productId) => ({ productId, quantity: 2 }));
    const { id } = await placeAcceptedOrder(test, partner, { lines });
    await processDuePayments(test);
    await routeAll(test);
    const held = await readDetail(test, id);
    expect(held.onHoldReasons).toEqual(["out_of_stock"]);
    const still = await cancelLines(id, [some(held.lines[1], 1)]);
    expect(still.body.onHoldReasons).toEqual(["out_of_stock"]);
    const { body } = await cancelLines(id, [some(held.lines[1], 1)]);
    expect(body).toMatchObject({ status: "ACCEPTED", onHold: false, facilityId: facility });
    expect(unitsOf(body)).toEqual(["2 open", "1 canceled", "1 canceled"]);
    expect(await stock()).toEqual({ onHand: 2, reserved: 2 });
    const [work] = (await test.backOffice.get(`/api/work-list/scan?code=${id}`)).body.orders;
    expect(work).toMatchObject({ canShip: true, lines: [{ canceledQuantity: 0 }, {}, {}] });
    const slip = await test.backOffice.get(`/api/orders/${id}/packing-slip`);
    expect(slip.body.lines).toHaveLength(1);
    await operationApplied(test, id, "ship");
    expect((await operationApplied(test, id, "complete")).status).toBe("COMPLETED");
    await expectStockAddsUp(test);
  });
});

describe("after lines were canceled", () => {
  async function closed() {
    const { id, lines } = await placePaid(3);
    await operationApplied(test, id, "ship", {
      lines: [some(lines[0], 1)],
      trackingNumber: `JD-${references}`,
    });
    const { lines: parts } = await readDetail(test, id);
    const { body } = await cancelLines(id, [some(parts[1], 1)]);
    expect(unitsOf(body).toSorted()).toEqual(["1 canceled", "1 open", "1 shipped"]);
    return body;
  }

  it("a void unships its lines alone, and then nothing is left to cancel but the order", async () => {
    const { id, shipments } = await closed();
    expect((await test.backOffice.post(`/api/shipments/${shipments[0].id}/void`, {})).status).toBe(200);
    const open = await readDetail(test, id);
    expect(unitsOf(open).toSorted()).toEqual(["1 canceled", "1 open", "1 open"]);
    const lines = open.lines.filter(({ canceledQuantity }: Line) => canceledQuantity === 0);
    const all = lines.map((line: Line) => some(line, line.quantity));
    expectRejected(await cancelLines(id, all), "whole_order", "cancelLines", "IN_PROGRESS");
    await expectStockAddsUp(test);
  });

  it("a return brings back what has shipped, and a cancel refunds the rest once", async () => {
    const { id, charges } = await closed();
    await operationApplied(test, id, "return", { refund: { reference: "back" } });
    await processDuePayments(test);
    const returned = await readDetail(test, id);
    expect(returned.status).toBe("RETURNED");
    expect(refundsOf(returned).map((refund) => refund.split(" ")[1])).toEqual(["canceled", "returned"]);
    const other = await closed();
    await operationApplied(test, other.id, "cancel");
    await processDuePayments(test);
    const canceled = await readDetail(test, other.id);
    const sum = (kinds: string[]) =>
      canceled.charges
        .filter(({ kind }: { kind: string }) => kinds.includes(kind))
        .reduce(
          (total: number, { amount }: { amount: { amount: string } }) => total + Number(amount.amount),
          0,
        );
    expect(sum(["refund"])).toBe(sum(["goods", "shipping"]));
    expect(charges.length).toBeGreaterThan(0);
    await expectStockAddsUp(test);
  });

  it("canceled lines neither ship nor come back nor are canceled again", async () => {
    const order = await closed();
    const canceled = order.lines.find(({ canceledQuantity }: Line) => canceledQuantity > 0);
    expectRejected(
      await requestOperation(test, order.id, "ship", { lines: [some(canceled, 1)] }),
      "nothing_to_ship",
      "ship",
    );
    expectRejected(await cancelLines(order.id, [some(canceled, 1)]), "nothing_to_cancel", "cancelLines");
    const back = await requestOperation(test, order.id, "return", { lines: [some(canceled, 1)] });
    expect(back.body.errors).toMatchObject([{ rule: "shipped_quantity", max: 0 }]);
  });
});

describe("a cancellation of lines is rejected", () => {
  it("for lines that are unknown, named twice, too large, or have shipped", async () => {
    const { id, lines } = await placePaid(2, 1);
    const errorsOf = async (parts: object[]) => (await cancelLines(id, parts)).body.errors;
    expect(await errorsOf([some(lines[0], 3)])).toMatchObject([
      { pointer: "/lines/0/quantity", rule: "line_quantity", max: 2 },
    ]);
    expect(await errorsOf([some(lines[0], 1), some(lines[0], 1)])).toMatchObject([
      { pointer: "/lines/1/lineId", rule: "duplicate_line" },
    ]);
    expect(await errorsOf([some({ id: "line_01m7y7np16fe68bxp4h91tdmdn" }, 1)])).toMatchObject([
      { pointer: "/lines/0/lineId", rule: "not_found" },
    ]);
    expect(await errorsOf([])).toMatchObject([{ pointer: "/lines" }]);
    await operationApplied(test, id, "ship", { lineIds: [lines[0].id] });
    expectRejected(
      await cancelLines(id, [some(lines[0], 1)]),
      "nothing_to_cancel",
      "cancelLines",
      "IN_PROGRESS",
    );
    expect(unitsOf(await readDetail(test, id))).toEqual(["2 shipped", "1 open"]);
  });

  it("if nothing of the order would be left, before it is accepted, and after it is settled", async () => {
    const { id, lines } = await placePaid(2);
    expectRejected(await cancelLines(id, [some(lines[0], 2)]), "whole_order", "cancelLines", "ACCEPTED");
    await operationApplied(test, id, "cancel");
    expectRejected(await cancelLines(id, [some(lines[0], 1)]), "order_settled", "cancelLines", "CANCELED");
    const fresh = await readDetail(test, (await placeOrder(partner)).id);
    expectRejected(
      await cancelLines(fresh.id, [some(fresh.lines[0], 1)]),
      "not_accepted",
      "cancelLines",
      "NEW",
    );
  });

  it("while the goods are not paid, so that nothing is charged that never ships", async () => {
    partner = await createPartner(test);
    const lines = [{ productId: partner.productIds[0], quantity: 2 }];
    const placed = await placeAcceptedOrder(test, partner, { lines });
    expectRejected(await cancelLines(placed.id, [some(placed.lines[0], 1)]), "goods_unpaid", "cancelLines");
    await setCreditLimit(test, partner, 0n);
    await processDuePayments(test);
    expectRejected(await cancelLines(placed.id, [some(placed.lines[0], 1)]), "goods_unpaid", "cancelLines");
    // Waived, it is not owed any more: nothing is refunded.
    await operationApplied(test, placed.id, "release-hold", { reasons: ["payment_failed"] });
    expect((await cancelLines(placed.id, [some(placed.lines[0], 1)])).body.refunds).toEqual([]);
  });

  it("for the warehouse, and as missing for another merchant; the order's own merchant may", async () => {
    const { id, lines } = await placePaid(4);
    const parts = [some(lines[0], 1)];
    expect((await cancelLines(id, parts, {}, warehouseOf(test))).status).toBe(403);
    const other = await createPartner(test);
    expect((await cancelLines(id, parts, {}, await personOf(test, other.merchantId))).status).toBe(404);
    await operationApplied(test, id, "ship", { lines: parts });
    const open = (await readDetail(test, id)).lines[1];
    const { status, body } = await cancelLines(
      id,
      [some(open, 1)],
      {},
      await personOf(test, partner.merchantId),
    );
    expect([status, body.refunds?.length], JSON.stringify(body)).toEqual([200, 1]);
  });
});

it("endpoints that name order.linesCanceled learn which lines, and why; then that the order is completed", async () => {
  const { id, lines } = await placePaid(2);
  const receiver = await startReceiverForTest();
  const eventTypes = ["order.linesCanceled", "order.completed"];
  await partner.client.post("/v1/webhook-endpoints", { url: receiver.url, eventTypes });
  await operationApplied(test, id, "ship", { lines: [some(lines[0], 1)] });
  const open = (await readDetail(test, id)).lines[1];
  await cancelLines(id, [some(open, 1)], { reason: "discontinued" });
  await sendDue(startDispatcher(test));
  const events = received(receiver).map(({ type, sequence }) => [type, sequence]);
  expect(events.toSorted()).toEqual([
    ["order.completed", 3],
    ["order.linesCanceled", null],
  ]);
  const bodies = receiver.requests.map(({ body }) => JSON.parse(body));
  const { data } = bodies.find(({ type }) => type === "order.linesCanceled");
  expect(data).toMatchObject({
    canceledLineIds: [open.id],
    reason: "discontinued",
    order: { status: "COMPLETED" },
  });
  expect(data.order.lines).toMatchObject([{ canceledQuantity: 0 }, { canceledQuantity: 1 }]);
});
