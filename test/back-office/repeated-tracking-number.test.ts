import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Grant } from "../../src/audit/grant.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createPartner, type Partner } from "../support/builders.ts";
import { createFacility, routeAll } from "../support/facilities.ts";
import {
  operationApplied,
  placeAcceptedOrder,
  readDetail,
  requestOperation,
} from "../support/real-orders.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

// docs/design/fulfilment.md, "A number on two parcels".

let test: TestService;
let partner: Partner;
let other: Partner;
let facility: string;
beforeAll(async () => {
  test = await startTestService();
  [partner, other] = [await createPartner(test), await createPartner(test)];
  facility = await createFacility(test);
});
afterAll(() => test.close());

async function place(by = partner): Promise<string> {
  const { id } = await placeAcceptedOrder(test, by, {
    lines: [{ productId: by.productIds[0], quantity: 2 }],
  });
  await routeAll(test);
  return id;
}
let numbers = 0;
const newNumber = () => {
  numbers += 1;
  return `JD-${numbers}`;
};
async function shipped(trackingNumber: string, by = partner) {
  const id = await place(by);
  const { shipments } = await operationApplied(test, id, "ship", { trackingNumber });
  return { orderId: id, shipmentId: shipments[0].id as string };
}
const patch = (shipmentId: string, body: object) =>
  test.backOffice.request("PATCH", `/api/shipments/${shipmentId}`, { body });
function expectAsked({ status, body }: Answer, first: { orderId: string; shipmentId: string | null }) {
  expect([status, body.code, body.rule], JSON.stringify(body)).toEqual([
    ...[409, "transition-refused", "tracking_number_repeated"],
  ]);
  expect(body).toMatchObject(first);
  expect(body.detail).toContain(first.orderId);
}

describe("a tracking number that is on another parcel", () => {
  it("is asked about when an order ships, of any merchant and in any case, and ships if it is meant", async () => {
    const number = newNumber();
    const first = await shipped(number);
    const second = await place(other);
    const again = { trackingNumber: ` ${number.toLowerCase()} ` };
    expectAsked(await requestOperation(test, second, "ship", again), first);
    expect((await readDetail(test, second)).shipments).toEqual([]);
    const meant = await operationApplied(test, second, "ship", { ...again, repeatedTrackingNumber: true });
    expect(meant.shipments).toMatchObject([{ trackingNumber: number.toLowerCase() }]);
  });

  it("is asked about in the same order too, but a retry answers as before", async () => {
    const number = newNumber();
    const id = await place();
    const [line] = (await readDetail(test, id)).lines;
    const lines = [{ lineId: line.id, quantity: 1 }];
    const { shipments } = await operationApplied(test, id, "ship", { lines, trackingNumber: number });
    expectAsked(await requestOperation(test, id, "ship", { trackingNumber: number }), {
      ...{ orderId: id, shipmentId: shipments[0].id },
    });
    await operationApplied(test, id, "ship", { trackingNumber: newNumber() });
    expect((await requestOperation(test, id, "ship", { trackingNumber: number })).body.rule).toBe(
      "nothing_to_ship",
    );
  });

  it("is asked about when a shipment gets it, and not when the shipment has it already", async () => {
    const number = newNumber();
    const first = await shipped(number);
    const second = await shipped(newNumber());
    expectAsked(await patch(second.shipmentId, { trackingNumber: number }), first);
    expect((await patch(second.shipmentId, { carrier: "DHL" })).status).toBe(200);
    const meant = { trackingNumber: number, repeatedTrackingNumber: true };
    expect((await patch(second.shipmentId, meant)).body.trackingNumber).toBe(number);
    expect((await patch(second.shipmentId, { trackingNumber: number })).status).toBe(200);
    expect((await patch(first.shipmentId, { trackingNumber: number, carrier: "UPS" })).status).toBe(200);
  });

  it("is taken if that parcel has arrived, came back or was voided", async () => {
    for (const end of ["delivered", "returned", "voided"]) {
      const number = newNumber();
      const { orderId, shipmentId } = await shipped(number);
      if (end === "delivered") await patch(shipmentId, { status: "delivered" });
      if (end === "returned") await operationApplied(test, orderId, "return");
      if (end === "voided") await test.backOffice.post(`/api/shipments/${shipmentId}/void`, {});
      await shipped(number);
    }
  });

  it("is taken if the caller does not see that order, and reveals nothing", async () => {
    const number = newNumber();
    const first = await shipped(number);
    await test.db.query({
      name: "test-move-order",
      text: "update orders set facility_id = $2 where id = $1",
      values: [fromTypeId("ord", first.orderId), fromTypeId("fac", await createFacility(test))],
    });
    const grants: Grant[] = [{ role: "warehouse", facilityIds: [fromTypeId("fac", facility) ?? ""] }];
    const second = await place();
    const answer = await requestOperation(
      test,
      second,
      "ship",
      { trackingNumber: number },
      test.backOfficeFor({ name: "Wilma", grants }),
    );
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  });
});

describe("a number twice in one request", () => {
  it("ships the first order, and asks about the second", async () => {
    const [first, second] = [await place(), await place()];
    const trackingNumber = newNumber();
    const orders = [first, second].map((orderId) => ({ orderId, trackingNumber }));
    const { body } = await test.backOffice.post("/api/orders/ship", { orders });
    expect(body.orders).toMatchObject([{ refusal: null }, { refusal: { rule: "tracking_number_repeated" } }]);
    const meant = [{ ...orders[1], repeatedTrackingNumber: true }];
    expect((await test.backOffice.post("/api/orders/ship", { orders: meant })).body.orders).toMatchObject([
      { refusal: null },
    ]);
  });

  it("leaves the second parcel of a file out, also in a dry run, unless the import says that it is meant", async () => {
    const orderIds = [await place(), await place()];
    const number = newNumber();
    const file = `orderId,trackingNumber\n${orderIds.map((id) => `${id},${number}\n`).join("")}`;
    const send = (query: string) =>
      test.backOffice.request("POST", `/api/shipments/import${query}`, {
        rawBody: file,
        headers: { "content-type": "text/csv" },
      });
    for (const query of ["?dryRun=true", ""])
      expect((await send(query)).body, query).toMatchObject({
        ...{ shipped: 1, rejected: 1 },
        rejections: [{ line: 3, code: "transition-refused", rule: "tracking_number_repeated" }],
      });
    const meant = await send("?repeatedTrackingNumber=true");
    expect(meant.body).toMatchObject({ shipped: 1, unchanged: 1, rejected: 0 });
    expect((await send("")).body).toMatchObject({ unchanged: 2, rejected: 0 });
  });
});
