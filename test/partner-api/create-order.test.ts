import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  anAddress,
  anOrder,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import { requestOrder } from "../support/order-requests.ts";
import { expectNothingHappened, expectProblem, readOrder, readOrderEvents } from "../support/orders.ts";
import { applied } from "../support/sandbox.ts";
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

const create = (fields?: object) => requestOrder(partner, fields);

describe("POST /v1/orders", () => {
  it("returns 201 with the create fields, and no others", async () => {
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

  it("returns the path of the order in Location", async () => {
    const { headers, body } = await create();
    expect(headers["location"]).toBe(`/v1/orders/${body.id}`);
    expect((await partner.client.get(headers["location"] ?? "")).body.id).toBe(body.id);
  });

  it("does not mark a first creation as a replay", async () => {
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
      {
        ...line,
        id: expect.stringMatching(/^line_[0-9a-z]{26}$/),
        shipmentId: null,
        returnedQuantity: 0,
        canceledQuantity: 0,
      },
    ]);
  });
});

describe("POST /v1/orders, its event", () => {
  it("publishes order.created as the first event, with the order as GET returns it", async () => {
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

  it("freezes the event: later transitions do not change its body", async () => {
    const { id } = await placeTestOrder(partner);
    const [published] = await readOrderEvents(test, partner);
    test.clock.advance({ minutes: 1 });
    await applied(partner, id, "cancel");
    const events = await readOrderEvents(test, partner);
    expect(events.map(({ type, sequence }) => [type, sequence])).toEqual([
      ["order.created", 1],
      ["order.canceled", 2],
    ]);
    expect(JSON.stringify(events[0])).toBe(JSON.stringify(published));
  });
});

describe("POST /v1/orders, without a valid key", () => {
  it("returns 401 before it reads the body, and stores nothing", async () => {
    for (const client of [test.partner(), test.partner("not-a-key")]) {
      expectProblem(await client.post("/v1/orders", anOrder(partner)), 401, "unauthorized");
      expectProblem(await client.request("POST", "/v1/orders", { rawBody: "{" }), 401, "unauthorized");
    }
    await expectNothingHappened(test, partner);
  });
});
