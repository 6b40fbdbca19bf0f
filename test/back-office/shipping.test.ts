import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { cancelOrder, readOrder, readOrderEvents, readOrderEventTypes } from "../support/orders.ts";
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
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const twoLines = () => ({ lines: partner.productIds.map((productId) => ({ productId, quantity: 1 })) });
const placeTwoLines = () => placeAcceptedOrder(test, partner, twoLines());
const typesOf = (orderId: string) => readOrderEventTypes(test, partner, orderId);
const patchShipment = (id: string, body: object) =>
  test.backOffice.request("PATCH", `/api/shipments/${id}`, { body });

describe("shipping", () => {
  it("ships line by line: IN_PROGRESS with the first shipment, complete after the last", async () => {
    const { id, lines } = await placeTwoLines();
    const [first, second] = lines.map((line: { id: string }) => line.id);
    const begun = await operationApplied(test, id, "ship", { lineIds: [second] });
    expect(begun).toMatchObject({
      status: "IN_PROGRESS",
      shipments: [{ status: "pending", lineIds: [second] }],
    });
    expectRejected(
      await requestOperation(test, id, "complete"),
      "unshipped_lines",
      "complete",
      "IN_PROGRESS",
    );
    const shipped = await operationApplied(test, id, "ship");
    expect(shipped.shipments[1].lineIds).toEqual([first]);
    expectRejected(await requestOperation(test, id, "ship"), "nothing_to_ship", "ship");
    expect(await operationApplied(test, id, "complete")).toMatchObject({ status: "COMPLETED" });
    expect(await typesOf(id)).toEqual([
      "order.created",
      "order.shipmentCreated",
      "order.shipmentCreated",
      "order.completed",
    ]);
    expect(operationsOf(await readDetail(test, id))).toEqual([
      "create by partner",
      "accept by service",
      "route by service",
      "ship by operator",
      "ship by operator",
      "complete by operator",
    ]);
  });

  it("goes as soon as the deadline has passed, before any worker has looked", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 2 });
    expect(await operationApplied(test, id, "ship")).toMatchObject({ status: "IN_PROGRESS" });
    expect(await runJob(test, "accept-orders")).toBe(0);
  });

  it("waits for the acceptance: the partner may still cancel", async () => {
    const { id } = await placeOrder(partner);
    expectRejected(await requestOperation(test, id, "ship"), "not_accepted", "ship", "NEW");
    expect((await cancelOrder(partner, id)).body).toMatchObject({ status: "CANCELED" });
    expectRejected(await requestOperation(test, id, "ship"), "order_settled", "ship", "CANCELED");
  });

  it("waits for the end of a hold", async () => {
    const { id } = await placeTwoLines();
    await operationApplied(test, id, "hold");
    expectRejected(await requestOperation(test, id, "ship"), "order_on_hold", "ship", "ACCEPTED");
    await operationApplied(test, id, "release-hold");
    await operationApplied(test, id, "ship");
  });

  it("takes each line once, however many workers reach for it at the same time", async () => {
    const { id, lines } = await placeTwoLines();
    const lineIds = [lines[0].id];
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => requestOperation(test, id, "ship", { lineIds })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expectRejected(answer, "nothing_to_ship", "ship");
    const detail = await readDetail(test, id);
    expect(detail.shipments).toHaveLength(1);
    expect(await typesOf(id)).toEqual(["order.created", "order.shipmentCreated"]);
  });

  it("and a cancel from the back office: one comes after the other, and nothing is shipped of a canceled order", async () => {
    const { id } = await placeTwoLines();
    const [shipped, canceled] = await Promise.all([
      requestOperation(test, id, "ship"),
      requestOperation(test, id, "cancel"),
    ]);
    expect(canceled.status).toBe(200);
    const { status, shipments } = await readDetail(test, id);
    expect(status).toBe("CANCELED");
    expect(shipments).toHaveLength(shipped.status === 200 ? 1 : 0);
  });

  it.each([
    ["an unknown line", { lineIds: ["line_01m7y7np16fe68bxp4h91tdmdn", "x"] }, ["/lineIds/0", "/lineIds/1"]],
    ["no text", { lineIds: [1], carrier: 2 }, ["/lineIds/0", "/carrier"]],
    ["an address that runs", { trackingUrl: "javascript:alert(1)" }, ["/trackingUrl"]],
    [
      "long texts",
      { carrier: "c".repeat(256), trackingNumber: "1".repeat(256) },
      ["/carrier", "/trackingNumber"],
    ],
  ])("is rejected with %s", async (_title, body, pointers) => {
    const { id } = await placeTwoLines();
    const { status, body: problem } = await requestOperation(test, id, "ship", body);
    expect(status).toBe(422);
    expect(problem.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
    expect(await readDetail(test, id)).toMatchObject({ status: "ACCEPTED", shipments: [] });
  });

  it("with no lines at all ships nothing", async () => {
    const { id } = await placeTwoLines();
    expectRejected(await requestOperation(test, id, "ship", { lineIds: [] }), "nothing_to_ship", "ship");
  });
});

