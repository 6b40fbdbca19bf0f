import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import {
  createKey,
  createPartner,
  createProduct,
  exposeProduct,
  type Partner,
  placeOrder,
} from "../support/builders.ts";
import { createFacility, setStock } from "../support/facilities.ts";
import { cancelOrder } from "../support/orders.ts";
import { payIn, processDuePayments } from "../support/payments.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let merchantPath: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  merchantPath = `/api/merchants/${partner.merchantId}`;
});
afterAll(() => test.close());

type Listed = { id: string; connectionId: string; kind: string; productId: string };
async function list(path: string, query: string): Promise<Listed[]> {
  const { status, body } = await test.backOffice.get(`${path}?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}
const idsOf = async (path: string, query: string) => (await list(path, query)).map(({ id }) => id);
const make = async (path: string, body: object): Promise<string> =>
  (await test.backOffice.post(path, body)).body.id;

describe("GET /api/merchants", () => {
  it("is narrowed to a part of a name or of an account's address, in upper or lower case", async () => {
    const mugs = await make("/api/merchants", { name: "Mugs & Co", accountEmail: "books@ACME.example" });
    const cups = await make("/api/merchants", { name: "Cups 100%", accountEmail: "mugs@example.com" });
    expect(await idsOf("/api/merchants", "q=MUGS")).toEqual([mugs, cups]);
    expect(await idsOf("/api/merchants", "q=acme")).toEqual([mugs]);
    expect(await idsOf("/api/merchants", "q=%25")).toEqual([cups]);
    expect(await idsOf("/api/merchants", "q=nobody")).toEqual([]);
  });

  it("never shows a merchant's staff another merchant, for any search", async () => {
    const merchantId = fromTypeId("mer", partner.merchantId) ?? "";
    const person = test.backOfficeFor({ kind: "merchant", merchantIds: [merchantId], name: "Ada" });
    expect((await person.get("/api/merchants?q=mugs")).body.data).toEqual([]);
    expect((await person.get("/api/merchants?q=merchant")).body.data).toMatchObject([
      { id: partner.merchantId },
    ]);
  });

  it("keeps the filter from page to page", async () => {
    for (const name of ["Page 1", "Other", "Page 2", "Page 3"])
      await make("/api/merchants", { name, accountEmail: "x@example.com" });
    const first = (await test.backOffice.get("/api/merchants?q=page&limit=2")).body;
    const second = (await test.backOffice.get(`/api/merchants?q=page&limit=2&cursor=${first.nextCursor}`))
      .body;
    expect([...first.data, ...second.data].map(({ name }) => name)).toEqual(["Page 1", "Page 2", "Page 3"]);
    expect(second.nextCursor).toBeNull();
  });
});

describe("GET /api/merchants/{id}/connections", () => {
  it("is narrowed to a part of a name", async () => {
    const path = `${merchantPath}/connections`;
    const shop = await make(path, { name: "Web Shop" });
    expect(await idsOf(path, "q=shop")).toEqual([shop]);
    expect(await idsOf(path, "q=_")).toEqual([]);
  });
});

describe("GET /api/connections/{id}/keys", () => {
  it("is narrowed to the keys that open the API, or to the others", async () => {
    const { connectionId } = await createPartner(test);
    const path = `/api/connections/${connectionId}/keys`;
    const [first] = await idsOf(path, "");
    const inAnHour = new Date(test.clock.now().getTime() + 3_600_000).toISOString();
    const expiring = await make(path, { expiresAt: inAnHour });
    const revoked = await createKey(test, connectionId);
    await test.backOffice.post(`/api/keys/${revoked.id}/revoke`);
    expect(await idsOf(path, "live=true")).toEqual([first, expiring]);
    expect(await idsOf(path, "live=false")).toEqual([revoked.id]);
    test.clock.advance({ hours: 1 });
    expect(await idsOf(path, "live=true")).toEqual([first]);
    expect(await idsOf(path, "live=false")).toEqual([expiring, revoked.id]);
  });
});

describe("GET /api/merchants/{id}/products", () => {
  it("is narrowed to a part of an SKU or of a name", async () => {
    const { merchantId } = await createPartner(test);
    const path = `/api/merchants/${merchantId}/products`;
    const bySku = await createProduct(test, merchantId, { sku: "TEAPOT-1" });
    const byName = await createProduct(test, merchantId, { name: "Small teapot" });
    expect(await idsOf(path, "q=TeaPot")).toEqual([bySku, byName]);
    expect(await idsOf(path, "q=teapot-1&status=active")).toEqual([bySku]);
  });

  it("is narrowed to what a connection's partner may order now", async () => {
    const { merchantId, connectionId, productIds } = await createPartner(test);
    const path = `/api/merchants/${merchantId}/products`;
    const other = await createPartner(test);
    const added = await createProduct(test, merchantId);
    expect((await idsOf(path, `connectionId=${connectionId}`)).sort()).toEqual([...productIds].sort());
    await exposeProduct(test, connectionId, added);
    expect(await idsOf(path, `connectionId=${connectionId}`)).toContain(added);
    await test.backOffice.request("DELETE", `/api/connections/${connectionId}/products/${added}`);
    expect(await idsOf(path, `connectionId=${connectionId}`)).not.toContain(added);
    expect(await idsOf(path, `connectionId=${other.connectionId}`)).toEqual([]);
  });

  it("is narrowed to what is exposed to a connection, to any, or to none", async () => {
    const { merchantId, connectionId, productIds } = await createPartner(test);
    const path = `/api/merchants/${merchantId}/products`;
    const hidden = await createProduct(test, merchantId);
    const elsewhere = await createProduct(test, merchantId);
    const second = await make(`/api/merchants/${merchantId}/connections`, { name: "Second" });
    await exposeProduct(test, second, elsewhere);
    const own = [...productIds].sort();
    expect(await idsOf(path, "exposed=false")).toEqual([hidden]);
    expect(await idsOf(path, "exposed=true")).toEqual([...own, elsewhere]);
    expect(await idsOf(path, `connectionId=${connectionId}&exposed=false`)).toEqual([hidden, elsewhere]);
    expect(await idsOf(path, `connectionId=${connectionId}&exposed=true`)).toEqual(own);
    await test.backOffice.request("DELETE", `/api/connections/${second}/products/${elsewhere}`);
    expect(await idsOf(path, "exposed=false")).toEqual([hidden, elsewhere]);
  });
});

describe("GET /api/products/{id}/connections", () => {
  it("lists the merchant's connections, and is narrowed to those that see the product, and by name", async () => {
    const { merchantId, connectionId, productIds } = await createPartner(test);
    await createPartner(test); // Another merchant's connection is not listed.
    const second = await make(`/api/merchants/${merchantId}/connections`, { name: "Second shop" });
    const path = `/api/products/${productIds[0]}/connections`;
    const now = test.clock.now().toISOString();
    expect(await list(path, "")).toEqual([
      { connectionId, connectionName: "Partner", exposedAt: expect.any(String) },
      { connectionId: second, connectionName: "Second shop", exposedAt: null },
    ]);
    const found = async (query: string) => (await list(path, query)).map((exposure) => exposure.connectionId);
    expect(await found("exposed=true")).toEqual([connectionId]);
    expect(await found("exposed=false&q=SHOP")).toEqual([second]);
    await exposeProduct(test, second, productIds[0] ?? "");
    expect(await list(path, "q=second")).toMatchObject([{ exposedAt: now }]);
    expect(await found("exposed=false")).toEqual([]);
    const first = (await test.backOffice.get(`${path}?limit=1`)).body;
    const rest = (await test.backOffice.get(`${path}?limit=1&cursor=${first.nextCursor}`)).body;
    expect([...first.data, ...rest.data].map((exposure) => exposure.connectionId)).toEqual([
      connectionId,
      second,
    ]);
    expect(rest.nextCursor).toBeNull();
  });
});

describe("GET /api/facilities", () => {
  it("is narrowed to a country", async () => {
    const vienna = await createFacility(test, { countryCode: "AT" });
    await createFacility(test, { countryCode: "DE" });
    expect(await idsOf("/api/facilities", "countryCode=at")).toEqual([vienna]);
    expect(await idsOf("/api/facilities", "countryCode=FR")).toEqual([]);
  });
});

describe("GET /api/facilities/{id}/stock", () => {
  it("is narrowed by merchant, by SKU, and to what can or can not be promised", async () => {
    const path = `/api/facilities/${await createFacility(test)}/stock`;
    const other = await createPartner(test);
    const mug = await createProduct(test, partner.merchantId, { sku: "MUG" });
    const cup = await createProduct(test, partner.merchantId, { sku: "CUP" });
    const theirs = await createProduct(test, other.merchantId, { sku: "MUG" });
    for (const [productId, onHand] of [
      [mug, 2],
      [cup, 0],
      [theirs, 1],
    ] as const)
      await setStock(test, path.split("/").at(-2) ?? "", productId, onHand);
    const found = async (query: string) => (await list(path, query)).map(({ productId }) => productId);
    expect(await found(`merchantId=${partner.merchantId}`)).toEqual([mug, cup]);
    expect(await found("sku=MUG")).toEqual([mug, theirs]);
    expect(await found("available=true")).toEqual([mug, theirs]);
    expect(await found("available=false")).toEqual([cup]);
    expect(await found(`sku=MUG&merchantId=${other.merchantId}&available=true`)).toEqual([theirs]);
  });
});

describe("GET /api/merchants/{id}/account/entries", () => {
  it("is narrowed to charges, refunds or payments", async () => {
    const payer = await createPartner(test);
    const path = `/api/merchants/${payer.merchantId}/account/entries`;
    const order = await placeOrder(payer);
    await processDuePayments(test);
    await cancelOrder(payer, order.id);
    await processDuePayments(test);
    await payIn(test, payer, "5.00");
    for (const kind of ["charge", "refund", "payment"])
      expect(await list(path, `kind=${kind}`)).toMatchObject([{ kind }]);
    expect(await list(path, "")).toHaveLength(3);
  });
});

describe("A filter that cannot be", () => {
  it.each([
    ["/api/merchants", "q=%00", "q"],
    ["/api/merchants", `q=${"x".repeat(201)}`, "q"],
    ["/api/connections/{connection}/keys", "live=yes", "live"],
    ["/api/merchants/{merchant}/products", "connectionId=mer_x", "connectionId"],
    ["/api/facilities", "countryCode=DEU", "countryCode"],
    ["/api/facilities/{facility}/stock", "merchantId=x", "merchantId"],
    ["/api/facilities/{facility}/stock", "available=1", "available"],
    ["/api/facilities/{facility}/stock", "sku=%00", "sku"],
    ["/api/merchants/{merchant}/account/entries", "kind=gift", "kind"],
  ])("GET %s?%s returns 422 and names it", async (template, query, parameter) => {
    const path = template
      .replace("{merchant}", partner.merchantId)
      .replace("{connection}", partner.connectionId)
      .replace("{facility}", await createFacility(test));
    const { status, body } = await test.backOffice.get(`${path}?${query}`);
    expect(status).toBe(422);
    expect(body).toMatchObject({ title: "Validation failed", errors: [{ parameter }] });
  });
});
