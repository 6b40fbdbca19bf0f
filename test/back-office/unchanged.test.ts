import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, aRate, createFacility, routeAll, setRates, setStock } from "../support/facilities.ts";
import { retryDeclined } from "../support/payments.ts";
import { operationApplied } from "../support/real-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let facility: string;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
  partner = await createPartner(test);
  facility = await createFacility(test);
});
afterAll(() => test.close());

type Change = [method: string, path: string, body?: object];

const limits = { endpoints: 7 };
/** By what is changed, a request that changes it, and returns the same when it is repeated. */
const CHANGES: Record<string, () => Change | Promise<Change>> = {
  "a merchant": () => [
    "PATCH",
    `/api/merchants/${partner.merchantId}`,
    { name: "Renamed", creditLimit: { amount: "9.00", currency: "EUR" }, completeWhenShipped: true },
  ],
  "a connection": () => [
    "PATCH",
    `/api/connections/${partner.connectionId}`,
    { name: "Renamed", reviewPolicy: { maxQuantity: 500, countries: ["DE", "GB"] }, limits },
  ],
  "a product": () => ["PATCH", `/api/products/${partner.productIds[0]}`, { name: "Renamed", barcode: "77" }],
  "a key": async () => ["POST", `/api/keys/${(await createKey(test, partner.connectionId)).id}/revoke`],
  "a facility": () => ["PATCH", `/api/facilities/${facility}`, { name: "Renamed" }],
  "whether a facility is open": () => ["POST", `/api/facilities/${facility}/close`],
  "counted stock": () => ["PUT", `/api/facilities/${facility}/stock/${partner.productIds[1]}`, { onHand: 5 }],
  "no stock": () => ["PUT", `/api/facilities/${facility}/stock/${partner.productIds[0]}`, { onHand: 0 }],
  rates: () => ["PUT", `/api/facilities/${facility}/rates`, { rates: [aRate({ country: "DE" }), aRate()] }],
  "a shipment": async () => {
    await createFacility(test); // The other one may be closed, and has no stock.
    const { id } = await placeOrder(await createPartner(test));
    await acceptAll(test);
    await routeAll(test);
    const { shipments } = await operationApplied(test, id, "ship", {});
    return ["PATCH", `/api/shipments/${shipments[0].id}`, { trackingNumber: "T1", status: "delivered" }];
  },
  "a hold": async () => {
    const { id } = await placeOrder(partner);
    return ["POST", `/api/orders/${id}/hold`, { reasons: ["out_of_stock"] }];
  },
};

describe("a change that is repeated", () => {
  it.each(Object.keys(CHANGES))(
    "of %s writes nothing, and leaves no entry in the audit log",
    async (what) => {
      const [method, path, body] = (await CHANGES[what]?.()) ?? ["", ""];
      const first = await test.backOffice.request(method, path, { body });
      expect(first.status, JSON.stringify(first.body)).toBe(200);
      await retryDeclined(test);
      const before = await dumpTables(test);
      test.clock.advance({ minutes: 1 });
      const again = await test.backOffice.request(method, path, { body });
      expect(again.body).toEqual(first.body);
      await retryDeclined(test); // A limit that is sent again requests it, and nothing was declined.
      expect(await dumpTables(test)).toEqual(before);
    },
  );

  it("of rates in another order, too; other rates are stored", async () => {
    const [one, two] = [aRate({ country: "FR" }), aRate({ country: "IT", amount: "6.00" })];
    await setRates(test, facility, [one, two]);
    const before = await dumpTables(test);
    await setRates(test, facility, [two, one]);
    expect(await dumpTables(test)).toEqual(before);
    await setRates(test, facility, [one, aRate({ country: "IT", amount: "6.01" })]);
    expect(await dumpTables(test)).not.toEqual(before);
  });

  it("by a partner, of an endpoint, leaves its updatedAt", async () => {
    const { id } = await createEndpoint(partner);
    const body = { description: "Renamed", eventTypes: ["order.created"] };
    const change = () => partner.client.request("PATCH", `/v1/webhook-endpoints/${id}`, { body });
    const first = await change();
    const before = await dumpTables(test);
    test.clock.advance({ minutes: 1 });
    expect((await change()).body).toEqual(first.body);
    expect(await dumpTables(test)).toEqual(before);
  });
});

describe("GET /api/products/{id}/stock", () => {
  it("lists the facilities that have the product, and those that a person may see", async () => {
    const { productIds } = await createPartner(test);
    const [product = ""] = productIds;
    const [near, far, without] = [
      await createFacility(test),
      await createFacility(test),
      await createFacility(test),
    ];
    await setStock(test, near, product, 4);
    await setStock(test, far, product, 0);
    const path = `/api/products/${product}/stock`;
    const { body } = await test.backOffice.get(path);
    expect(body).toMatchObject({
      data: [
        { facilityId: near, facilityName: "Facility", facilityClosedAt: null, onHand: 4, available: 4 },
        { facilityId: far, onHand: 0, productId: product },
      ],
      nextCursor: null,
    });
    expect(JSON.stringify(body)).not.toContain(without);
    const first = (await test.backOffice.get(`${path}?limit=1`)).body;
    const next = (await test.backOffice.get(`${path}?limit=1&cursor=${first.nextCursor}`)).body;
    expect([first.data, next.data].flat()).toEqual(body.data);
    expect((await test.backOffice.get(`${path}?cursor=x`)).status).toBe(422);
    expect((await test.backOffice.get("/api/products/x/stock")).status).toBe(404);
    const madeToOrder = await test.backOffice.get(`/api/products/${productIds[1]}/stock`);
    expect(madeToOrder.body.data).toEqual([]);
  });
});