describe("tracking", () => {
  it("may be known at once; the address comes from carrier and number", async () => {
    const { id } = await placeTwoLines();
    const { shipments } = await operationApplied(test, id, "ship", {
      carrier: "U.P.S.",
      trackingNumber: "1Z 999",
    });
    const trackingUrl = "https://www.ups.com/track?tracknum=1Z999";
    expect(shipments).toMatchObject([{ carrier: "U.P.S.", trackingNumber: "1Z 999", trackingUrl }]);
    const shippedAt = test.clock.now().toISOString();
    const expected = {
      status: "shipped",
      shippedAt,
      deliveredAt: null,
      carrier: "U.P.S.",
      trackingNumber: "1Z 999",
      trackingUrl,
    };
    expect((await readOrder(partner, id)).shipments).toMatchObject([expected]);
    const [, event] = await readOrderEvents(test, partner, id);
    expect(event?.data.shipment).toMatchObject(expected);
  });

  it("is on the timeline with the parcel that it is about, like its shipping and its return", async () => {
    const { id, lines } = await placeTwoLines();
    const first = (await operationApplied(test, id, "ship", { lineIds: [lines[0].id] })).shipments[0].id;
    const second = (await operationApplied(test, id, "ship")).shipments[1].id;
    await patchShipment(first, { trackingNumber: "77" });
    await operationApplied(test, id, "return", { shipmentId: second });
    const { timeline } = await readDetail(test, id);
    expect(timeline.slice(-4)).toMatchObject([
      { operation: "ship", shipmentId: first },
      { operation: "ship", shipmentId: second },
      { operation: "updateShipment", shipmentId: first },
      { operation: "returnShipment", shipmentId: second },
    ]);
    expect(timeline[0]).toMatchObject({ operation: "create", shipmentId: null });
  });

  it("may come later, also when the order is complete: the shipment has been shipped since", async () => {
    const { id } = await placeTwoLines();
    const { shipments } = await operationApplied(test, id, "ship", { carrier: "DHL" });
    expect(shipments).toMatchObject([{ status: "pending", shippedAt: null, deliveredAt: null }]);
    test.clock.advance({ minutes: 3 });
    const shippedAt = test.clock.now().toISOString();
    expect((await operationApplied(test, id, "complete")).shipments).toMatchObject([
      { status: "shipped", shippedAt, deliveredAt: null },
    ]);
    test.clock.advance({ minutes: 3 });
    const { status, body } = await patchShipment(shipments[0].id, { carrier: "DHL", trackingNumber: "78" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: shipments[0].id,
      orderId: id,
      status: "shipped",
      shippedAt,
      carrier: "DHL",
      trackingUrl: "https://www.dhl.com/global-en/home/tracking.html?tracking-id=78",
    });
    expect((await readDetail(test, id)).timeline.at(-1)).toMatchObject({
      operation: "updateShipment",
      status: "COMPLETED",
    });
  });

  it("makes a pending shipment shipped, and its delivery has a time of its own, for partners too", async () => {
    const { id } = await placeTwoLines();
    const [shipment] = (await operationApplied(test, id, "ship")).shipments;
    const times = [1, 2].map((minutes) => test.clock.now().getTime() + minutes * 60_000);
    const [shippedAt, deliveredAt] = times.map((time) => new Date(time).toISOString());
    for (const change of [{ trackingNumber: "5" }, { status: "delivered" }]) {
      test.clock.advance({ minutes: 1 });
      expect((await patchShipment(shipment.id, change)).status).toBe(200);
    }
    const expected = { status: "delivered", carrier: null, shippedAt, deliveredAt };
    expect((await readOrder(partner, id)).shipments).toMatchObject([expected]);
    await operationApplied(test, id, "return");
    expect((await readOrder(partner, id)).shipments).toMatchObject([{ ...expected, status: "returned" }]);
  });

  it("keeps an address of its own until the number changes", async () => {
    const { id } = await placeTwoLines();
    const own = { carrier: "Local Bikes", trackingNumber: "1", trackingUrl: "https://bikes.example/1" };
    const [shipment] = (await operationApplied(test, id, "ship", own)).shipments;
    const patched = async (body: object) => (await patchShipment(shipment.id, body)).body;
    expect(await patched({ status: "shipped" })).toMatchObject({ ...own, status: "shipped" });
    expect(await patched({ carrier: "Local Bikes Ltd" })).toMatchObject({ trackingUrl: own.trackingUrl });
    expect(await patched({ trackingNumber: "2" })).toMatchObject({ trackingNumber: "2", trackingUrl: null });
    expect(await patched({ trackingUrl: "https://bikes.example/2" })).toMatchObject({
      trackingUrl: "https://bikes.example/2",
    });
    expect(await patched({ trackingNumber: null, trackingUrl: null })).toMatchObject({
      trackingNumber: null,
    });
  });

  it("that stays the same changes nothing", async () => {
    const { id } = await placeTwoLines();
    const [shipment] = (await operationApplied(test, id, "ship", { carrier: "DPD", trackingNumber: "5" }))
      .shipments;
    const before = await readDetail(test, id);
    test.clock.advance({ minutes: 1 });
    expect((await patchShipment(shipment.id, { trackingNumber: "5" })).status).toBe(200);
    expect((await patchShipment(shipment.id, {})).status).toBe(200);
    expect(await readDetail(test, id)).toEqual(before);
  });

  it("says that the carrier has what tracking alone had made shipped, once", async () => {
    const { id } = await placeTwoLines();
    const [shipment] = (await operationApplied(test, id, "ship", { trackingNumber: "6" })).shipments;
    const reported = await patchShipment(shipment.id, { status: "shipped" });
    expect(reported.body).toEqual({ ...shipment, handoverReported: true });
    const before = await readDetail(test, id);
    test.clock.advance({ minutes: 1 });
    expect((await patchShipment(shipment.id, { status: "shipped" })).body).toEqual(reported.body);
    expect(await readDetail(test, id)).toEqual(before);
  });

  it.each([
    ["status", { status: "returned" }],
    ["status", { status: "lost" }],
    ["trackingUrl", { trackingUrl: "ftp://x" }],
  ])("is rejected with a bad %s", async (field, body) => {
    const { id } = await placeTwoLines();
    const [shipment] = (await operationApplied(test, id, "ship")).shipments;
    const rejected = await patchShipment(shipment.id, body);
    expect(rejected.status).toBe(422);
    expect(rejected.body.errors).toMatchObject([{ pointer: `/${field}` }]);
  });

  it("of no shipment is not found", async () => {
    for (const id of ["shp_01m7y7np16fe68bxp4h91tdmdn", "x", "ord_01m7y7np16fe68bxp4h91tdmdn"])
      expect((await patchShipment(id, { status: "shipped" })).status).toBe(404);
  });
});

