import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { warehouseOf } from "../support/back-office-resources.ts";
import { createExposedProduct, createPartner, type Partner } from "../support/builders.ts";
import { createFacility, expectStockAddsUp, readStock, routeAll, setStock } from "../support/facilities.ts";
import { readOrder, readOrderEventTypes } from "../support/orders.ts";
import { processDuePayments } from "../support/payments.ts";
import {
  expectRejected,
  operationApplied,
  placeAcceptedOrder,
  readDetail,
  requestOperation,
} from "../support/real-orders.ts";
import { type ReturnableLine as Line, shipTwoParcels } from "../support/returnable-orders.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let facility: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  facility = await createFacility(test);
  for (const productId of partner.productIds) await setStock(test, facility, productId, 1_000);
});
afterAll(() => test.close());

const twoParcels = () => shipTwoParcels(test, partner);
const some = (lineId: string, quantity: number) => ({ lines: [{ lineId, quantity }] });
const backOf = ({ lines }: { lines: Line[] }) => lines.map(({ returnedQuantity }) => returnedQuantity);
const statusesOf = ({ shipments }: { shipments: { status: string }[] }) =>
  shipments.map(({ status }) => status);
const eur = (amount: string) => ({ amount, currency: "EUR" });
const errorsOf = ({ status, body }: Answer): string[] => {
  expect(status, JSON.stringify(body)).toBe(422);
  return body.errors.map(({ pointer, detail }: Record<string, string>) => `${pointer} ${detail}`);
};
const stockOf = async (index: 0 | 1) => (await readStock(test, facility, partner.productIds[index])).onHand;

describe("the status of an order", () => {
  it("stays while a shipment is out, and becomes RETURNED with the last one", async () => {
    const { id, shipments } = await twoParcels();
    const first = await operationApplied(test, id, "return", { shipmentId: shipments[0] });
    expect([first.status, ...statusesOf(first)]).toEqual(["COMPLETED", "returned", "shipped"]);
    expect(backOf(await readOrder(partner, id))).toEqual([5, 0]);
    const last = await operationApplied(test, id, "return");
    expect([last.status, ...statusesOf(last)]).toEqual(["RETURNED", "returned", "returned"]);
    const types = await readOrderEventTypes(test, partner, id);
    expect(types.slice(-3)).toEqual(["order.completed", "order.shipmentReturned", "order.shipmentReturned"]);
  });

  it("stays when some units come back, which publishes no counted event", async () => {
    const { id, lines } = await twoParcels();
    const returned = await operationApplied(test, id, "return", some(lines[0], 2));
    expect([returned.status, ...statusesOf(returned)]).toEqual(["COMPLETED", "shipped", "shipped"]);
    expect(backOf(await readOrder(partner, id))).toEqual([2, 0]);
    expect((await readOrderEventTypes(test, partner, id)).at(-1)).toBe("order.completed");
    const rest = await operationApplied(test, id, "return", some(lines[0], 3));
    expect([rest.status, ...statusesOf(rest)]).toEqual(["COMPLETED", "returned", "shipped"]);
  });
});

describe("a return", () => {
  it("is recorded with its lines, reason, condition and note, and restocks only what came back", async () => {
    const { id, lines } = await twoParcels();
    const before = [await stockOf(0), await stockOf(1)];
    const said = { reason: "unwanted", condition: "opened", note: "Box opened" };
    await operationApplied(test, id, "return", { ...some(lines[0], 2), ...said, restock: true });
    const detail = await readDetail(test, id);
    expect(detail.returns).toMatchObject([
      { ...some(lines[0], 2), ...said, restocked: true, refundId: null, actor: { kind: "operator" } },
    ]);
    expect(detail.timeline.at(-1)).toMatchObject({
      operation: "returnShipment",
      detail: "unwanted, opened: Box opened",
    });
    expect([await stockOf(0), await stockOf(1)]).toEqual([(before[0] ?? 0) + 2, before[1]]);
    await expectStockAddsUp(test);
    await operationApplied(test, id, "return", {
      lines: [
        { lineId: lines[0], quantity: 3 },
        { lineId: lines[1], quantity: 5 },
      ],
    });
    expect(await readDetail(test, id)).toMatchObject({
      status: "RETURNED",
      returns: [{}, { reason: null, condition: null, note: null, restocked: false }],
    });
  });

  it("must name the shipment that came back if several are out", async () => {
    const { id, shipments } = await twoParcels();
    expect(errorsOf(await requestOperation(test, id, "return"))).toEqual([
      `/shipmentId is required, because 2 shipments are out: ${shipments.join(", ")}`,
    ]);
    expect(await readDetail(test, id)).toMatchObject({ status: "COMPLETED", returns: [] });
  });

  it.each<[string, (ids: { lines: [string, string]; shipments: string[] }) => object, string]>([
    [
      "more than shipped",
      ({ lines }) => some(lines[0], 6),
      "/lines/0/quantity must be at most 5, the units that have shipped and not come back",
    ],
    [
      "a line of another shipment",
      ({ lines, shipments }) => ({ ...some(lines[1], 1), shipmentId: shipments[0] }),
      "/lines/0/lineId is not a line of this shipment",
    ],
    [
      "damaged goods to restock",
      ({ shipments }) => ({ shipmentId: shipments[0], condition: "damaged", restock: true }),
      "/restock must be false for goods that are damaged or defective",
    ],
    [
      "a shipment of no order",
      () => ({ shipmentId: "shp_01m7y7np16fe68bxp4h91tdmdn" }),
      "/shipmentId is not a shipment of this order",
    ],
  ])("is rejected with %s", async (_title, body, error) => {
    const order = await twoParcels();
    expect(errorsOf(await requestOperation(test, order.id, "return", body(order)))).toEqual([error]);
    expect(await readDetail(test, order.id)).toMatchObject({ status: "COMPLETED", returns: [] });
  });

  it("is rejected with an unknown reason or condition, and with an empty or long note", async () => {
    const { id, shipments } = await twoParcels();
    const answer = await requestOperation(test, id, "return", {
      shipmentId: shipments[0],
      reason: "late",
      condition: "new",
      note: "x".repeat(1_001),
    });
    expect(errorsOf(answer).map((error) => error.split(" ")[0])).toEqual(["/reason", "/condition", "/note"]);
  });

  it("never brings back more than shipped, however many hands take the units", async () => {
    const { id, lines } = await twoParcels();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => requestOperation(test, id, "return", some(lines[0], 2))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(errorsOf(answer)[0]).toContain("must be at most 1,");
    const detail = await readDetail(test, id);
    expect(backOf(detail)).toEqual([4, 0]);
    expect(detail.returns).toHaveLength(2);
  });
});

