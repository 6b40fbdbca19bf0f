import { beforeAll, describe, expect, it } from "vitest";
import type { Grant } from "../../src/audit/grant.ts";
import type { Scope } from "../../src/audit/scope.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { anAddress, created, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { aRate, createFacility, routeAll, setStock } from "../support/facilities.ts";
import { processDuePayments, setCreditLimit } from "../support/payments.ts";
import { operationApplied, placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let mug: string;
let bowl: string;
/** It sends to Great Britain; the other one sends to Germany alone. */
let near: string;
let far: string;

beforeAll(async () => {
  test = await startTestService({ config: { paymentRetryMs: [3_600_000] } });
  partner = await createPartner(test);
  [mug, bowl] = partner.productIds;
  near = await createFacility(test);
  far = await createFacility(test, { countryCode: "DE", rates: [aRate({ country: "DE", grams: 500 })] });
  await setStock(test, near, mug, 5);
  await setStock(test, far, mug, 50);
  return () => test.close();
});

const clientOf = (grant: Grant): Client => test.backOfficeFor({ name: "Someone", grants: [grant] });
const tokenWith = async (...scopes: Scope[]): Promise<Client> => {
  const fields = { name: "Shop", role: "merchant", merchantIds: [partner.merchantId], scopes };
  return test.backOfficeAs((await created(test.backOffice.post("/api/tokens", fields))).token);
};
const asMerchant = (): Grant => ({
  role: "merchant",
  merchantIds: [fromTypeId("mer", partner.merchantId) ?? ""],
});
const asPartner = (): Grant => ({
  role: "partner",
  connections: [
    {
      merchantId: fromTypeId("mer", partner.merchantId) ?? "",
      connectionId: fromTypeId("con", partner.connectionId) ?? "",
    },
  ],
});

/** An accepted order that routing has evaluated. */
async function routedOrder(fields: object): Promise<string> {
  const { id } = await placeAcceptedOrder(test, partner, fields);
  await routeAll(test);
  return id;
}

describe("a hold for missing stock", () => {
  it("names each stocked product with what is needed, and what each facility has and can send", async () => {
    await routedOrder({ lines: [{ productId: mug, quantity: 4 }] });
    const id = await routedOrder({
      lines: [
        { productId: mug, quantity: 1 },
        { productId: mug, quantity: 2 },
        { productId: bowl, quantity: 1 }, // It is made to order.
      ],
    });
    const { holds, lines } = await readDetail(test, id);
    expect(holds).toMatchObject([{ reason: "out_of_stock", payment: null, destination: null }]);
    const at = { facilityName: "Facility", reservedForOrder: 0 };
    expect(holds[0].products).toEqual([
      {
        productId: mug,
        sku: "SKU-1",
        name: "Product",
        lineIds: [lines[0].id, lines[1].id],
        needed: 3,
        available: 1,
        facilities: [
          { ...at, facilityId: far, onHand: 50, reserved: 0, available: 50, serves: false },
          { ...at, facilityId: near, onHand: 5, reserved: 4, available: 1, serves: true },
        ],
      },
    ]);
  });

  it("counts what is reserved for the order itself as available to it, and only what has not shipped", async () => {
    const id = await routedOrder({
      lines: [
        { productId: mug, quantity: 1 },
        { productId: bowl, quantity: 1 },
      ],
    });
    const { lines } = await readDetail(test, id);
    await operationApplied(test, id, "ship", { lineIds: [lines[1].id] });
    const { holds } = await operationApplied(test, id, "hold", { reasons: ["out_of_stock"] });
    expect(holds[0].products[0]).toMatchObject({ needed: 1, available: 1 });
    expect(holds[0].products[0].facilities.at(-1)).toMatchObject({ facilityId: near, reservedForOrder: 1 });
    await operationApplied(test, id, "release-hold");
    await operationApplied(test, id, "ship");
    expect((await readDetail(test, id)).holds).toEqual([]);
  });

  it("shows the stock to the merchant, and none to its partner or a token without the scope of stock", async () => {
    const id = await routedOrder({ lines: [{ productId: mug, quantity: 60 }] });
    const productsFor = async (client: Client) => (await readDetail(test, id, client)).holds[0].products;
    expect((await productsFor(clientOf(asMerchant())))[0].facilities).toHaveLength(2);
    expect(await productsFor(clientOf(asPartner()))).toBeNull();
    expect(await productsFor(await tokenWith("orders:read"))).toBeNull();
    expect(await productsFor(await tokenWith("orders:read", "stock:read"))).toHaveLength(1);
  });

  it("shows staff of a facility the stock of that facility alone", async () => {
    const id = await routedOrder({ lines: [{ productId: bowl, quantity: 1 }] });
    await setStock(test, near, bowl, 3);
    await setStock(test, far, bowl, 9);
    await operationApplied(test, id, "hold", { reasons: ["out_of_stock"] });
    const staff = clientOf({ role: "warehouse", facilityIds: [fromTypeId("fac", near) ?? ""] });
    const [product] = (await readDetail(test, id, staff)).holds[0].products;
    expect(product.facilities).toMatchObject([{ facilityId: near, onHand: 3 }]);
  });

  it("explains nothing of a test order, which needs no stock", async () => {
    const { id } = await placeOrder(partner, { testMode: true });
    await partner.client.post(`/v1/test/orders/${id}/transitions`, { transition: "hold" });
    expect((await readDetail(test, id)).holds).toMatchObject([{ reason: "out_of_stock", products: null }]);
  });
});

describe("a hold for an address", () => {
  it("tells the country that no facility sends to", async () => {
    const id = await routedOrder({ shippingAddress: anAddress({ countryCode: "FR" }) });
    const { holds } = await readDetail(test, id);
    expect(holds).toMatchObject([{ reason: "address_unserviceable", products: null }]);
    expect(holds[0].destination).toEqual({
      countryCode: "FR",
      currency: "EUR",
      weightGrams: 0,
      maxWeightGrams: null,
    });
  });

  it("tells the weight that is too much", async () => {
    await test.backOffice.request("PATCH", `/api/products/${bowl}`, { body: { weightGrams: 400 } });
    const id = await routedOrder({
      shippingAddress: anAddress({ countryCode: "DE" }),
      lines: [{ productId: bowl, quantity: 2 }],
    });
    const { holds } = await readDetail(test, id);
    expect(holds[0].destination).toMatchObject({ countryCode: "DE", weightGrams: 800, maxWeightGrams: 500 });
  });
});

describe("a hold for a failed payment", () => {
  it("tells the sum, the reason, the next attempt and what ends it, and not to the partner", async () => {
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    await setCreditLimit(test, partner, null);
    const { holds } = await readDetail(test, id, clientOf(asMerchant()));
    expect(holds).toMatchObject([{ reason: "payment_failed", products: null, destination: null }]);
    expect(holds[0].payment).toEqual({
      amount: { amount: "10.00", currency: "EUR" },
      reason: "credit_limit_exceeded",
      gateway: "account",
      remedy: "pay_account",
      attempt: 1,
      failedAt: test.clock.now().toISOString(),
      nextAttemptAt: new Date(test.clock.now().getTime() + 3_600_000).toISOString(),
    });
    expect((await readDetail(test, id, clientOf(asPartner()))).holds).toMatchObject([
      { reason: "payment_failed", payment: null },
    ]);
  });
});
