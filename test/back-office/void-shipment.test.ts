import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner } from "../support/builders.ts";
import { received, sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { createFacility, expectStockAddsUp, readStock, routeAll, setStock } from "../support/facilities.ts";
import { readOrder } from "../support/orders.ts";
import {
  expectRejected,
  operationApplied,
  operationsOf,
  placeAcceptedOrder,
  readDetail,
  requestOperation,
} from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let facility: string;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
  partner = await createPartner(test);
  facility = await createFacility(test);
  await setStock(test, facility, partner.productIds[0], 1_000);
});
afterAll(() => test.close());

async function placeRouted(...quantities: number[]) {
  const lines = quantities.map((quantity, index) => ({ productId: partner.productIds[index % 2], quantity }));
  const order = await placeAcceptedOrder(test, partner, { lines });
  await routeAll(test);
  return readDetail(test, order.id);
}
const voidOf = (shipmentId: string, body: object = {}) =>
  test.backOffice.request("POST", `/api/shipments/${shipmentId}/void`, { body });
const patch = (shipmentId: string, body: object) =>
  test.backOffice.request("PATCH", `/api/shipments/${shipmentId}`, { body });
let numbers = 0;
const newNumber = (): string => {
  numbers += 1;
  return `JD-${numbers}`;
};
const scan = async (code: string) =>
  (await test.backOffice.get(`/api/work-list/scan?code=${encodeURIComponent(code)}`)).body.orders;

describe("a shipment that never left is voided", () => {
  it("its lines are unshipped again, the stock is as before it, and the order ships once more for the same price", async () => {
    const { id, lines } = await placeRouted(3, 2);
    const before = await readStock(test, facility, partner.productIds[0]);
    const tracking = { carrier: "DHL", trackingNumber: "JD-VOID-1" };
    const { shipments, charges } = await operationApplied(test, id, "ship", tracking);
    expect(shipments).toMatchObject([{ status: "shipped", handoverReported: false }]);
    const voided = await voidOf(shipments[0].id, { reason: "The courier did not come" });
    expect(voided).toMatchObject({
      status: 200,
      body: { ...tracking, status: "voided", lineIds: [], shippedAt: null },
    });
    expect(await readStock(test, facility, partner.productIds[0])).toEqual(before);
    await expectStockAddsUp(test);
    const open = await readOrder(partner, id);
    expect(open).toMatchObject({ status: "IN_PROGRESS", shipments: [{ status: "voided", lineIds: [] }] });
    expect(open.lines.map(({ shipmentId }: { shipmentId: null }) => shipmentId)).toEqual([null, null]);
    const [onWorkList] = await scan("JD-VOID-1");
    expect(onWorkList).toMatchObject({ orderId: id, canShip: true, shipments: [{ status: "voided" }] });
    const again = await operationApplied(test, id, "ship", { ...tracking, trackingNumber: "JD-SECOND" });
    expect(again.shipments).toMatchObject([{ status: "voided" }, { status: "shipped" }]);
    expect(again.charges).toEqual(charges);
    expect(again.lines.map(({ shipmentId }: { shipmentId: string }) => shipmentId)).toEqual(
      lines.map(() => again.shipments[1].id),
    );
    const completed = await operationApplied(test, id, "complete");
    expect(completed.status).toBe("COMPLETED");
    expect(operationsOf(completed).slice(-4)).toEqual([
      "ship by operator",
      "voidShipment by operator",
      "ship by operator",
      "complete by operator",
    ]);
    expect(await readStock(test, facility, partner.productIds[0])).toEqual({
      onHand: before.onHand - 3,
      reserved: before.reserved - 3,
    });
    await expectStockAddsUp(test);
    expect(completed.timeline.map(({ detail }: { detail: string }) => detail)).toContain(
      "The courier did not come",
    );
  });

  it("repeating the request changes nothing, also after the order is settled", async () => {
    const { id } = await placeRouted(1);
    const { shipments } = await operationApplied(test, id, "ship");
    const first = await voidOf(shipments[0].id);
    const stock = await readStock(test, facility, partner.productIds[0]);
    expect(await voidOf(shipments[0].id)).toMatchObject({ status: 200, body: first.body });
    expect(await readStock(test, facility, partner.productIds[0])).toEqual(stock);
    await operationApplied(test, id, "cancel");
    expect((await voidOf(shipments[0].id)).status).toBe(200);
    await expectStockAddsUp(test);
  });

  it("parts of a line that was split ship again in other parts", async () => {
    const { id, lines } = await placeRouted(5);
    const [line] = lines;
    const some = (lineId: string, quantity: number) => ({ lines: [{ lineId, quantity }] });
    const first = await operationApplied(test, id, "ship", some(line.id, 3));
    expect((await voidOf(first.shipments[0].id)).status).toBe(200);
    const [three, two] = (await readDetail(test, id)).lines;
    const parts = [
      { lineId: three.id, quantity: 2 },
      { lineId: two.id, quantity: 1 },
    ];
    const second = await operationApplied(test, id, "ship", { lines: parts });
    expect(
      second.lines.map(({ quantity, shipmentId }: { quantity: number; shipmentId: string | null }) => [
        quantity,
        shipmentId !== null,
      ]),
    ).toEqual([
      [2, true],
      [1, true],
      [1, false],
      [1, false],
    ]);
    expect((await readDetail(test, id)).lines).toEqual(second.lines);
    await expectStockAddsUp(test);
    await operationApplied(test, id, "ship");
    await operationApplied(test, id, "complete");
    await expectStockAddsUp(test);
  });

  it("what was made to order gives nothing back, also if it is in stock by now", async () => {
    const other = await createPartner(test);
    const placed = await placeAcceptedOrder(test, other);
    await routeAll(test);
    const { shipments, lines } = await operationApplied(test, placed.id, "ship");
    await setStock(test, facility, lines[0].productId, 10);
    expect((await voidOf(shipments[0].id)).status).toBe(200);
    expect(await readStock(test, facility, lines[0].productId)).toEqual({ onHand: 10, reserved: 0 });
    await expectStockAddsUp(test);
  });

  it("nothing has shipped then: the merchant can cancel, and the address is corrected within its country", async () => {
    const { id, shippingAddress } = await placeRouted(1);
    const { shipments } = await operationApplied(test, id, "ship");
    const correct = (body: object) =>
      test.backOffice.request("PATCH", `/api/orders/${id}/shipping-address`, { body });
    expectRejected(await correct({ address1: "Other" }), "already_shipped", "updateShippingAddress");
    expect((await voidOf(shipments[0].id)).status).toBe(200);
    expect((await correct({ address1: "2 Other Street" })).body.shippingAddress).toMatchObject({
      address1: "2 Other Street",
      city: shippingAddress.city,
    });
    expectRejected(await correct({ countryCode: "FR" }), "other_country", "updateShippingAddress");
    const actions = (await readDetail(test, id)).actions as { name: string; allowed: boolean }[];
    expect(actions.find(({ name }) => name === "cancel")).toMatchObject({ allowed: true });
  });
});

