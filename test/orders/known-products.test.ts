import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { placementOf } from "../../src/orders/creation/create-order.ts";
import { KnownProducts, type Placed, placeOrders } from "../../src/orders/creation/place-orders.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import {
  anAddress,
  anOrder,
  createExposedProduct,
  createPartner,
  exposeProduct,
  type Partner,
} from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

// See docs/design/creating-orders.md, "Known products".

let test: TestService;
let partner: Partner;
let other: Partner;
let placing: ReturnType<typeof newProcess>;
beforeAll(async () => {
  test = await startTestService();
  other = await createPartner(test);
});
beforeEach(async () => {
  partner = await createPartner(test);
  placing = newProcess();
});
afterAll(() => test.close());

/** What a process of its own places, how many products PostgreSQL has returned to it, and how many calls stored orders. */
function newProcess() {
  const counts = { products: 0, calls: 0 };
  const query: Queryable["query"] = async (statement) => {
    const rows = await test.db.query(statement);
    if (statement.name === "read-orderable-products") counts.products += rows.length;
    if (statement.name === "place-orders") counts.calls += 1;
    return rows as never; // The rows are those of the statement.
  };
  const context = { ...test.context, db: { ...test.db, query } };
  const known = new KnownProducts();
  let keys = 0;
  const placements = (by: Partner, fields: object) => {
    keys += 1;
    return placementOf(connectionKey(by), `key-${keys}`, anOrder(by, fields), undefined);
  };
  const placeAll = (orders: readonly { by: Partner; fields?: object }[]): Promise<Placed[]> =>
    placeOrders(
      context,
      orders.map(({ by, fields = {} }) => placements(by, fields)),
      known,
    );
  const place = async (fields: object = {}): Promise<Placed | undefined> =>
    (await placeAll([{ by: partner, fields }]))[0];
  return { place, placeAll, counts };
}

const change = (productId: string, body: object) =>
  test.backOffice.request("PATCH", `/api/products/${productId}`, { body });

const changePolicy = (reviewPolicy: object) =>
  test.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, { body: { reviewPolicy } });

const withdraw = (productId: string) =>
  test.backOffice.request("DELETE", `/api/connections/${partner.connectionId}/products/${productId}`);

