import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  anAddress,
  anOrder,
  createExposedProduct,
  createPartner,
  createProduct,
  exposeProduct,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import {
  expectFaults,
  expectNothingHappened,
  expectProblem,
  readOrder,
  readOrderEvents,
  readStoredOrders,
  transition,
  withoutItsOwn,
} from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const create = (fields: object = {}, by = partner) => by.client.post("/v1/orders", anOrder(by, fields));
const linesOf = (...productIds: string[]) => productIds.map((productId) => ({ productId, quantity: 1 }));

describe("POST /v1/orders", () => {
  it("answers 201 with the create fields, and no others", async () => {
    const [mug, shirt] = partner.productIds;
    const lines = [
      { productId: shirt, quantity: 3 },
      { productId: mug, quantity: 1 },
    ];
    const { status, body, headers } = await create({ externalOrderId: "shop-1", lines });
    expect(status).toBe(201);
    expect(headers["content-type"]).toMatch(/^application\/json/);
    expect(body).toEqual({
      id: expect.stringMatching(/^ord_[0-9a-z]{26}$/),
      testMode: false,
      status: "NEW",
      createdAt: test.clock.now().toISOString(),
      externalOrderId: "shop-1",
      lines,
    });
  });

  it("tells in Location where the order can be read", async () => {
    const { headers, body } = await create();
    expect(headers["location"]).toBe(`/v1/orders/${body.id}`);
    expect((await partner.client.get(headers["location"] ?? "")).body.id).toBe(body.id);
  });

  it("does not call a first creation a replay", async () => {
    expect((await create()).headers).not.toHaveProperty("idempotent-replayed");
  });

  it("makes a test order, with a test_ id, when testMode is true", async () => {
    const { status, body } = await create({ testMode: true });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^test_[0-9a-z]{26}$/),
      testMode: true,
      status: "NEW",
    });
  });

  it("makes a real order when testMode is false", async () => {
    expect((await create({ testMode: false })).body).toMatchObject({
      id: expect.stringMatching(/^ord_/),
      testMode: false,
    });
  });

  it("has no external id when only the header is sent", async () => {
    const request = anOrder(partner, { externalOrderId: undefined });
    const { status, body } = await partner.client.post("/v1/orders", request, {
      headers: { "idempotency-key": "key-1" },
    });
    expect(status).toBe(201);
    expect(body.externalOrderId).toBeNull();
    expect((await readOrder(partner, body.id)).externalOrderId).toBeNull();
  });

  it("keeps lines of the same product apart", async () => {
    const [productId] = partner.productIds;
    const lines = [
      { productId, quantity: 1 },
      { productId, quantity: 2 },
    ];
    const { id } = await placeOrder(partner, { lines });
    expect((await readOrder(partner, id)).lines).toMatchObject(lines);
  });

  it("ignores unknown fields", async () => {
    const order = anOrder(partner, { status: "COMPLETED", id: "ord_1", price: { amount: "1.00" } });
    const address = anAddress({ planet: "Earth" });
    const [line] = order.lines;
    const { status, body } = await partner.client.post("/v1/orders", {
      ...order,
      shippingAddress: address,
      lines: [{ ...line, id: "line_1", shipmentId: "shp_1", unitPrice: 1 }],
    });
    expect(status).toBe(201);
    expect(body.status).toBe("NEW");
    const read = await readOrder(partner, body.id);
    expect(read.shippingAddress).not.toHaveProperty("planet");
    expect(read.lines).toEqual([
      { ...line, id: expect.stringMatching(/^line_[0-9a-z]{26}$/), shipmentId: null },
    ]);
  });
});

describe("POST /v1/orders, its event", () => {
  it("tells order.created as the first event, with the order as GET answers it", async () => {
    const { id } = await placeOrder(partner);
    expect(await readOrderEvents(test, partner)).toEqual([
      {
        id: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
        type: "order.created",
        timestamp: test.clock.now().toISOString(),
        testMode: false,
        connectionId: partner.connectionId,
        sequence: 1,
        data: { order: await readOrder(partner, id) },
      },
    ]);
  });

  it("marks a test order's event with testMode", async () => {
    const { id } = await placeTestOrder(partner);
    const [event] = await readOrderEvents(test, partner);
    expect(event).toMatchObject({ type: "order.created", sequence: 1, testMode: true });
    expect(event.data).toEqual({ order: await readOrder(partner, id) });
  });

  it("freezes the event: later steps do not change what was told", async () => {
    const { id } = await placeTestOrder(partner);
    const [told] = await readOrderEvents(test, partner);
    test.clock.advance({ minutes: 1 });
    await transition(partner, id, "cancel");
    const events = await readOrderEvents(test, partner);
    expect(events.map(({ type, sequence }) => [type, sequence])).toEqual([
      ["order.created", 1],
      ["order.canceled", 2],
    ]);
    expect(JSON.stringify(events[0])).toBe(JSON.stringify(told));
  });
});

