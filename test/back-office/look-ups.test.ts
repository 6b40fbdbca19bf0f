import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { personOf } from "../support/back-office-resources.ts";
import { createKey, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { expectErrors, expectProblem, withoutItsOwn } from "../support/orders.ts";
import { operationApplied, placeAcceptedOrder } from "../support/real-orders.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let other: Partner;
let owner: Client;
let stranger: Client;
beforeAll(async () => {
  test = await startTestService();
  [partner, other] = [await createPartner(test), await createPartner(test)];
  [owner, stranger] = [personOf(test, partner.merchantId), personOf(test, other.merchantId)];
});
afterAll(() => test.close());

/** The owner and the operator get it; another merchant gets exactly the response for a missing one. */
async function expectShown(path: string, missing: string, expected: object): Promise<void> {
  for (const client of [test.backOffice, owner])
    expect(await client.get(path)).toMatchObject({ status: 200, body: expected });
  const foreign = await stranger.get(path);
  expectProblem(foreign, 404, "not-found");
  expect(withoutItsOwn(foreign)).toBe(withoutItsOwn(await stranger.get(missing)));
}

describe("GET /api/keys/{id}", () => {
  it("returns the key as the list does, without the key itself, also to its merchant", async () => {
    const { id, key } = await createKey(test, partner.connectionId, { name: "first" });
    const { body } = await test.backOffice.get(`/api/connections/${partner.connectionId}/keys`);
    const listed = body.data.find((one: { id: string }) => one.id === id);
    await expectShown(`/api/keys/${id}`, "/api/keys/key_01m7y7np16fe68bxp4h91tdmdn", listed);
    expect(JSON.stringify((await owner.get(`/api/keys/${id}`)).body)).not.toContain(key);
  });
});

describe("GET /api/shipments/{id}", () => {
  it("returns the shipment as its order shows it", async () => {
    const { id } = await placeAcceptedOrder(test, partner);
    const { shipments } = await operationApplied(test, id, "ship", { carrier: "DHL", trackingNumber: "1" });
    const missing = "/api/shipments/shp_01m7y7np16fe68bxp4h91tdmdn";
    await expectShown(`/api/shipments/${shipments[0].id}`, missing, shipments[0]);
    expectProblem(await test.backOffice.get(`/api/shipments/${id}`), 404, "not-found");
  });

  it("does not return the shipment of an expired test order", async () => {
    const { id } = await placeTestOrder(partner);
    const transition = { transition: "ship" };
    const { body } = await partner.client.post(`/v1/test/orders/${id}/transitions`, transition);
    const path = `/api/shipments/${body.shipments[0].id}`;
    expect((await test.backOffice.get(path)).body).toEqual({
      ...body.shipments[0],
      orderId: id,
      ...{ weightGrams: null, scannedTrackingNumber: null, handoverReported: false },
    });
    test.clock.advance({ hours: 2 });
    expectProblem(await test.backOffice.get(path), 404, "not-found");
  });
});

describe("GET /api/audit-entries/{id}", () => {
  it("returns the entry as the list does, also one without a merchant", async () => {
    await test.backOffice.post("/api/facilities", { name: "Depot", countryCode: "GB" });
    const { body } = await test.backOffice.get("/api/audit-entries?limit=100");
    const facility = body.data.find(({ action }: { action: string }) => action === "createFacility");
    for (const entry of [body.data.at(-1), facility])
      expect((await test.backOffice.get(`/api/audit-entries/${entry.id}`)).body).toEqual(entry);
  });

  it.each(["aud_01m7y7np16fe68bxp4h91tdmdn", "x"])("%s is 404", async (id) => {
    expectProblem(await test.backOffice.get(`/api/audit-entries/${id}`), 404, "not-found");
  });
});

describe("GET /api/order-references", () => {
  const found = async (query: string, client = test.backOffice) => {
    const { status, body } = await client.get(`/api/order-references?${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };
  const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

  it("finds the orders of all connections with exactly this id, real and test, newest first, page by page", async () => {
    const externalOrderId = "web 1001/ä";
    const named = `externalOrderId=${encodeURIComponent(externalOrderId)}`;
    const real = await placeOrder(partner, { externalOrderId });
    test.clock.advance({ seconds: 1 });
    const rehearsed = await placeTestOrder(other, { externalOrderId });
    await placeOrder(partner, { externalOrderId: `${externalOrderId}2` });
    const all = await found(named);
    expect(all).toMatchObject({ nextCursor: null });
    expect(all.data).toEqual([
      expect.objectContaining({ id: rehearsed.id, testMode: true, connectionId: other.connectionId }),
      {
        id: real.id,
        externalOrderId,
        testMode: false,
        merchantId: partner.merchantId,
        merchantName: expect.any(String),
        connectionId: partner.connectionId,
        connectionName: expect.any(String),
        createdAt: real.createdAt,
      },
    ]);
    const first = await found(`${named}&limit=1`);
    const second = await found(`${named}&limit=1&cursor=${first.nextCursor}`);
    expect([...idsOf(first), ...idsOf(second)]).toEqual([rehearsed.id, real.id]);
    expect(idsOf(await found(`${named}&connectionId=${partner.connectionId}`))).toEqual([real.id]);
    expect(idsOf(await found(named, owner))).toEqual([real.id]);
    expect(await found(`${named}&connectionId=${partner.connectionId}`, stranger)).toEqual({
      data: [],
      nextCursor: null,
    });
    test.clock.advance({ hours: 2 });
    expect(idsOf(await found(named))).toEqual([real.id]);
  });

  it.each([
    ["", "externalOrderId"],
    [`externalOrderId=${"x".repeat(201)}`, "externalOrderId"],
    ["externalOrderId=x&connectionId=mer_1", "connectionId"],
    ["externalOrderId=x&cursor=x", "cursor"],
  ])("%s is 422", async (query, parameter) => {
    const answer = await test.backOffice.get(`/api/order-references?${query}`);
    expectErrors(answer, [{ parameter }]);
  });
});

describe("GET /api/orders/export", () => {
  it("returns 404 for a connection of another merchant, and 422 for what is no id or no time", async () => {
    const both = `merchantId=${other.merchantId}&connectionId=${partner.connectionId}`;
    expectProblem(await test.backOffice.get(`/api/orders/export?${both}`), 404, "not-found");
    const wrong = await test.backOffice.get("/api/orders/export?merchantId=x&connectionId=y");
    expectErrors(wrong, [{ parameter: "merchantId" }, { parameter: "connectionId" }]);
    expect((await test.backOffice.get("/api/orders/export?since=yesterday")).status).toBe(422);
    expect((await test.backOffice.get("/api/orders/export?format=xml")).status).toBe(422);
  });

  it.each(["until=0000-01-01T00:00:00Z", "until=2016-12-31T23:59:60Z", "since=9999-12-31T23:59:59Z"])(
    "is a whole file without orders: %s",
    async (query) => {
      await placeOrder(partner);
      const { status, body } = await test.backOffice.get(`/api/orders/export?${query}`);
      expect(status).toBe(200);
      expect(body).toMatch(/^orderId,[^\n]*\r?\n$/);
    },
  );
});

describe("GET /api/orders", () => {
  it("shows the value of the goods of each order", async () => {
    const { id } = await placeOrder(partner, {
      lines: partner.productIds.map((productId) => ({ productId, quantity: 3 })),
    });
    const [listed] = (await test.backOffice.get(`/api/orders?q=${id}`)).body.data;
    expect(listed.goods).toEqual((await test.backOffice.get(`/api/orders/${id}`)).body.goods);
    expect(listed.goods).toEqual({ amount: "60.00", currency: "EUR" });
  });
});
