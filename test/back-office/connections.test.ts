import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { untilBlocked } from "../support/blocked.ts";
import {
  countRows,
  createExposedProduct,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const NO_POLICY = { maxQuantity: null, maxOrderValue: null, countries: null, version: expect.any(String) };
const connectionsPath = () => `/api/merchants/${partner.merchantId}/connections`;
const create = (fields: object = {}) =>
  test.backOffice.post(connectionsPath(), { name: "Connection", ...fields });
const change = (id: string, body: object): Promise<Answer> =>
  test.backOffice.request("PATCH", `/api/connections/${id}`, { body });

describe("POST /api/merchants/{id}/connections", () => {
  it("creates a connection whose orders need no review", async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^con_[0-9a-z]{26}$/),
      merchantId: partner.merchantId,
      merchantName: "Merchant",
      name: "Connection",
      reviewPolicy: NO_POLICY,
      limits: expect.any(Object),
      apiUrl: test.context.config.baseUrl,
      liveAgents: false,
      certificationMaxAgeDays: null,
      certifiedAt: null,
      createdAt: test.clock.now().toISOString(),
      endsAt: null,
    });
    expect((await test.backOffice.get(`/api/connections/${body.id}`)).body).toEqual(body);
  });

  it("stores a review policy as it was sent, with countries in upper case", async () => {
    const maxOrderValue = { amount: "500", currency: "EUR" };
    const { body } = await create({
      reviewPolicy: { maxQuantity: 5, maxOrderValue, countries: ["de", "FR"] },
    });
    expect(body.reviewPolicy).toEqual({
      maxQuantity: 5,
      maxOrderValue: { amount: "500.00", currency: "EUR" },
      countries: ["DE", "FR"],
      version: expect.any(String),
    });
    expect((await test.backOffice.get(`/api/connections/${body.id}`)).body).toEqual(body);
  });

  it("has neither keys nor products", async () => {
    const { body } = await create();
    expect((await test.backOffice.get(`/api/connections/${body.id}/keys`)).body.data).toEqual([]);
  });

  it.each<[string, object, string]>([
    ["no name", { name: undefined }, "/name"],
    ["an empty name", { name: "" }, "/name"],
    ["a name of 256 characters", { name: "x".repeat(256) }, "/name"],
    ["a policy that is a text", { reviewPolicy: "strict" }, "/reviewPolicy"],
    ["a quantity of 0", { reviewPolicy: { maxQuantity: 0 } }, "/reviewPolicy/maxQuantity"],
    ["a broken quantity", { reviewPolicy: { maxQuantity: 1.5 } }, "/reviewPolicy/maxQuantity"],
    ["a quantity that is a text", { reviewPolicy: { maxQuantity: "5" } }, "/reviewPolicy/maxQuantity"],
    ["a quantity out of range", { reviewPolicy: { maxQuantity: 2 ** 31 } }, "/reviewPolicy/maxQuantity"],
    ["a country of three letters", { reviewPolicy: { countries: ["DEU"] } }, "/reviewPolicy/countries/0"],
    ["a country of no letters", { reviewPolicy: { countries: ["DE", "1!"] } }, "/reviewPolicy/countries/1"],
    [
      "a value in another currency",
      { reviewPolicy: { maxOrderValue: { amount: "1.00", currency: "USD" } } },
      "/reviewPolicy/maxOrderValue",
    ],
    [
      "a value with too many decimals",
      { reviewPolicy: { maxOrderValue: { amount: "1.001", currency: "EUR" } } },
      "/reviewPolicy/maxOrderValue",
    ],
    [
      "a value that is no amount",
      { reviewPolicy: { maxOrderValue: { amount: "-1", currency: "EUR" } } },
      "/reviewPolicy/maxOrderValue/amount",
    ],
  ])("rejects %s with 422", async (_title, fields, pointer) => {
    const before = await countRows(test, "connections");
    const { status, body } = await create(fields);
    expect(status, JSON.stringify(body)).toBe(422);
    expect(body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
    expect(await countRows(test, "connections")).toBe(before);
  });

  it("returns 404 for a missing merchant", async () => {
    const path = "/api/merchants/mer_01hzzzzzzzzzzzzzzzzzzzzzzz/connections";
    expect((await test.backOffice.post(path, { name: "x" })).status).toBe(404);
  });
});