describe("a product that a process has read for an order before", () => {
  it("is not read again while it is unchanged", async () => {
    for (let n = 0; n < 3; n += 1) expect(await placing.place()).toMatchObject({ outcome: "created" });
    expect(placing.counts).toEqual({ products: 1, calls: 3 });
  });

  it("is read again for the next order after its price has changed, which is charged", async () => {
    await placing.place();
    await change(partner.productIds[0], { price: { amount: "12.34", currency: "EUR" } });
    expect(await placing.place()).toMatchObject({ outcome: "created", goodsMinor: 1_234n });
    expect(await placing.place()).toMatchObject({ outcome: "created", goodsMinor: 1_234n });
    expect(placing.counts).toEqual({ products: 2, calls: 4 });
    const prices = await test.db.query({
      name: "test-prices-of-product",
      text: "select unit_price_minor as price from order_lines where product_id = $1 order by order_id",
      values: [partner.productIds[0]],
    });
    expect(prices).toEqual([{ price: 1_000n }, { price: 1_234n }, { price: 1_234n }]);
  });

  it("cannot be ordered once it is discontinued, and can be again later", async () => {
    const [productId] = partner.productIds;
    await placing.place();
    await change(productId, { status: "discontinued" });
    const rejected = { outcome: "content-rejected", lines: [{ index: 0, reason: "discontinued" }] };
    expect(await placing.place()).toMatchObject(rejected);
    expect(await placing.place()).toMatchObject(rejected);
    await change(productId, { status: "active" });
    expect(await placing.place()).toMatchObject({ outcome: "created" });
  });

  it("cannot be ordered once it is withdrawn, and can be again later", async () => {
    const [productId] = partner.productIds;
    await placing.place();
    await withdraw(productId);
    const rejected = { outcome: "content-rejected", lines: [{ index: 0, reason: "unknown" }] };
    expect(await placing.place()).toMatchObject(rejected);
    expect(await placing.place()).toMatchObject(rejected);
    await exposeProduct(test, partner.connectionId, productId);
    expect(await placing.place()).toMatchObject({ outcome: "created" });
  });

  it("is named beside all other faults of an order, once it is discontinued", async () => {
    const [known, withdrawn] = partner.productIds;
    await placing.place();
    await withdraw(withdrawn);
    await change(known, { status: "discontinued" });
    const lines = [withdrawn, known].map((productId) => ({ productId, quantity: 1 }));
    expect(await placing.place({ lines, shippingAddress: anAddress({ countryCode: "XX" }) })).toEqual({
      outcome: "content-rejected",
      countryCode: "XX",
      lines: [
        { index: 0, reason: "unknown" },
        { index: 1, reason: "discontinued" },
      ],
    });
  });

  it("is named before the limit of test orders, once it is discontinued", async () => {
    expect(await placing.place({ testMode: true })).toMatchObject({ outcome: "created" });
    const limits = { testOrders: 1 };
    const path = `/api/connections/${partner.connectionId}`;
    expect((await test.backOffice.request("PATCH", path, { body: { limits } })).status).toBe(200);
    expect(await placing.place({ testMode: true })).toEqual({ outcome: "limit-reached", maximum: 1 });
    await change(partner.productIds[0], { status: "discontinued" });
    expect(await placing.place({ testMode: true })).toMatchObject({
      outcome: "content-rejected",
      lines: [{ index: 0, reason: "discontinued" }],
    });
  });

  it.each([
    ["the number of units", { maxQuantity: 1 }],
    ["the value", { maxOrderValue: { amount: "10.00", currency: "EUR" } }],
    ["the countries", { countries: ["FR", "CH"] }],
  ])("is ordered by the review policy of now: %s", async (_, policy) => {
    const two = { lines: [{ productId: partner.productIds[0], quantity: 2 }] };
    expect(await placing.place(two)).toMatchObject({ order: { status: "NEW" } });
    expect((await changePolicy(policy)).status).toBe(200);
    expect(await placing.place(two)).toMatchObject({ order: { status: "PROCESSING" } });
    expect(await placing.place(two)).toMatchObject({ order: { status: "PROCESSING" } });
    expect((await changePolicy({ maxQuantity: null, maxOrderValue: null, countries: null })).status).toBe(
      200,
    );
    expect(await placing.place(two)).toMatchObject({ order: { status: "NEW" } });
  });

  it("is not another connection's", async () => {
    await placing.place();
    const lines = [{ productId: partner.productIds[0], quantity: 1 }];
    const [placed] = await placing.placeAll([{ by: other, fields: { lines } }]);
    expect(placed).toMatchObject({ outcome: "content-rejected", lines: [{ index: 0, reason: "unknown" }] });
  });

  it("has changed: only its orders are placed again, with all of their lines, and no order twice", async () => {
    const [first, second] = partner.productIds;
    const third = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    const orders = [
      { by: other },
      { by: partner, fields: { lines: [first, second].map((productId) => ({ productId, quantity: 1 })) } },
      { by: partner, fields: { lines: [{ productId: third, quantity: 1 }] } },
    ];
    await placing.placeAll(orders);
    await change(first, { price: { amount: "20.00", currency: "EUR" } });
    const placed = await placing.placeAll(orders);
    expect(placed.map((one) => one.outcome === "created" && one.goodsMinor)).toEqual([
      1_000n,
      3_000n,
      1_000n,
    ]);
    // At first all four, then those of the order that was left.
    expect(placing.counts.products).toBe(4 + 2);
    const [stored] = await test.db.query({
      name: "test-rows-of-merchant",
      text: `
        select (select count(*)::int from orders where merchant_id = $1) as orders,
               (select count(*)::int from order_lines where merchant_id = $1) as order_lines,
               (select count(*)::int from events where merchant_id = $1 and order_id is not null) as events,
               (select count(*)::int from due_payments where merchant_id = $1) as due_payments`,
      values: [connectionKey(partner).merchantId],
    });
    expect(stored).toEqual({ orders: 4, order_lines: 6, events: 4, due_payments: 4 });
  });

  it.each([
    ["place", new KnownProducts(1)],
    ["length of terms", new KnownProducts(2, "(active,1000,EUR,,,)".length)],
  ])("is forgotten when its %s is needed, and read again", async (_, known) => {
    const [first, second] = partner.productIds;
    const requested = [first, second].map((productId) => ({ ...connectionKey(partner), productId }));
    const placement = (key: string, productId: string) =>
      placementOf(connectionKey(partner), key, anOrder(partner, { lines: [{ productId, quantity: 1 }] }), "");
    await placeOrders(test.context, [placement("a", first)], known);
    expect([...known.among(requested).values()]).toMatchObject([{ productId: first }]);
    await placeOrders(test.context, [placement("b", second)], known);
    expect([...known.among(requested).values()]).toMatchObject([{ productId: second }]);
  });
});
