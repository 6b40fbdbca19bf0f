import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { warehouseOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll } from "../support/facilities.ts";
import { operationApplied } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let facility: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  facility = await createFacility(test);
  const [first, second] = partner.productIds;
  await changeProduct(first, { barcode: "4006381333931", weightGrams: 300, sku: "MUG" });
  await changeProduct(second, { weightGrams: 50 });
});
afterAll(() => test.close());

async function changeProduct(id: string | undefined, body: object): Promise<void> {
  expect((await test.backOffice.request("PATCH", `/api/products/${id}`, { body })).status).toBe(200);
}

async function placeReady(fields: object = {}): Promise<string> {
  test.clock.advance({ ms: 1 });
  const { id } = await placeOrder(partner, fields);
  await acceptAll(test);
  await routeAll(test);
  return id;
}

const scan = async (code: string, client = test.backOffice) => {
  const { status, body } = await client.get(`/api/work-list/scan?code=${encodeURIComponent(code)}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const found = async (code: string, client = test.backOffice): Promise<[string, string][]> =>
  (await scan(code, client)).orders.map((order: { orderId: string; matchedBy: string }) => [
    order.orderId,
    order.matchedBy,
  ]);
const auditedReads = async (): Promise<number> =>
  (await test.backOffice.get("/api/audit-entries?action=scanCode&limit=100")).body.data.length;

describe("GET /api/work-list/scan", () => {
  it("finds a parcel by its tracking number, however many newer orders partners have called so", async () => {
    const code = "JD-HIDDEN-1";
    const id = await placeReady();
    await operationApplied(test, id, "ship", { carrier: "DHL", trackingNumber: code });
    for (let count = 0; count < 10; count += 1) {
      const another = await createPartner(test);
      test.clock.advance({ ms: 1 });
      await placeOrder(another, { externalOrderId: code });
    }
    const labeled = await found(code);
    expect(labeled).toHaveLength(10);
    expect(labeled[0]).toEqual([id, "trackingNumber"]);
  });

  it("finds an order by its id, with all that packing needs", async () => {
    const [first, second] = partner.productIds;
    const lines = [
      { productId: first, quantity: 2 },
      { productId: second, quantity: 3 },
    ];
    const id = await placeReady({ lines });
    const reads = await auditedReads();
    const { orders, products, code } = await scan(` ${id} `);
    expect(code).toBe(id);
    expect(products).toEqual([]);
    expect(orders).toMatchObject([
      {
        orderId: id,
        matchedBy: "orderId",
        merchantId: partner.merchantId,
        facilityId: facility,
        status: "ACCEPTED",
        onHold: false,
        canShip: true,
        canReturn: false,
        expectedWeightGrams: 750,
        pickList: null,
        shipments: [],
        shippingAddress: { countryCode: "GB" },
      },
    ]);
    expect(orders[0].lines).toMatchObject([
      {
        productId: first,
        sku: "MUG",
        barcode: "4006381333931",
        weightGrams: 300,
        quantity: 2,
        shipmentId: null,
      },
      { productId: second, barcode: null, quantity: 3 },
    ]);
    expect(await auditedReads(), "a read of an address is recorded").toBe(reads + 1);
  });

  it("finds an order by the partner's id, by a parcel's tracking number in any case, and by a shipment", async () => {
    const id = await placeReady({ externalOrderId: "web-77" });
    expect(await found("web-77")).toEqual([[id, "externalOrderId"]]);
    const body = { carrier: "DHL", trackingNumber: "JD0123", weightGrams: 420 };
    const { shipments } = await operationApplied(test, id, "ship", body);
    expect(shipments).toMatchObject([{ weightGrams: 420, trackingNumber: "JD0123" }]);
    expect(await found("jd0123")).toEqual([[id, "trackingNumber"]]);
    expect(await found(shipments[0].id)).toEqual([[id, "shipmentId"]]);
    const [order] = (await scan(id)).orders;
    expect(order).toMatchObject({ canShip: false, canReturn: true, expectedWeightGrams: 0 });
    expect(order.lines).toMatchObject([{ shipmentId: shipments[0].id, returnedQuantity: 0 }]);
    expect((await partner.client.get(`/v1/orders/${id}`)).body.shipments[0]).not.toHaveProperty(
      "weightGrams",
    );
  });

  it("says that an order can be shipped that has been accepted and is not routed yet", async () => {
    test.clock.advance({ ms: 1 });
    const { id } = await placeOrder(partner);
    const canShip = async () => (await scan(id)).orders[0].canShip;
    expect(await canShip()).toBe(false);
    await acceptAll(test);
    expect((await scan(id)).orders).toMatchObject([{ canShip: true, facilityId: null }]);
    await operationApplied(test, id, "ship", {});
    expect(await canShip()).toBe(false);
  });

  it("finds a parcel whose tracking number was stored with spaces around it", async () => {
    const id = await placeReady();
    const { shipments } = await operationApplied(test, id, "ship", {
      carrier: " DHL ",
      trackingNumber: "\tSPACED-1 ",
    });
    expect(shipments).toMatchObject([{ carrier: "DHL", trackingNumber: "SPACED-1" }]);
    expect(await found(" spaced-1\n")).toEqual([[id, "trackingNumber"]]);
    const path = `/api/shipments/${shipments[0].id}`;
    const changeTo = async (body: object) => (await test.backOffice.request("PATCH", path, { body })).body;
    expect(await changeTo({ trackingNumber: " SPACED-2 " })).toMatchObject({ trackingNumber: "SPACED-2" });
    expect(await found("SPACED-2")).toEqual([[id, "trackingNumber"]]);
    const same = { carrier: "DHL  ", trackingNumber: " SPACED-2" };
    expect(await changeTo({ ...same, trackingUrl: "https://example.com/2" })).toMatchObject({
      ...{ carrier: "DHL", trackingNumber: "SPACED-2", trackingUrl: "https://example.com/2" },
    });
    expect((await changeTo(same)).trackingUrl, "it is the same number").toBe("https://example.com/2");
    expect(await changeTo({ trackingNumber: " " }), "no number").toMatchObject({ trackingNumber: null });
  });

  it("finds the order of a return by its reference, once", async () => {
    const id = await placeReady();
    await operationApplied(test, id, "ship", { trackingNumber: "RMA-1" });
    await operationApplied(test, id, "return", { reference: "RMA-1" });
    expect(await found("RMA-1")).toHaveLength(1);
    const [order] = (await scan("RMA-1")).orders;
    expect(order).toMatchObject({ orderId: id, canReturn: false, status: "RETURNED" });
  });

  it("finds products of all merchants by barcode, then by SKU", async () => {
    const other = await createPartner(test);
    await changeProduct(other.productIds[0], { sku: "4006381333931" });
    await changeProduct(other.productIds[1], { sku: "MUG", barcode: "4006381333931" });
    const { orders, products } = await scan("4006381333931");
    expect(orders).toEqual([]);
    expect(products).toMatchObject([
      { id: partner.productIds[0], matchedBy: "barcode" },
      { id: other.productIds[1], matchedBy: "barcode" },
      { id: other.productIds[0], matchedBy: "sku", merchantId: other.merchantId },
    ]);
    expect((await scan("MUG")).products).toHaveLength(2);
  });

  it("finds nothing for an unknown code, a test order, or a part of a code, and records no read", async () => {
    const { id } = await placeTestOrder(partner, { externalOrderId: "test-77" });
    await placeReady({ externalOrderId: "whole-77" });
    const reads = await auditedReads();
    for (const code of [id, "test-77", "whole-7", "%", "ord_01m7y7np16fe68bxp4h91tdmdn", "x".repeat(255)])
      expect(await scan(code), code).toMatchObject({ orders: [], products: [] });
    expect(await auditedReads()).toBe(reads);
  });

  it.each(["", "?code=", `?code=${"x".repeat(256)}`, "?code=%00"])("rejects %s", async (query) => {
    expect((await test.backOffice.get(`/api/work-list/scan${query}`)).status).toBe(422);
  });

  it("shows staff of one facility only what is routed there", async () => {
    const id = await placeReady({ externalOrderId: "mine-77" });
    const staffOf = (facilityId: string) =>
      test.backOfficeFor({
        name: "Wilma",
        grants: [{ role: "warehouse", facilityIds: [fromTypeId("fac", facilityId) ?? ""] }],
      });
    const elsewhere = await createFacility(test);
    expect(await found("mine-77", staffOf(facility))).toEqual([[id, "externalOrderId"]]);
    expect(await found("mine-77", staffOf(elsewhere))).toEqual([]);
    expect(await found(id, staffOf(elsewhere))).toEqual([]);
    expect((await staffOf(elsewhere).get(`/api/orders/${id}/packing-slip`)).status).toBe(404);
  });

  it("says who has taken the order", async () => {
    const id = await placeReady();
    const { body } = await warehouseOf(test).post("/api/pick-lists", {
      facilityId: facility,
      takenBy: "Wilma",
      orderLimit: 100,
    });
    expect((await scan(id)).orders[0].pickList).toMatchObject({ id: body.pickList.id, takenBy: "Wilma" });
  });
});

describe("the weight of a parcel", () => {
  it("is a whole number of grams above 0", async () => {
    const id = await placeReady();
    for (const weightGrams of [0, -1, 1.5, "5", 2_000_000_001]) {
      const { status, body } = await test.backOffice.post(`/api/orders/${id}/ship`, { weightGrams });
      expect(status, `${weightGrams}`).toBe(422);
      expect(body.errors).toMatchObject([{ pointer: "/weightGrams" }]);
    }
    const { shipments } = await operationApplied(test, id, "ship", {});
    expect(shipments).toMatchObject([{ weightGrams: null }]);
  });
});

describe("GET /api/orders/{id}/packing-slip", () => {
  const slip = async (id: string, query = "") =>
    (await test.backOffice.get(`/api/orders/${id}/packing-slip${query}`)).body;

  it("has what has not shipped, then the newest shipment, or the named one, and no prices", async () => {
    const [first, second] = partner.productIds;
    const lines = [first, second].map((productId) => ({ productId, quantity: 1 }));
    const id = await placeReady({ lines, externalOrderId: "slip-1" });
    const before = await slip(id);
    expect(before).toMatchObject({
      orderId: id,
      externalOrderId: "slip-1",
      shipmentId: null,
      trackingNumber: null,
      expectedWeightGrams: 350,
      facility: { id: facility, name: "Facility", countryCode: "GB" },
      lines: [{ productId: first }, { productId: second }],
      returnReasons: expect.arrayContaining(["damaged", "unwanted"]),
    });
    expect(JSON.stringify(before)).not.toMatch(/price|amount|charge/i);
    const lineIds = before.lines.map((line: { id: string }) => [line.id]);
    const one = await operationApplied(test, id, "ship", { lineIds: lineIds[0], trackingNumber: "SLIP1" });
    expect(await slip(id)).toMatchObject({ shipmentId: null, lines: [{ productId: second }] });
    const [{ id: shipmentId }] = one.shipments;
    expect(await slip(id, `?shipmentId=${shipmentId}`)).toMatchObject({
      shipmentId,
      trackingNumber: "SLIP1",
      lines: [{ productId: first }],
    });
    await operationApplied(test, id, "ship", { trackingNumber: "SLIP2" });
    expect(await slip(id)).toMatchObject({ trackingNumber: "SLIP2", lines: [{ productId: second }] });
  });

  it("is missing for another order's shipment, a missing order, and is recorded as a read", async () => {
    const [one, other] = [await placeReady(), await placeReady()];
    const { shipments } = await operationApplied(test, other, "ship", {});
    const path = `/api/orders/${one}/packing-slip`;
    expect((await test.backOffice.get(`${path}?shipmentId=${shipments[0].id}`)).status).toBe(404);
    expect((await test.backOffice.get(`${path}?shipmentId=x`)).status).toBe(404);
    expect(
      (await test.backOffice.get("/api/orders/ord_01m7y7np16fe68bxp4h91tdmdn/packing-slip")).status,
    ).toBe(404);
    await slip(one);
    const { body } = await test.backOffice.get(`/api/audit-entries?action=getPackingSlip&subjectId=${one}`);
    expect(body.data).toHaveLength(1);
  });
});
