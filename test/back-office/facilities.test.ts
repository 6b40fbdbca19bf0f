import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { countRows, createPartner, createProduct, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, aRate, createFacility, putStock, routeAll, setStock } from "../support/facilities.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const MISSING = "fac_01hzzzzzzzzzzzzzzzzzzzzzzz";
const create = (body: object) => test.backOffice.post("/api/facilities", body);
const put = (path: string, body: object) => test.backOffice.request("PUT", path, { body });
const pointersOf = ({ status, body }: Answer): string[] => {
  expect(status, JSON.stringify(body)).toBe(422);
  return body.errors.map(({ pointer }: { pointer: string }) => pointer).sort();
};
/** A rejected request stores nothing. */
async function unchanged(act: () => Promise<Answer>): Promise<Answer> {
  const before = await dumpTables(test);
  const answer = await act();
  expect(await dumpTables(test)).toEqual(before);
  return answer;
}

describe("POST /api/facilities", () => {
  it("creates a facility, with its country in upper case", async () => {
    const { status, body } = await create({ name: "Leipzig", countryCode: "de" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^fac_[0-9a-z]{26}$/),
      name: "Leipzig",
      countryCode: "DE",
      address: null,
      closedAt: null,
      createdAt: test.clock.now().toISOString(),
    });
    expect((await test.backOffice.get(`/api/facilities/${body.id}`)).body).toEqual(body);
    expect((await test.backOffice.get(`/api/facilities/${body.id}/rates`)).body).toMatchObject({ rates: [] });
    expect((await test.backOffice.get(`/api/facilities/${body.id}/stock`)).body.data).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ["nothing", {}, ["/countryCode", "/name"]],
    ["an empty name", { name: "", countryCode: "DE" }, ["/name"]],
    ["a name with a NUL", { name: "\u0000", countryCode: "DE" }, ["/name"]],
    ["a country of three letters", { name: "x", countryCode: "DEU" }, ["/countryCode"]],
    ["a country that is a number", { name: "x", countryCode: 49 }, ["/countryCode"]],
  ])("rejects %s", async (_title, body, pointers) => {
    expect(pointersOf(await unchanged(() => create(body)))).toEqual(pointers);
  });
});

describe("PATCH /api/facilities/{id}", () => {
  it("renames it, and changes nothing else", async () => {
    const { body: facility } = await create({ name: "Old", countryCode: "DE" });
    const path = `/api/facilities/${facility.id}`;
    const { status, body } = await test.backOffice.request("PATCH", path, {
      body: { name: "New", countryCode: "FR" },
    });
    expect(status).toBe(200);
    expect(body).toEqual({ ...facility, name: "New" });
    expect((await test.backOffice.request("PATCH", path, { body: {} })).body).toEqual(body);
  });
});

describe("a facility that does not exist", () => {
  it.each<[string, string, object | undefined]>([
    ["GET", "", undefined],
    ["PATCH", "", { name: "x" }],
    ["GET", "/stock", undefined],
    ["GET", "/rates", undefined],
    ["PUT", "/rates", { rates: [] }],
    ["GET", "/stock/PRODUCT", undefined],
    ["PUT", "/stock/PRODUCT", { onHand: 1 }],
  ])("returns 404: %s %s", async (method, rest, body) => {
    for (const id of [MISSING, "none", partner.merchantId, "%00"]) {
      const path = `/api/facilities/${id}${rest.replace("PRODUCT", partner.productIds[0])}`;
      const answer = await unchanged(() =>
        test.backOffice.request(method, path, body === undefined ? {} : { body }),
      );
      expect(answer.status).toBe(404);
      expect(answer.body.detail).toBe("No such facility.");
    }
  });
});

