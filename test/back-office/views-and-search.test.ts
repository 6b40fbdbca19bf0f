import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { personOf, warehouseOf } from "../support/back-office-resources.ts";
import { anAddress, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let one: Partner;
let other: Partner;
beforeAll(async () => {
  test = await startTestService();
  one = await createPartner(test);
  other = await createPartner(test);
});
afterAll(() => test.close());

const tokenOf = async (name: string) =>
  test.backOfficeAs((await test.backOffice.post("/api/tokens", { name, role: "support" })).body.token);
const view = { name: "Held in Germany", page: "orders", query: "onHold=true&countryCode=DE" };
const namesOf = async (client: Client) =>
  (await client.get("/api/views")).body.data.map(({ name }: { name: string }) => name);

describe("/api/views", () => {
  it("keeps the views of each caller apart", async () => {
    const [ada, bob] = [await tokenOf("Ada"), await tokenOf("Bob")];
    const { status, body } = await ada.post("/api/views", view);
    expect([status, body]).toMatchObject([201, { ...view, id: expect.stringMatching(/^view_/) }]);
    expect((await ada.get("/api/views")).body).toEqual({ data: [body], nextCursor: null });
    expect(await namesOf(bob)).toEqual([]);
    expect(await namesOf(test.backOffice)).toEqual([]);
    const path = `/api/views/${body.id}`;
    expect((await bob.request("PATCH", path, { body: { name: "Mine" } })).status).toBe(404);
    expect((await bob.request("DELETE", path)).status).toBe(404);
    test.clock.advance({ seconds: 1 });
    const changed = await ada.request("PATCH", path, { body: { name: "All", query: "" } });
    expect(changed.body).toEqual({
      ...body,
      name: "All",
      query: "",
      updatedAt: test.clock.now().toISOString(),
    });
    expect((await ada.request("DELETE", path)).status).toBe(204);
    expect((await ada.request("DELETE", path)).status).toBe(404);
    expect(await namesOf(ada)).toEqual([]);
  });

  it.each([
    { ...view, name: "" },
    { ...view, name: "x".repeat(101) },
    { ...view, page: "Orders" },
    { ...view, page: "../x" },
    { ...view, query: "x".repeat(2_001) },
    { name: "x", page: "orders" },
  ])("rejects %j", async (body) => {
    expect((await test.backOffice.post("/api/views", body)).status).toBe(422);
  });

  it("keeps 50 of a caller and no more, also at once, and takes the room of a deleted one", async () => {
    const busy = await tokenOf("Busy");
    const answers = await Promise.all(
      Array.from({ length: 53 }, (_, index) => busy.post("/api/views", { ...view, name: `View ${index}` })),
    );
    const kept = answers.filter(({ status }) => status === 201);
    expect(kept).toHaveLength(50);
    const { body } = await busy.post("/api/views", view);
    expect(body).toMatchObject({ code: "limit-reached", limit: "views", maximum: 50 });
    await busy.request("DELETE", `/api/views/${kept[20]?.body.id}`);
    expect((await busy.post("/api/views", view)).status).toBe(201);
  });

  it("keeps one view of a page under a name, also at once", async () => {
    const ada = await tokenOf("Twice");
    const answers = await Promise.all(Array.from({ length: 5 }, () => ada.post("/api/views", view)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422]);
    const { body: rejected } = await ada.post("/api/views", { ...view, query: "" });
    expect(rejected).toMatchObject({ code: "validation-failed", errors: [{ pointer: "/name" }] });
    const { body: other } = await ada.post("/api/views", { ...view, name: "All", query: "" });
    const path = `/api/views/${other.id}`;
    const renamed = await ada.request("PATCH", path, { body: { name: view.name } });
    expect(renamed.body).toMatchObject({ code: "validation-failed", errors: [{ pointer: "/name" }] });
    expect((await ada.request("PATCH", path, { body: { name: "All" } })).status, "its own name").toBe(200);
    expect((await ada.post("/api/views", { ...view, page: "deliveries" })).status, "another page").toBe(201);
    expect((await tokenOf("Bob").then((bob) => bob.post("/api/views", view))).status).toBe(201);
  });

  it("leaves the query out of the audit log: it can name a buyer", async () => {
    const ada = await tokenOf("Audited");
    await ada.post("/api/views", { ...view, query: "q=Lovelace" });
    const { body } = await test.backOffice.get("/api/audit-entries?limit=1");
    expect(body.data[0]).toMatchObject({ action: "createView", actor: { name: "Audited" } });
    expect(JSON.stringify(body)).not.toContain("Lovelace");
  });
});

type Found = { readonly merchantId: string };

describe("GET /api/search", () => {
  const search = async (q: string, client: Client = test.backOffice) => {
    const { status, body } = await client.get(`/api/search?q=${encodeURIComponent(q)}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };

  it("finds orders, connections, merchants and products, 5 of each at most", async () => {
    for (let number = 0; number < 6; number += 1)
      await placeOrder(one, {
        externalOrderId: `web-${number}`,
        shippingAddress: anAddress({ firstName: "Mary", lastName: "Merchantson" }),
      });
    const found = await search("merchant");
    expect(found.orders).toHaveLength(5);
    expect(found.orders[0]).toMatchObject({
      externalOrderId: "web-5",
      status: "NEW",
      merchantName: "Merchant",
    });
    expect(found.orders[0].recipientName).toBe("Mary Merchantson");
    expect(found.merchants.map(({ id }: { id: string }) => id).toSorted()).toEqual(
      [one.merchantId, other.merchantId].toSorted(),
    );
    expect((await search(one.merchantId)).merchants).toMatchObject([{ id: one.merchantId }]);
    expect((await search(one.connectionId)).connections).toMatchObject([
      { id: one.connectionId, merchantId: one.merchantId },
    ]);
    expect((await search("WEB-3")).orders).toMatchObject([{ externalOrderId: "web-3" }]);
    const { body } = await test.backOffice.get(`/api/products/${one.productIds[0]}`);
    const bySku = (await search(body.sku.toLowerCase())).products;
    expect(bySku.map(({ id }: { id: string }) => id)).toContain(one.productIds[0]);
    expect((await search(body.id.toUpperCase())).products).toMatchObject([{ id: body.id }]);
    const byName = (await search(body.name.slice(1, 4).toUpperCase())).products;
    expect(byName.length).toBeGreaterThan(0);
  });

  it("begins with the order whose external id was typed, however many others begin with it", async () => {
    const ids = ["same-2", ...Array.from({ length: 6 }, (_, index) => `same-2${index}`)];
    for (const externalOrderId of ids) await placeOrder(one, { externalOrderId });
    const { body } = await test.backOffice.get("/api/search?q=SAME-2");
    expect(body.orders.map((order: { externalOrderId: string }) => order.externalOrderId)).toEqual([
      ...["same-2", "same-25", "same-24", "same-23", "same-22"],
    ]);
  });

  it("finds nothing that the caller may not see", async () => {
    const stranger = await search("merchant", personOf(test, other.merchantId));
    expect(stranger.orders).toEqual([]);
    expect(stranger.merchants).toMatchObject([{ id: other.merchantId }]);
    const { body: product } = await test.backOffice.get(`/api/products/${one.productIds[0]}`);
    for (const text of [product.sku, product.name]) {
      const shownTo = async (merchantId: string) =>
        new Set(
          (await search(text, personOf(test, merchantId))).products.map((found: Found) => found.merchantId),
        );
      expect(await shownTo(one.merchantId)).toEqual(new Set([one.merchantId]));
      expect(await shownTo(other.merchantId)).not.toContain(one.merchantId);
    }
    const developer = test.backOfficeFor({
      name: "Dev",
      grants: [{ role: "partner", connections: [connectionKey(one)] }],
    });
    const own = await search("partner", developer);
    expect(own).toMatchObject({ merchants: [], products: [], connections: [{ id: one.connectionId }] });
    expect((await search(product.sku, developer)).products).toEqual([]);
    expect((await search("web-3", developer)).orders).toHaveLength(1);
    expect((await search("web-3", warehouseOf(test))).orders).toHaveLength(1);
    const elsewhere = test.backOfficeFor({
      name: "W",
      grants: [{ role: "warehouse", facilityIds: ["019f1f83-aac1-73a5-9745-52489a50b5b6"] }],
    });
    expect((await search("web-3", elsewhere)).orders).toEqual([]);
  });

  it("takes any text as a text, and rejects one character", async () => {
    for (const text of ["%%", "__", "'; drop", "\\\\", "  x", "🙂🙂"]) await search(text);
    for (const q of ["", "x", "%00%00", "x".repeat(201)])
      expect((await test.backOffice.get(`/api/search?q=${q}`)).status).toBe(422);
  });
});
