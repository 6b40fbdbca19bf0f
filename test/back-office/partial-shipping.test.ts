import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anOrder, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { createFacility, expectStockAddsUp, readStock, routeAll, setStock } from "../support/facilities.ts";
import { readOrder, readOrderEvents } from "../support/orders.ts";
import {
  expectRejected,
  operationApplied,
  operationsOf,
  placeAcceptedOrder,
  readDetail,
  requestOperation,
} from "../support/real-orders.ts";
import { applied } from "../support/sandbox.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

type Line = { id: string; productId: string; quantity: number; shipmentId: string | null };
let test: TestService;
let partner: Partner;
let facility: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  facility = await createFacility(test);
  await setStock(test, facility, partner.productIds[0], 1_000);
});
afterAll(() => test.close());

const requested = (...quantities: number[]) => ({
  lines: quantities.map((quantity, index) => ({ productId: partner.productIds[index % 2], quantity })),
});
async function placeRouted(...quantities: number[]) {
  const order = await placeAcceptedOrder(test, partner, requested(...quantities));
  await routeAll(test);
  return { id: order.id, lines: order.lines as Line[] };
}
const lineOf = (lines: readonly Line[], index: number): Line => {
  const line = lines[index];
  if (line === undefined) throw new Error(`There is no line ${index}.`);
  return line;
};
const some = (line: Line, quantity: number) => ({ lines: [{ lineId: line.id, quantity }] });
const quantitiesOf = ({ lines }: { lines: Line[] }) =>
  lines.map(({ quantity, shipmentId }) => [quantity, shipmentId !== null]);

describe("shipping some units of a line", () => {
  it("splits the line: partners see both, the money stays, and the stock follows", async () => {
    const before = await readStock(test, facility, partner.productIds[0]);
    const { id, lines } = await placeRouted(5, 2);
    const priced = await readDetail(test, id);
    const shipped = await operationApplied(test, id, "ship", some(lineOf(lines, 0), 3));
    expect(quantitiesOf(shipped)).toEqual([
      [3, true],
      [2, false],
      [2, false],
    ]);
    expect(shipped.lines[0].id).toBe(lineOf(lines, 0).id);
    expect(lines.map((line) => line.id)).not.toContain(shipped.lines[1].id);
    expect(shipped.lines[1]).toMatchObject({
      productId: lineOf(lines, 0).productId,
      unitPrice: shipped.lines[0].unitPrice,
      sku: shipped.lines[0].sku,
    });
    expect([shipped.goods, shipped.charges]).toEqual([priced.goods, priced.charges]);
    expect(shipped.shipments).toMatchObject([{ lineIds: [lineOf(lines, 0).id] }]);
    expect(await readStock(test, facility, partner.productIds[0])).toEqual({
      onHand: before.onHand - 3,
      reserved: before.reserved + 2,
    });
    await expectStockAddsUp(test);
    const seen = await readOrder(partner, id);
    expect(quantitiesOf(seen)).toEqual(quantitiesOf(shipped));
    const [, event] = await readOrderEvents(test, partner, id);
    expect(event).toMatchObject({ type: "order.shipmentCreated" });
    expect(event?.data.order?.lines).toEqual(seen.lines);
    expect(operationsOf(shipped).at(-1)).toBe("ship by operator");
  });

  it("leaves a rest that ships later, completes the order, and comes back like any line", async () => {
    const { id, lines } = await placeRouted(3);
    const rest = lineOf((await operationApplied(test, id, "ship", some(lineOf(lines, 0), 1))).lines, 1);
    expectRejected(await requestOperation(test, id, "complete"), "unshipped_lines", "complete");
    await operationApplied(test, id, "ship", some(rest, 1));
    const { shipments } = await operationApplied(test, id, "ship");
    expect(quantitiesOf(await readDetail(test, id))).toEqual(Array(3).fill([1, true]));
    await operationApplied(test, id, "complete");
    const { onHand } = await readStock(test, facility, partner.productIds[0]);
    await operationApplied(test, id, "return", { shipmentId: shipments[1].id, restock: true });
    expect((await readStock(test, facility, partner.productIds[0])).onHand).toBe(onHand + 1);
    await expectStockAddsUp(test);
  });

  it("releases what is reserved for the rest when the order is canceled", async () => {
    const before = await readStock(test, facility, partner.productIds[0]);
    const { id, lines } = await placeRouted(4);
    await operationApplied(test, id, "ship", some(lineOf(lines, 0), 1));
    await operationApplied(test, id, "cancel");
    expect(await readStock(test, facility, partner.productIds[0])).toEqual({
      onHand: before.onHand - 1,
      reserved: before.reserved,
    });
    await expectStockAddsUp(test);
  });

  it("does not change what a retry of the creation returns, except the status", async () => {
    const body = { ...requested(5, 2), externalOrderId: "split-1" };
    const order = await placeOrder(partner, body);
    test.clock.advance({ hours: 2 });
    const { lines } = await readDetail(test, order.id);
    await operationApplied(test, order.id, "ship", some(lineOf(lines, 0), 3));
    const retried = await partner.client.post("/v1/orders", anOrder(partner, body));
    expect(retried).toMatchObject({ status: 200, body: { ...order, status: "IN_PROGRESS" } });
    expect(retried.body.lines).toEqual(order.lines);
  });

  it("of all of a line is the same as shipping the line", async () => {
    const { id, lines } = await placeRouted(3, 1);
    const shipped = await operationApplied(test, id, "ship", some(lineOf(lines, 0), 3));
    expect(quantitiesOf(shipped)).toEqual([
      [3, true],
      [1, false],
    ]);
  });

  it("happens once for the last units, however many workers reach for them", async () => {
    const { id, lines } = await placeRouted(5);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => requestOperation(test, id, "ship", some(lineOf(lines, 0), 4))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(quantitiesOf(await readDetail(test, id))).toEqual([
      [4, true],
      [1, false],
    ]);
    await expectStockAddsUp(test);
  });

  it("stops at 200 lines, and whole lines still ship", async () => {
    const { id } = await placeRouted(...Array(100).fill(3));
    const { lines } = await readDetail(test, id);
    const each = lines.map((line: Line) => ({ lineId: line.id, quantity: 1 }));
    const split = await operationApplied(test, id, "ship", { lines: each });
    expect(split.lines).toHaveLength(200);
    const rest = split.lines.find(({ shipmentId }: Line) => shipmentId === null);
    expectRejected(await requestOperation(test, id, "ship", some(rest, 1)), "too_many_lines", "ship");
    expect((await operationApplied(test, id, "ship")).shipments).toHaveLength(2);
  });
});