describe("PUT /api/facilities/{id}/stock/{productId}", () => {
  const stockPath = (facility: string, product: string) => `/api/facilities/${facility}/stock/${product}`;

  it("sets the quantity on hand, and can be repeated", async () => {
    const facility = await createFacility(test);
    const [product] = partner.productIds;
    const missing = await test.backOffice.get(stockPath(facility, product));
    expect([missing.status, missing.body.detail]).toEqual([404, "No such stock record."]);
    for (const onHand of [12, 12, 0, 1_000_000_000]) {
      const { status, body } = await putStock(test, facility, product, onHand);
      expect(status).toBe(200);
      expect(body).toEqual({
        facilityId: facility,
        merchantId: partner.merchantId,
        productId: product,
        sku: expect.any(String),
        name: expect.any(String),
        barcode: null,
        onHand,
        reserved: 0,
        available: onHand,
        updatedAt: test.clock.now().toISOString(),
      });
      expect((await test.backOffice.get(stockPath(facility, product))).body).toEqual(body);
    }
    const listed = (await test.backOffice.get(`/api/facilities/${facility}/stock`)).body.data;
    expect(listed).toEqual([(await test.backOffice.get(stockPath(facility, product))).body]);
  });

  it("rejects less than the reserved quantity, and names it", async () => {
    const own = await startTestService();
    const by = await createPartner(own);
    const facility = await createFacility(own);
    const [product] = by.productIds;
    await setStock(own, facility, product, 9);
    await placeOrder(by, { lines: [{ productId: product, quantity: 7 }] });
    await acceptAll(own);
    await routeAll(own);
    const { status, body } = await putStock(own, facility, product, 6);
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      {
        pointer: "/onHand",
        rule: "reserved_quantity",
        min: 7,
        detail: "must be at least 7, the quantity reserved for orders",
      },
    ]);
    const { body: stock } = await putStock(own, facility, product, 7);
    expect(stock).toMatchObject({ onHand: 7, reserved: 7, available: 0 });
    await own.close();
  });

  it.each([[-1], [1.5], ["1"], [null], [1_000_000_001], [undefined]])(
    "rejects the quantity %j",
    async (onHand) => {
      const facility = await createFacility(test);
      const path = stockPath(facility, partner.productIds[0]);
      expect(pointersOf(await unchanged(() => put(path, { onHand })))).toEqual(["/onHand"]);
    },
  );

  it("returns 404 for a product that does not exist", async () => {
    const facility = await createFacility(test);
    for (const product of ["019a0000-0000-7000-8000-000000000000", "none", "%00"]) {
      for (const method of ["GET", "PUT"]) {
        const options = method === "PUT" ? { body: { onHand: 1 } } : {};
        const path = stockPath(facility, product);
        const { status, body } = await unchanged(() => test.backOffice.request(method, path, options));
        expect([status, body.detail]).toEqual([404, "No such product."]);
      }
    }
  });

  it("is listed page by page, the oldest product first", async () => {
    const facility = await createFacility(test);
    const products: string[] = [];
    for (let n = 0; n < 5; n += 1) products.push(await createProduct(test, partner.merchantId));
    for (const product of products.toReversed()) await setStock(test, facility, product, 1);
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await test.backOffice.get(`/api/facilities/${facility}/stock?limit=2${cursor}`);
      seen.push(...body.data.map(({ productId }: { productId: string }) => productId));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(seen).toEqual(products);
    const wrong = await test.backOffice.get(`/api/facilities/${facility}/stock?cursor=x`);
    expect(wrong.status).toBe(422);
  });

  it("concurrent first records are one record", async () => {
    const facility = await createFacility(test);
    const [, product] = partner.productIds;
    const numbers = Array.from({ length: 10 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => putStock(test, facility, product, n)));
    expect(answers.map(({ status }) => status)).toEqual(numbers.map(() => 200));
    expect((await test.backOffice.get(`/api/facilities/${facility}/stock`)).body.data).toHaveLength(1);
  });
});

