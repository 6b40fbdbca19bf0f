import { beforeEach, describe, expect, it } from "vitest";
import { created, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { acceptAll, createFacility, routeAll, setStock } from "../support/facilities.ts";
import { importCsv } from "../support/imports.ts";
import { runJob } from "../support/jobs.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

// docs/design/event-feed.md, "Low stock".

let test: TestService;
let partner: Partner;
let facilityId: string;
let product: string;
beforeEach(async () => {
  test = await startServiceForTest({
    config: { webhookAllowPrivateNetworks: true, webhookRetryMs: [60_000] },
  });
  partner = await createPartner(test);
  facilityId = await createFacility(test);
  product = partner.productIds[0] ?? "";
  await limit(10);
  await setStock(test, facilityId, product, 20);
});

const publish = () => runJob(test, "publish-events");
const limit = async (lowStockBelow: number | null): Promise<void> => {
  const answer = await test.backOffice.request("PATCH", `/api/products/${product}`, {
    body: { lowStockBelow },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
};
/** An endpoint. The result returns what it has received since the last call. */
async function receiving(path: string, fields: object = { eventTypes: ["stock.low"] }) {
  const receiver = await startReceiverForTest();
  const { id } = await created(
    test.backOffice.post(`${path}/webhook-endpoints`, { url: receiver.url, ...fields }),
  );
  let seen = 0;
  const next = async () => {
    await publish();
    const dispatcher = startDispatcher(test);
    for (let round = 0; round < 3; round += 1) await sendDue(dispatcher);
    const arrived = receiver.requests.slice(seen).map(({ body }) => JSON.parse(body));
    seen += arrived.length;
    return arrived;
  };
  return { id, next };
}
const ofMerchant = (fields?: object) => receiving(`/api/merchants/${partner.merchantId}`, fields);
const ofFacility = (id = facilityId) => receiving(`/api/facilities/${id}`);
const count = (onHand: number, at = facilityId) => setStock(test, at, product, onHand);
const available = (events: { data: { stock: { available: number } } }[]) =>
  events.map(({ data }) => data.stock.available);

async function reserve(quantity: number): Promise<string> {
  const { id } = await placeOrder(partner, { lines: [{ productId: product, quantity }] });
  await acceptAll(test);
  await routeAll(test);
  return id;
}

describe("stock.low", () => {
  it("is published to the merchant and the facility with the stock, when fewer are available than the limit", async () => {
    const [merchant, facility] = [await ofMerchant(), await ofFacility()];
    await count(10);
    for (const { next } of [merchant, facility]) expect(await next()).toEqual([]);
    await count(9);
    const [told] = await merchant.next();
    const [toldThere] = await facility.next();
    const { body: stock } = await test.backOffice.get(`/api/facilities/${facilityId}/stock/${product}`);
    expect(told).toMatchObject({ type: "stock.low", merchantId: partner.merchantId, facilityId: null });
    expect(toldThere).toMatchObject({ type: "stock.low", merchantId: null, facilityId });
    for (const { data } of [told, toldThere]) expect(data).toEqual({ stock, lowStockBelow: 10 });
  });

  it("is published once for each fall, and again only after the stock has risen", async () => {
    const { next } = await ofMerchant();
    const seen: number[][] = [];
    for (const onHand of [9, 8, 0, 9, 10, 9, 30, 1]) {
      await count(onHand);
      seen.push(available(await next()));
    }
    expect(seen).toEqual([[9], [], [], [], [], [9], [], [1]]);
  });

  it("counts what is reserved for orders, and rises when it is released", async () => {
    const { next } = await ofMerchant();
    const id = await reserve(11);
    expect(available(await next())).toEqual([9]);
    expect((await test.backOffice.post(`/api/orders/${id}/ship`, {})).status).toBe(200);
    expect(await next()).toEqual([]); // As many are available as before.
    await count(20);
    expect(await next()).toEqual([]);
    const other = await reserve(15);
    expect(available(await next())).toEqual([5]);
    expect((await test.backOffice.post(`/api/orders/${other}/cancel`, {})).status).toBe(200);
    expect(await next()).toEqual([]);
    await reserve(12);
    expect(available(await next())).toEqual([8]);
  });

  it("is of each facility alone, and a facility is told of its own stock only", async () => {
    const elsewhere = await createFacility(test);
    const [merchant, other] = [await ofMerchant(), await ofFacility(elsewhere)];
    await count(5);
    await count(6, elsewhere);
    expect(available(await merchant.next()).sort()).toEqual([5, 6]);
    expect(available(await other.next())).toEqual([6]);
  });

  it("follows the limit of the product: a higher one is compared at once, none is never low", async () => {
    const elsewhere = await createFacility(test);
    const [{ next }, facility, other] = [await ofMerchant(), await ofFacility(), await ofFacility(elsewhere)];
    await limit(21);
    expect(available(await next())).toEqual([20]);
    expect(available(await facility.next())).toEqual([20]);
    expect(await other.next()).toEqual([]); // It has none of the product.
    await limit(null);
    await count(1);
    expect(await next()).toEqual([]);
    await limit(2);
    expect(available(await next())).toEqual([1]);
  });

  it("is published once, whichever workers publish while orders and counts change the stock", async () => {
    const { next } = await ofMerchant();
    await Promise.all([count(5), count(4), publish(), publish(), count(3), publish()]);
    await Promise.all([publish(), publish(), publish()]);
    expect(await next()).toHaveLength(1);
  });

  it("is published again for an endpoint that was created after all were deleted", async () => {
    const path = `/api/merchants/${partner.merchantId}`;
    const first = await ofMerchant();
    await count(5);
    expect(await first.next()).toHaveLength(1);
    await test.backOffice.request("DELETE", `${path}/webhook-endpoints/${first.id}`);
    await count(50);
    const second = await ofMerchant();
    await count(4);
    expect(available(await second.next())).toEqual([4]);
  });

  it("is among the types of an endpoint that names none, and has a sample", async () => {
    const { id, next } = await ofMerchant({});
    const path = `/api/merchants/${partner.merchantId}/webhook-endpoints/${id}/ping`;
    const answer = await test.backOffice.post(path, { type: "stock.low" });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    await count(5);
    const events = (await next()).filter(({ type }) => type === "stock.low");
    expect(events.map(({ data }) => Object.keys(data).sort())).toEqual([
      expect.arrayContaining(["lowStockBelow", "stock"]),
      ["lowStockBelow", "stock"],
    ]);
  });
});

describe("lowStockBelow of a product", () => {
  it("is set by an import and exported again", async () => {
    const { status, body } = await importCsv(
      test.backOffice,
      partner.merchantId,
      "sku,name,price,lowStockBelow\nLOW,Mug,1.00,7\n",
    );
    expect(status, JSON.stringify(body)).toBe(200);
    const [{ id }] = body.products;
    expect((await test.backOffice.get(`/api/products/${id}`)).body.lowStockBelow).toBe(7);
    const { body: file } = await test.backOffice.get(`/api/merchants/${partner.merchantId}/products/export`);
    expect(String(file)).toMatch(/LOW,.*,7\r\n/);
    const changed = `id,sku,name,price,lowStockBelow\n${id},LOW,Mug,1.00,\n`;
    expect((await importCsv(test.backOffice, partner.merchantId, changed)).body.changed).toBe(1);
    expect((await test.backOffice.get(`/api/products/${id}`)).body.lowStockBelow).toBeNull();
  });

  it("is at least 1", async () => {
    const answer = await test.backOffice.request("PATCH", `/api/products/${product}`, {
      body: { lowStockBelow: 0 },
    });
    expect(answer.body.errors).toMatchObject([{ pointer: "/lowStockBelow", rule: "minimum", min: 1 }]);
  });
});