describe("quantities", () => {
  const pointers = ({ body }: { body: { errors?: { pointer: string }[] } }) =>
    (body.errors ?? []).map(({ pointer }) => pointer);

  it.each<[string, (line: Line) => object, string[]]>([
    ["more than the line has", (line) => some(line, 4), ["/lines/0/quantity"]],
    ["no unit", (line) => some(line, 0), ["/lines/0/quantity"]],
    ["half a unit", (line) => some(line, 1.5), ["/lines/0/quantity"]],
    [
      "a line twice",
      (line) => ({ lines: [...some(line, 1).lines, ...some(line, 1).lines] }),
      ["/lines/1/lineId"],
    ],
    ["a line of no order", () => ({ lines: [{ lineId: "x", quantity: 1 }] }), ["/lines/0/lineId"]],
    ["line ids as well", (line) => ({ ...some(line, 1), lineIds: [line.id] }), ["/lines"]],
    ["201 items", (line) => ({ lines: Array(201).fill(some(line, 1).lines[0]) }), ["/lines"]],
  ])("are rejected with %s", async (_title, body, expected) => {
    const { id, lines } = await placeRouted(3);
    const answer = await requestOperation(test, id, "ship", body(lineOf(lines, 0)));
    expect(answer.status).toBe(422);
    expect(pointers(answer)).toEqual(expected);
    expect(await readDetail(test, id)).toMatchObject({ status: "ACCEPTED", shipments: [] });
  });

  it("of no line ship nothing", async () => {
    const { id } = await placeRouted(3);
    expectRejected(await requestOperation(test, id, "ship", { lines: [] }), "nothing_to_ship", "ship");
  });

  it("can be rehearsed in the sandbox", async () => {
    const { id } = await placeTestOrder(partner, requested(5));
    const { lines } = await readOrder(partner, id);
    const split = await applied(partner, id, "ship", some(lines[0], 2));
    expect(quantitiesOf(split)).toEqual([
      [2, true],
      [3, false],
    ]);
    expect(quantitiesOf(await applied(partner, id, "ship"))).toEqual([
      [2, true],
      [3, true],
    ]);
  });
});

it("an export has the carrier and the times of the shipment of each line", async () => {
  const buyer = await createPartner(test);
  const lines = buyer.productIds.map((productId) => ({ productId, quantity: 1 }));
  const order = await placeAcceptedOrder(test, buyer, { lines });
  await routeAll(test);
  const tracking = { carrier: "-Post", trackingNumber: "RM1", trackingUrl: "https://x.example/RM1" };
  const { shipments } = await operationApplied(test, order.id, "ship", {
    lineIds: [order.lines[0].id],
    ...tracking,
  });
  const shippedAt = test.clock.now().toISOString();
  test.clock.advance({ minutes: 5 });
  const deliveredAt = test.clock.now().toISOString();
  const path = `/api/shipments/${shipments[0].id}`;
  expect((await test.backOffice.request("PATCH", path, { body: { status: "delivered" } })).status).toBe(200);
  const csv = await test.backOffice.get(`/api/orders/export?connectionId=${buyer.connectionId}`);
  const [shipped, open]: Record<string, string>[] = parse(csv.body, { columns: true });
  expect(shipped).toMatchObject({
    ...tracking,
    shipmentStatus: "delivered",
    shippedAt,
    deliveredAt,
  });
  expect(open).toMatchObject({ shipmentId: "", carrier: "", shippedAt: "", deliveredAt: "" });
});