describe("the refund of a return", () => {
  const refunded = async (id: string) =>
    (await readDetail(test, id)).refunds.map((one: { amount: { amount: string } }) => one.amount.amount);

  it("is the price of the goods by default, and is made with the return", async () => {
    const { id, lines } = await twoParcels();
    const { unitPrice } = (await readDetail(test, id)).lines[0];
    const body = { ...some(lines[0], 2), note: "As agreed", refund: { reference: "ticket-1" } };
    const detail = await operationApplied(test, id, "return", body);
    const amount = (2 * Number(unitPrice.amount)).toFixed(2);
    expect(detail.refunds).toMatchObject([
      { amount: { amount, currency: "EUR" }, reason: "returned", note: "As agreed", reference: "ticket-1" },
    ]);
    expect(detail.returns).toMatchObject([{ refundId: detail.refunds[0].id }]);
    // A retry: neither more units nor more money.
    const retry = await requestOperation(test, id, "return", body);
    expect([retry.status, retry.headers["idempotent-replayed"]]).toEqual([200, "true"]);
    expect(errorsOf(await requestOperation(test, id, "return", { ...body, ...some(lines[0], 1) }))).toEqual([
      "/refund/reference was already used for a different return of the order",
    ]);
    expect([backOf(await readDetail(test, id)), await refunded(id)]).toEqual([[2, 0], [amount]]);
  });

  it("must have a reference that is new to the order", async () => {
    const { id, lines } = await twoParcels();
    const refund = { amount: eur("1.00"), reason: "returned", reference: "ticket-1" };
    expect((await requestOperation(test, id, "refund", refund)).status).toBe(201);
    expect(errorsOf(await requestOperation(test, id, "return", { ...some(lines[0], 1), refund }))).toEqual([
      "/refund/reference was already used for a refund of the order",
    ]);
  });

  it("is by default at most what is left of the goods, and takes nothing of the shipping", async () => {
    const { id, lines } = await twoParcels(); // Goods of EUR 100, shipped for EUR 5.
    const goodwill = { amount: eur("98.00"), reason: "goodwill", reference: "sorry" };
    expect((await requestOperation(test, id, "refund", goodwill)).status).toBe(201);
    const body = (reference: string) => ({ ...some(lines[0], 2), refund: { reference } });
    await operationApplied(test, id, "return", body("ticket-1"));
    expect(await refunded(id)).toEqual(["98.00", "2.00"]);
    await operationApplied(test, id, "return", body("ticket-2"));
    const retry = await requestOperation(test, id, "return", body("ticket-2"));
    expect([retry.status, retry.headers["idempotent-replayed"]]).toEqual([200, "true"]);
    expect(await refunded(id)).toEqual(["98.00", "2.00"]);
    expect(await readDetail(test, id)).toMatchObject({
      lines: [{ returnedQuantity: 4 }, { returnedQuantity: 0 }],
      returns: [{ refundId: expect.any(String) }, { refundId: null, reference: "ticket-2" }],
    });
    const named = { ...some(lines[0], 1), refund: { amount: eur("5.00"), reference: "ticket-3" } };
    await operationApplied(test, id, "return", named); // All of the shipping, because a person says so.
    const more = { ...some(lines[1], 1), refund: { amount: eur("0.01"), reference: "ticket-4" } };
    expectRejected(await requestOperation(test, id, "return", more), "nothing_to_refund", "refund");
  });

  it("is none for goods that cost nothing", async () => {
    const { merchantId, connectionId } = partner;
    const productId = await createExposedProduct(test, merchantId, connectionId, { price: eur("0.00") });
    const { id } = await placeAcceptedOrder(test, partner, { lines: [{ productId, quantity: 1 }] });
    await routeAll(test);
    await processDuePayments(test);
    await operationApplied(test, id, "ship");
    const returned = await operationApplied(test, id, "return", { refund: { reference: "ticket-1" } });
    expect(returned).toMatchObject({ status: "RETURNED", refunds: [], returns: [{ refundId: null }] });
  });

  it("waits for the charge of the goods: until then nothing comes back with it", async () => {
    const order = await placeAcceptedOrder(test, partner, {
      lines: [{ productId: partner.productIds[0], quantity: 1 }],
    });
    await routeAll(test);
    await operationApplied(test, order.id, "ship");
    const body = { refund: { reference: "ticket-1" } };
    expectRejected(await requestOperation(test, order.id, "return", body), "nothing_to_refund", "refund");
    expect(await readDetail(test, order.id)).toMatchObject({ returns: [], refunds: [] });
    await processDuePayments(test);
    await operationApplied(test, order.id, "return", body);
    expect(await refunded(order.id)).toEqual(["10.00"]);
  });

  it("can name an amount and a reason, but no more than is left: then nothing comes back", async () => {
    const { id, shipments } = await twoParcels();
    const stock = await stockOf(0);
    const refund = { amount: { amount: "9999.00", currency: "EUR" }, reference: "ticket-2" };
    const body = { shipmentId: shipments[0], restock: true, refund };
    const [error] = errorsOf(await requestOperation(test, id, "return", body));
    expect(error).toMatch(/^\/refund\/amount must be at most /);
    expect(await readDetail(test, id)).toMatchObject({ status: "COMPLETED", returns: [], refunds: [] });
    expect(await stockOf(0)).toBe(stock);
    const fitting = { ...refund, amount: { amount: "1.50", currency: "EUR" }, reason: "damaged" };
    await operationApplied(test, id, "return", { ...body, refund: fitting });
    expect(await refunded(id)).toEqual(["1.50"]);
  });

  it("is for the operator only, and in the currency of the merchant", async () => {
    const { id, shipments } = await twoParcels();
    const body = { shipmentId: shipments[0], refund: { reference: "ticket-3" } };
    const warehouse = await warehouseOf(test);
    expect(errorsOf(await requestOperation(test, id, "return", body, warehouse))).toEqual([
      "/refund can be requested only by the operator",
    ]);
    const inDollars = { reference: "ticket-3", amount: { amount: "1.00", currency: "USD" } };
    expect(errorsOf(await requestOperation(test, id, "return", { ...body, refund: inDollars }))).toEqual([
      "/refund/amount must be an amount in EUR with at most 2 decimals, of at most 1000000000.00",
    ]);
    for (const missing of ["NaN", shipments[0] ?? ""])
      expect((await requestOperation(test, missing, "return", { ...body, refund: inDollars })).status).toBe(
        404,
      );
    const { refund: _, ...plain } = body;
    expect((await requestOperation(test, id, "return", plain, warehouse)).status).toBe(200);
  });
});

