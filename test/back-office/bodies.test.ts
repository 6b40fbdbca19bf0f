import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anOrder, created, createPartner, type Partner } from "../support/builders.ts";
import { dumpTables } from "../support/tables.ts";
import { type RequestOptions, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const connectionPath = () => `/api/connections/${partner.connectionId}`;
const productPath = () => `/api/products/${partner.productIds[0]}`;

/** Every route of the back office whose body has only optional fields. */
const OPTIONAL_BODIES: [method: string, path: string, status: number][] = [
  ["POST", "/api/connections/{connectionId}/keys", 201],
  ["PATCH", "/api/connections/{connectionId}", 200],
  ["PATCH", "/api/products/{productId}", 200],
];
const withIds = (path: string) =>
  path.replace("{connectionId}", partner.connectionId).replace("{productId}", partner.productIds[0]);

describe("a body whose fields are all optional", () => {
  it.each(OPTIONAL_BODIES)("may be left out: %s %s", async (method, path, status) => {
    const forms: RequestOptions[] = [
      {},
      { rawBody: "", headers: { "content-type": "application/json" } },
      { rawBody: "", headers: { "content-type": "application/x-www-form-urlencoded" } },
    ];
    for (const form of forms)
      expect((await test.backOffice.request(method, withIds(path), form)).status).toBe(status);
  });

  it("that is absent means the same as {}", async () => {
    const { id, key, prefix, ...bare } = await created(test.backOffice.post(`${connectionPath()}/keys`));
    expect(bare).toMatchObject({ connectionId: partner.connectionId, name: null, expiresAt: null });
    expect((await test.partner(key).get("/v1/me")).body.key).toMatchObject({ id, prefix });
    const before = await test.backOffice.get(connectionPath());
    expect((await test.backOffice.request("PATCH", connectionPath())).body).toEqual(before.body);
  });

  it.each(OPTIONAL_BODIES)("is read when it is there: %s %s", async (method, path) => {
    const before = await dumpTables(test);
    const send = (rawBody: string, type = "application/json") =>
      test.backOffice.request(method, withIds(path), { rawBody, headers: { "content-type": type } });
    expect((await send(" ")).status).toBe(400);
    expect((await send("{")).status).toBe(400);
    expect((await send("{}", "text/plain")).status).toBe(415);
    for (const other of ["null", "[]", '""', "0"]) expect((await send(other)).status, other).toBe(422);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("must be present if it has a required field, and the problem says what it must be", async () => {
    for (const path of ["/api/merchants", `/api/merchants/${partner.merchantId}/connections`]) {
      const absent = await test.backOffice.post(path);
      expect(absent.status).toBe(400);
      expect(absent.body.detail).toMatch(/^The request has no body: send a JSON object with .*name/);
      for (const other of ["null", "[]", '"name"']) {
        const headers = { "content-type": "application/json" };
        const { status, body } = await test.backOffice.request("POST", path, { rawBody: other, headers });
        expect(status, other).toBe(422);
        expect(body.errors).toMatchObject([{ pointer: "", rule: "json_object" }]);
        expect(body.errors[0].detail).toMatch(/^must be a JSON object with .*name/);
      }
    }
  });
});

describe("a text of which nothing can be seen", () => {
  const BLANK = " \u200b";

  it("names nothing: neither what is created nor what is changed", async () => {
    const products = `/api/merchants/${partner.merchantId}/products`;
    const price = { amount: "1.00", currency: "EUR" };
    const product = { sku: BLANK, name: BLANK, price, description: BLANK };
    const refused = await test.backOffice.post(products, product);
    expect([refused.status, refused.body.errors]).toMatchObject([
      422,
      [
        { pointer: "/sku", rule: "blank", detail: expect.stringMatching(/^must not be blank/) },
        { pointer: "/name", rule: "blank" },
      ],
    ]);
    const kept = { sku: "A", name: "A" };
    const { id } = await created(test.backOffice.post(products, { ...product, ...kept }));
    expect(
      (await test.backOffice.request("PATCH", `/api/products/${id}`, { body: { name: BLANK } })).status,
    ).toBe(422);
    const { body } = await test.backOffice.get(`/api/products/${id}`);
    expect(body).toMatchObject({ ...kept, description: null });
  });

  it("is no search", async () => {
    const path = `/api/merchants/${partner.merchantId}/products`;
    const all = await test.backOffice.get(path);
    for (const q of ["", "%20", "%E2%80%8B"])
      expect((await test.backOffice.get(`${path}?q=${q}`)).body).toEqual(all.body);
    expect((await test.backOffice.get("/api/search?q=")).body.errors).toMatchObject([
      { parameter: "q", rule: "required" },
    ]);
    for (const filter of ["status", "merchantId"])
      expect((await test.backOffice.get(`/api/orders?${filter}=`)).status, filter).toBe(422);
  });

  it("makes the same request of a partner as none", async () => {
    const { client } = partner;
    const order = anOrder(partner, { note: BLANK, externalOrderId: "\u3000" });
    const first = await client.post("/v1/orders", order);
    expect([first.status, first.body.externalOrderId], "an id is exact").toEqual([201, "\u3000"]);
    const again = await client.post("/v1/orders", anOrder(partner, { externalOrderId: "\u3000" }));
    expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    expect((await client.get("/v1/orders/%E3%80%80")).body.id).toBe(first.body.id);
    expect((await client.get("/v1/orders/%20")).status).toBe(404);
  });
});

describe("all errors of a body are reported at once", () => {
  const dollars = { amount: "1.00", currency: "USD" };

  /** Positions and texts of a response's errors, in the order of the positions. */
  async function errorsOf(method: string, path: string, body: unknown): Promise<[string, string][]> {
    const before = await dumpTables(test);
    const answer = await test.backOffice.request(method, path, { body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(422);
    expect(await dumpTables(test)).toEqual(before);
    return answer.body.errors
      .map(({ pointer, detail }: { pointer: string; detail: string }) => [pointer, detail])
      .sort(([one]: [string], [other]: [string]) => (one < other ? -1 : 1));
  }

  const tooShort = "must have at least 1 character";
  const inEuros = "must be an amount in EUR with at most 2 decimals, of at most 1000000000.00";

  it("a merchant's credit limit in another currency, beside a bad name", async () => {
    const merchant = { name: "", accountEmail: "m@example.com", creditLimit: dollars };
    expect(await errorsOf("POST", "/api/merchants", merchant)).toEqual([
      ["/creditLimit", inEuros],
      ["/name", tooShort],
    ]);
  });

  it("a merchant's credit limit is not compared with an invalid currency", async () => {
    const merchant = { name: "M", accountEmail: "m@example.com", currency: "XXQ", creditLimit: dollars };
    const errors = await errorsOf("POST", "/api/merchants", merchant);
    expect(errors.map(([pointer]) => pointer)).toEqual(["/currency"]);
  });

  it.each([
    ["in another currency", dollars],
    ["with too many decimals", { amount: "1.001", currency: "EUR" }],
    ["that is too large", { amount: "1000000000.01", currency: "EUR" }],
  ])("a price %s, beside a bad SKU", async (_title, price) => {
    const expected = [
      ["/price", inEuros],
      ["/sku", tooShort],
    ];
    const product = { sku: "", name: "P", price };
    const path = `/api/merchants/${partner.merchantId}/products`;
    expect(await errorsOf("POST", path, product)).toEqual(expected);
    expect(await errorsOf("PATCH", productPath(), { sku: "", price })).toEqual(expected);
  });

  it("a price whose amount and currency are both wrong", async () => {
    const errors = await errorsOf("PATCH", productPath(), { price: { amount: "-1", currency: "USD" } });
    expect(errors).toEqual([
      ["/price", inEuros],
      ["/price/amount", "must be a decimal amount such as 12.50"],
    ]);
  });

  it("a review policy's value in another currency, beside a bad quantity", async () => {
    const body = { name: "", reviewPolicy: { maxQuantity: 0, maxOrderValue: dollars } };
    const expected = [
      ["/name", tooShort],
      ["/reviewPolicy/maxOrderValue", inEuros],
      ["/reviewPolicy/maxQuantity", "must be at least 1"],
    ];
    expect(await errorsOf("POST", `/api/merchants/${partner.merchantId}/connections`, body)).toEqual(
      expected,
    );
    expect(await errorsOf("PATCH", connectionPath(), body)).toEqual(expected);
  });

  it("a key's end that has passed, beside a bad name", async () => {
    const body = { name: "x".repeat(256), expiresAt: "2020-01-01T00:00:00Z" };
    expect(await errorsOf("POST", `${connectionPath()}/keys`, body)).toEqual([
      ["/expiresAt", "must be in the future"],
      ["/name", "must have at most 255 characters"],
    ]);
  });

  it("an end that is not a time is reported once", async () => {
    const errors = await errorsOf("POST", `${connectionPath()}/keys`, { expiresAt: "tomorrow" });
    expect(errors).toEqual([["/expiresAt", "must be an ISO 8601 date-time with a time zone"]]);
  });

  it("only those of the schema, if the resource of the path is missing", async () => {
    const path = "/api/merchants/mer_01hzzzzzzzzzzzzzzzzzzzzzzz/products";
    const errors = await errorsOf("POST", path, { sku: "", name: "P", price: dollars });
    expect(errors).toEqual([["/sku", tooShort]]);
  });
});