describe("POST /v1/orders, rule 5: products that are not the connection's", () => {
  it.each([
    ["does not exist", async () => "01890a5d-ac96-774b-bcce-b302099a8057"],
    ["is not exposed", () => createProduct(test, partner.merchantId)],
    ["is another merchant's", async () => (await createPartner(test)).productIds[0]],
    [
      "was withdrawn",
      async () => {
        const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
        await test.backOffice.request("DELETE", `/api/connections/${partner.connectionId}/products/${id}`);
        return id;
      },
    ],
    [
      "is exposed to another connection of the merchant only",
      async () => {
        const path = `/api/merchants/${partner.merchantId}/connections`;
        const { body: other } = await test.backOffice.post(path, { name: "Other" });
        return createExposedProduct(test, partner.merchantId, other.id);
      },
    ],
  ])("refuses a product that %s with 422, in the same words for all", async (_, makeProduct) => {
    const refused = await create({ lines: linesOf(partner.productIds[0], await makeProduct()) });
    expectFaults(refused, [{ pointer: "/lines/1/productId" }]);
    const missing = "00000000-0000-7000-8000-000000000000";
    const reference = await create({ lines: linesOf(partner.productIds[0], missing) });
    expect(withoutItsOwn(refused)).toBe(withoutItsOwn(reference));
    await expectNothingHappened(test, partner);
  });

  it("tells every line that names one", async () => {
    const missing = "00000000-0000-7000-8000-000000000000";
    const refused = await create({ lines: linesOf(missing, partner.productIds[0], missing) });
    expectFaults(refused, [{ pointer: "/lines/0/productId" }, { pointer: "/lines/2/productId" }]);
  });

  it("takes the product once it is exposed: the refused request has not used its key up", async () => {
    const productId = await createProduct(test, partner.merchantId);
    const request = anOrder(partner, { lines: linesOf(productId) });
    expect((await partner.client.post("/v1/orders", request)).status).toBe(422);
    await exposeProduct(test, partner.connectionId, productId);
    expect((await partner.client.post("/v1/orders", request)).status).toBe(201);
  });
});

describe("POST /v1/orders, rule 6: discontinued products", () => {
  async function createDiscontinued(): Promise<string> {
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    await test.backOffice.request("PATCH", `/api/products/${id}`, { body: { status: "discontinued" } });
    return id;
  }

  it("refuses a discontinued product with 422 validation-failed", async () => {
    const refused = await create({ lines: linesOf(await createDiscontinued()) });
    expectFaults(refused, [{ pointer: "/lines/0/productId" }]);
    await expectNothingHappened(test, partner);
  });

  it("uses other words than for a missing one, and tells both at once", async () => {
    const missing = "00000000-0000-7000-8000-000000000000";
    const refused = await create({ lines: linesOf(missing, await createDiscontinued()) });
    expectFaults(refused, [{ pointer: "/lines/0/productId" }, { pointer: "/lines/1/productId" }]);
    const [ofMissing, ofDiscontinued] = refused.body.errors;
    expect(ofDiscontinued.detail).toContain("discontinued");
    expect(ofDiscontinued.detail).not.toBe(ofMissing.detail);
  });

  it("does not tell that a product is discontinued when it is not exposed", async () => {
    const id = await createProduct(test, partner.merchantId);
    await test.backOffice.request("PATCH", `/api/products/${id}`, { body: { status: "discontinued" } });
    const refused = await create({ lines: linesOf(id) });
    expect(refused.body.errors[0].detail).not.toContain("discontinued");
  });
});

describe("POST /v1/orders, additional review", () => {
  const policies: [string, object, object, object][] = [
    ["more pieces than maxQuantity", { maxQuantity: 5 }, { quantities: [3, 3] }, { quantities: [3, 2] }],
    [
      "more worth than maxOrderValue",
      { maxOrderValue: { amount: "30.00", currency: "EUR" } },
      { quantities: [4] },
      { quantities: [3] },
    ],
    [
      "another country than those of countries",
      { countries: ["GB", "us"] },
      { countryCode: "fr" },
      { countryCode: "Us" },
    ],
  ];

  function fieldsOf(
    by: Partner,
    { quantities = [1], countryCode = "GB" }: { quantities?: number[]; countryCode?: string },
  ) {
    const lines = quantities.map((quantity) => ({ productId: by.productIds[0], quantity }));
    return { lines, shippingAddress: anAddress({ countryCode }) };
  }

  describe.each([
    ["real", false],
    ["test", true],
  ])("of a %s order", (_kind, testMode) => {
    it.each(policies)("begins in PROCESSING with %s", async (_, reviewPolicy, outside) => {
      const reviewed = await createPartner(test, { reviewPolicy });
      const { body } = await create({ ...fieldsOf(reviewed, outside), testMode }, reviewed);
      expect(body.status).toBe("PROCESSING");
      expect(await readOrder(reviewed, body.id)).toMatchObject({
        status: "PROCESSING",
        cancelableUntil: null,
      });
      const [event] = await readOrderEvents(test, reviewed);
      expect(event).toMatchObject({ type: "order.created", data: { order: { status: "PROCESSING" } } });
    });

    it.each(policies)(
      "begins in NEW at the limit, not with %s",
      async (_, reviewPolicy, _outside, atLimit) => {
        const reviewed = await createPartner(test, { reviewPolicy });
        const { body } = await create({ ...fieldsOf(reviewed, atLimit), testMode }, reviewed);
        expect(body.status).toBe("NEW");
      },
    );
  });

  it("replays an order under the policy it was placed with", async () => {
    const request = anOrder(partner);
    await partner.client.post("/v1/orders", request);
    const reviewPolicy = { countries: ["FR"] };
    await test.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, {
      body: { reviewPolicy },
    });
    expect((await partner.client.post("/v1/orders", request)).body.status).toBe("NEW");
    expect((await create()).body.status).toBe("PROCESSING");
    expect(await readStoredOrders(test, partner)).toHaveLength(2);
  });
});

describe("POST /v1/orders, without a valid key", () => {
  it("answers 401 before it looks at the body, and stores nothing", async () => {
    for (const client of [test.partner(), test.partner("not-a-key")]) {
      expectProblem(await client.post("/v1/orders", anOrder(partner)), 401, "unauthorized");
      expectProblem(await client.request("POST", "/v1/orders", { rawBody: "{" }), 401, "unauthorized");
    }
    await expectNothingHappened(test, partner);
  });
});