it("a return is of at most 20 shipments, because each is an event", async () => {
  const lines = Array.from({ length: 21 }, () => ({ productId: partner.productIds[0], quantity: 2 }));
  const order = await placeAcceptedOrder(test, partner, { lines });
  await routeAll(test);
  for (const { id } of order.lines) await operationApplied(test, order.id, "ship", { lineIds: [id] });
  const all = order.lines.map(({ id }: Line) => ({ lineId: id, quantity: 2 }));
  expect(errorsOf(await requestOperation(test, order.id, "return", { lines: all }))).toEqual([
    "/lines must be of at most 20 shipments",
  ]);
  expect(await operationApplied(test, order.id, "return", { lines: all.slice(0, 20) })).toMatchObject({
    status: "IN_PROGRESS",
  });
  expect(await operationApplied(test, order.id, "return")).toMatchObject({ status: "RETURNED" });
});

it("an order has at most 100 returns of single lines, and a whole shipment still comes back", async () => {
  const line = { productId: partner.productIds[0], quantity: 200 };
  const { id, lines } = await placeAcceptedOrder(test, partner, { lines: [line] });
  await routeAll(test);
  await operationApplied(test, id, "ship");
  for (let count = 0; count < 100; count += 1)
    expect((await requestOperation(test, id, "return", some(lines[0].id, 1))).status).toBe(200);
  expectRejected(
    await requestOperation(test, id, "return", some(lines[0].id, 1)),
    "too_many_returns",
    "returnShipment",
  );
  expect(await operationApplied(test, id, "return")).toMatchObject({ status: "RETURNED" });
});