describe("returns", () => {
  it("set RETURNED, also on a completed order, and the parcel is back for good", async () => {
    const { id } = await placeTwoLines();
    const [shipment] = (await operationApplied(test, id, "ship")).shipments;
    await operationApplied(test, id, "complete");
    const returned = await operationApplied(test, id, "return", { shipmentId: shipment.id });
    expect(returned).toMatchObject({ status: "RETURNED", shipments: [{ status: "returned" }] });
    expectRejected(
      await requestOperation(test, id, "return"),
      "no_shipment_out",
      "returnShipment",
      "RETURNED",
    );
    expectRejected(
      await patchShipment(shipment.id, { status: "shipped" }),
      "no_shipment_out",
      "updateShipment",
    );
    expect((await typesOf(id)).at(-1)).toBe("order.shipmentReturned");
  });

  it("need a parcel that is out", async () => {
    const { id } = await placeTwoLines();
    expectRejected(
      await requestOperation(test, id, "return"),
      "no_shipment_out",
      "returnShipment",
      "ACCEPTED",
    );
    const unknown = await requestOperation(test, id, "return", {
      shipmentId: "shp_01m7y7np16fe68bxp4h91tdmdn",
    });
    expect(unknown.status).toBe(422);
    expect(unknown.body.errors).toMatchObject([{ pointer: "/shipmentId" }]);
  });

  it("happen once, however many hands take the parcel", async () => {
    const { id } = await placeTwoLines();
    await operationApplied(test, id, "ship");
    const answers = await Promise.all(Array.from({ length: 6 }, () => requestOperation(test, id, "return")));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await typesOf(id)).filter((type) => type === "order.shipmentReturned")).toHaveLength(1);
  });
});