describe("PATCH /api/connections/{id}", () => {
  it("changes only what is sent", async () => {
    const { body: connection } = await create({ reviewPolicy: { maxQuantity: 5 } });
    const renamed = await change(connection.id, { name: "Renamed" });
    expect(renamed).toMatchObject({ status: 200, body: { ...connection, name: "Renamed" } });
    const same = await change(connection.id, {});
    expect(same.body).toEqual(renamed.body);
    expect((await test.backOffice.get(`/api/connections/${connection.id}`)).body).toEqual(renamed.body);
  });

  it("replaces the whole review policy", async () => {
    const { body } = await create({ reviewPolicy: { maxQuantity: 5, countries: ["DE"] } });
    const changed = await change(body.id, { reviewPolicy: { countries: ["FR"] } });
    expect(changed.body.reviewPolicy).toEqual({ ...NO_POLICY, countries: ["FR"] });
    expect((await change(body.id, { reviewPolicy: {} })).body.reviewPolicy).toEqual(NO_POLICY);
  });

  it("keeps the identity: id, merchant and creation time cannot be changed", async () => {
    const { body } = await create();
    test.clock.advance({ minutes: 1 });
    const other = (await createPartner(test)).merchantId;
    const fields = { id: "con_x", merchantId: other, createdAt: "2020-01-01T00:00:00Z", name: "New" };
    expect((await change(body.id, fields)).body).toEqual({ ...body, name: "New" });
  });

  it("rejects errors with 422 and changes nothing, not even the valid fields", async () => {
    const { body } = await create();
    const before = await dumpTables(test);
    for (const reviewPolicy of [{ maxQuantity: 0 }, { maxOrderValue: { amount: "1", currency: "USD" } }])
      expect((await change(body.id, { name: "New", reviewPolicy })).status).toBe(422);
    expect((await change(body.id, { name: "" })).status).toBe(422);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("returns 404 for a missing one", async () => {
    expect((await change("con_01hzzzzzzzzzzzzzzzzzzzzzzz", { name: "x" })).status).toBe(404);
    expect((await change("none", { name: "x" })).status).toBe(404);
  });

  it("loses neither of two changes that are made at the same time", async () => {
    const own = await createPartner(test);
    const { merchantId, connectionId } = connectionKey(own);
    // Both changes are under way before either can be stored: a foreign lock holds them up.
    const changes = await test.db.withClient(async (client) => {
      await client.query("begin");
      await client.query("select from connections where merchant_id = $1 and id = $2 for update", [
        merchantId,
        connectionId,
      ]);
      const underway = [
        change(own.connectionId, { name: "Renamed" }),
        change(own.connectionId, { reviewPolicy: { maxQuantity: 7 } }),
      ];
      await untilBlocked(test, 2);
      await client.query("commit");
      return Promise.all(underway);
    });
    expect(changes.map(({ status }) => status)).toEqual([200, 200]);
    const { body } = await test.backOffice.get(`/api/connections/${own.connectionId}`);
    expect(body).toMatchObject({ name: "Renamed", reviewPolicy: { maxQuantity: 7 } });
  });
});

describe("the review policy: an order that exceeds it starts in PROCESSING", () => {
  const withPolicy = (reviewPolicy: object) => createPartner(test, { reviewPolicy });
  const orderOf = (own: Partner, quantities: number[], countryCode = "GB") => ({
    lines: quantities.map((quantity, index) => ({ productId: own.productIds[index % 2], quantity })),
    shippingAddress: { firstName: "A", lastName: "B", address1: "1", city: "C", zip: "Z", countryCode },
  });

  it.each<[string, object, number[], string, string]>([
    ["at the quantity", { maxQuantity: 5 }, [2, 3], "GB", "NEW"],
    ["over the quantity, in all lines together", { maxQuantity: 5 }, [3, 3], "GB", "PROCESSING"],
    ["at the value", { maxOrderValue: { amount: "50.00", currency: "EUR" } }, [2, 3], "GB", "NEW"],
    ["over the value", { maxOrderValue: { amount: "59.99", currency: "EUR" } }, [3, 3], "GB", "PROCESSING"],
    ["a country of the list, in other letters", { countries: ["gb"] }, [1], "Gb", "NEW"],
    ["a country outside the list", { countries: ["DE", "FR"] }, [1], "GB", "PROCESSING"],
    ["an empty list: no country ships without review", { countries: [] }, [1], "GB", "PROCESSING"],
    ["one limit is enough", { maxQuantity: 100, countries: ["DE"] }, [1], "GB", "PROCESSING"],
    ["no policy", {}, [100_000, 100_000], "GB", "NEW"],
  ])("%s", async (_title, policy, quantities, countryCode, status) => {
    const own = await withPolicy(policy);
    const fields = orderOf(own, quantities, countryCode);
    expect((await placeOrder(own, fields)).status).toBe(status);
    expect((await placeTestOrder(own, fields)).status).toBe(status);
  });

  it("counts the price at the time of the order", async () => {
    const own = await withPolicy({ maxOrderValue: { amount: "10.00", currency: "EUR" } });
    expect((await placeOrder(own)).status).toBe("NEW");
    const price = { amount: "10.01", currency: "EUR" };
    await test.backOffice.request("PATCH", `/api/products/${own.productIds[0]}`, { body: { price } });
    expect((await placeOrder(own)).status).toBe("PROCESSING");
  });

  it("applies to new orders after a change, and not to existing ones", async () => {
    const own = await withPolicy({});
    const before = await placeOrder(own);
    await change(own.connectionId, { reviewPolicy: { countries: [] } });
    expect((await placeOrder(own)).status).toBe("PROCESSING");
    expect((await own.client.get(`/v1/orders/${before.id}`)).body.status).toBe("NEW");
  });

  it("is of one connection, not of its merchant's others", async () => {
    const own = await withPolicy({ countries: [] });
    const { body } = await test.backOffice.post(`/api/merchants/${own.merchantId}/connections`, {
      name: "x",
    });
    const { key } = (await test.backOffice.post(`/api/connections/${body.id}/keys`, {})).body;
    const productId = await createExposedProduct(test, own.merchantId, body.id);
    const other = {
      ...own,
      client: test.partner(key),
      productIds: [productId, productId] as [string, string],
    };
    expect((await placeOrder(other)).status).toBe("NEW");
  });
});