describe("PUT /api/facilities/{id}/rates", () => {
  const ratesPath = (facility: string) => `/api/facilities/${facility}/rates`;

  it("replaces all rates, shown by country, currency and weight", async () => {
    const facility = await createFacility(test, { rates: [aRate({ country: "US" })] });
    const rates = [
      aRate({ country: "gb", grams: 2_000, amount: "9" }),
      aRate({ country: "GB", grams: 500, amount: "0" }),
      aRate({ country: "DE", currency: "JPY", amount: "700" }),
      aRate({ country: "DE", currency: "EUR", amount: "4.5" }),
    ];
    const wanted = [
      aRate({ country: "DE", amount: "4.50" }),
      aRate({ country: "DE", currency: "JPY", amount: "700" }),
      aRate({ country: "GB", grams: 500, amount: "0.00" }),
      aRate({ country: "GB", grams: 2_000, amount: "9.00" }),
    ];
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await put(ratesPath(facility), { rates });
      expect(status).toBe(200);
      expect(body).toMatchObject({ rates: wanted });
    }
    expect((await test.backOffice.get(ratesPath(facility))).body).toMatchObject({ rates: wanted });
    expect((await put(ratesPath(facility), { rates: [] })).body).toMatchObject({ rates: [] });
  });

  it("leaves other facilities' rates alone", async () => {
    const [one, other] = [await createFacility(test), await createFacility(test)];
    const before = (await test.backOffice.get(ratesPath(other))).body;
    await put(ratesPath(one), { rates: [] });
    expect((await test.backOffice.get(ratesPath(other))).body).toEqual(before);
  });

  it.each<[string, unknown, string[]]>([
    ["nothing", undefined, ["/rates"]],
    ["no list", {}, ["/rates"]],
    ["a list of nothing", [null, 1], ["/rates/0", "/rates/1"]],
    ["a rate without its parts", [{}], ["/rates/0/countryCode", "/rates/0/maxWeightGrams", "/rates/0/price"]],
    ["no weight at all", [aRate({ grams: 0 })], ["/rates/0/maxWeightGrams"]],
    ["more than can be kept", [aRate({ grams: 2_000_000_001 })], ["/rates/0/maxWeightGrams"]],
    ["a price below nothing", [aRate({ amount: "-1" })], ["/rates/0/price/amount"]],
    ["more decimals than EUR has", [aRate(), aRate({ country: "DE", amount: "1.234" })], ["/rates/1/price"]],
    ["more decimals than JPY has", [aRate({ currency: "JPY", amount: "1.5" })], ["/rates/0/price"]],
    ["an unknown currency", [aRate({ currency: "ZZZ" })], ["/rates/0/price/currency"]],
    [
      "two prices for the same, each time again",
      [aRate(), aRate({ country: "gb", amount: "6" }), aRate({ country: "FR" }), aRate()],
      ["/rates/1", "/rates/3"],
    ],
    [
      "all errors at once",
      [aRate(), aRate(), aRate({ country: "x" }), aRate({ country: "FR", amount: "1.234" })],
      ["/rates/1", "/rates/2/countryCode", "/rates/3/price"],
    ],
  ])("rejects %s", async (_title, rates, pointers) => {
    const facility = await createFacility(test);
    expect(pointersOf(await unchanged(() => put(ratesPath(facility), { rates })))).toEqual(pointers);
  });

  it("accepts rates that differ in only one of country, currency and weight", async () => {
    const facility = await createFacility(test);
    const rates = [aRate(), aRate({ country: "FR" }), aRate({ currency: "USD" }), aRate({ grams: 1 })];
    expect((await put(ratesPath(facility), { rates })).body.rates).toHaveLength(4);
  });

  it("replacements at the same time do not mix", async () => {
    const facility = await createFacility(test);
    const tables = ["AT", "BE", "CH", "DK"].map((country) =>
      [1, 2, 3, 4, 5].map((grams) => aRate({ country, grams })),
    );
    const answers = await Promise.all(tables.map((rates) => put(ratesPath(facility), { rates })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(tables).toContainEqual((await test.backOffice.get(ratesPath(facility))).body.rates);
  });
});

describe("the callers that can manage facilities", () => {
  const requests = (facility: string): [string, string, object?][] => [
    ["GET", "/api/facilities"],
    ["POST", "/api/facilities", { name: "x", countryCode: "DE" }],
    ["GET", `/api/facilities/${facility}`],
    ["PATCH", `/api/facilities/${facility}`, { name: "y" }],
    ["GET", `/api/facilities/${facility}/stock`],
    ["PUT", `/api/facilities/${facility}/stock/${partner.productIds[0]}`, { onHand: 3 }],
    ["GET", `/api/facilities/${facility}/stock/${partner.productIds[0]}`],
    ["GET", `/api/facilities/${facility}/rates`],
    ["PUT", `/api/facilities/${facility}/rates`, { rates: [aRate()] }],
  ];
  const ask = (client: TestService["backOffice"], [method, path, body]: [string, string, object?]) =>
    client.request(method, path, body === undefined ? {} : { body });

  it("include warehouse staff and the operator", async () => {
    const facility = await createFacility(test);
    const warehouse = test.backOfficeFor({ kind: "warehouse", name: "Wanda" });
    for (const request of requests(facility))
      expect((await ask(warehouse, request)).status).toBeLessThan(300);
  });

  it("do not include a merchant's staff, who learn nothing of the facilities", async () => {
    const merchantId = fromTypeId("mer", partner.merchantId) ?? "";
    const merchant = test.backOfficeFor({ kind: "merchant", merchantIds: [merchantId], name: "Mia" });
    for (const facility of [await createFacility(test), MISSING])
      for (const request of requests(facility))
        expect((await unchanged(() => ask(merchant, request))).status, request.join(" ")).toBe(403);
  });

  it("do not include callers without a token", async () => {
    const count = await countRows(test, "facilities");
    for (const request of requests(MISSING))
      expect((await ask(test.backOfficeAs(), request)).status).toBe(401);
    expect(await countRows(test, "facilities")).toBe(count);
  });
});