describe("a void is rejected", () => {
  it.each<[string, (orderId: string, shipmentId: string) => Promise<unknown>, string]>([
    ["when the carrier is said to have it", (_, id) => patch(id, { status: "shipped" }), "shipment_left"],
    ["when it is delivered", (_, id) => patch(id, { status: "delivered" }), "shipment_left"],
    [
      "when some of it came back",
      async (orderId) => {
        const { lines } = await readDetail(test, orderId);
        return operationApplied(test, orderId, "return", { lines: [{ lineId: lines[0].id, quantity: 1 }] });
      },
      "shipment_left",
    ],
    [
      "when the order is completed",
      (orderId) => operationApplied(test, orderId, "complete"),
      "order_settled",
    ],
    ["when the order is canceled", (orderId) => operationApplied(test, orderId, "cancel"), "order_settled"],
    ["when it came back", (orderId) => operationApplied(test, orderId, "return"), "order_settled"],
  ])("%s", async (_, happen, rule) => {
    const { id } = await placeRouted(2);
    const { shipments } = await operationApplied(test, id, "ship", { trackingNumber: newNumber() });
    await happen(id, shipments[0].id);
    const stock = await readStock(test, facility, partner.productIds[0]);
    expectRejected(await voidOf(shipments[0].id), rule, "voidShipment");
    expect(await readStock(test, facility, partner.productIds[0])).toEqual(stock);
    const [shown] = (await readDetail(test, id)).shipments;
    expect(shown.status).not.toBe("voided");
    await expectStockAddsUp(test);
  });

  it("until a person says that the carrier does not have it after all", async () => {
    const { id } = await placeRouted(1);
    const { shipments } = await operationApplied(test, id, "ship");
    await patch(shipments[0].id, { status: "shipped" });
    await patch(shipments[0].id, { status: "pending" });
    expect((await voidOf(shipments[0].id)).status).toBe(200);
    expectRejected(await requestOperation(test, id, "complete"), "unshipped_lines", "complete");
    expectRejected(await patch(shipments[0].id, { status: "shipped" }), "no_shipment_out", "updateShipment");
  });

  it("as missing, if there is no such shipment, or the caller does not see it", async () => {
    expect((await voidOf("shp_01m7y7np16fe68bxp4h91tdmdn")).status).toBe(404);
    expect((await voidOf("nonsense")).status).toBe(404);
  });
});

it("an endpoint that names order.shipmentUpdated receives the void, and the next shipment is a new one", async () => {
  const receiver = await startReceiverForTest();
  const own = await createPartner(test);
  const eventTypes = ["order.shipmentCreated", "order.shipmentUpdated"];
  expect((await own.client.post("/v1/webhook-endpoints", { url: receiver.url, eventTypes })).status).toBe(
    201,
  );
  const { id } = await placeAcceptedOrder(test, own);
  const [shipment] = (await operationApplied(test, id, "ship", { trackingNumber: newNumber() })).shipments;
  await voidOf(shipment.id);
  await operationApplied(test, id, "ship", { trackingNumber: newNumber() });
  await sendDue(startDispatcher(test));
  expect(received(receiver).map(({ type, sequence }) => [type, sequence])).toEqual([
    ["order.shipmentCreated", 2],
    ["order.shipmentUpdated", null],
    ["order.shipmentCreated", 3],
  ]);
  const { data } = JSON.parse(receiver.requests[1]?.body ?? "");
  expect(data.shipment).toMatchObject({ id: shipment.id, status: "voided", lineIds: [] });
  expect(data.order.lines.every(({ shipmentId }: { shipmentId: null }) => shipmentId === null)).toBe(true);
});
