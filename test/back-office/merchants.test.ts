import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MERCHANT_LIMITS } from "../../src/merchants/limits.ts";
import { countRows, createPartner, placeOrder } from "../support/builders.ts";
import { processDuePayments, setCreditLimit } from "../support/payments.ts";
import { startServiceForTest, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

const create = (fields: object = {}) =>
  test.backOffice.post("/api/merchants", { name: "Shop", accountEmail: "shop@example.com", ...fields });

/** Pointers of the errors of a merchant that must be rejected and not stored. */
async function errorsOf(fields: object): Promise<string[]> {
  const before = await countRows(test, "merchants");
  const { status, body } = await create(fields);
  expect(status, JSON.stringify(body)).toBe(422);
  expect(body.type).toMatch(/\/validation-failed$/);
  expect(await countRows(test, "merchants")).toBe(before);
  return [...new Set<string>(body.errors.map(({ pointer }: { pointer: string }) => pointer))].sort();
}

describe("POST /api/merchants", () => {
  it("creates a merchant, in EUR and without a credit limit by default", async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^mer_[0-9a-z]{26}$/),
      name: "Shop",
      accountEmail: "shop@example.com",
      currency: "EUR",
      creditLimit: null,
      completeWhenShipped: false,
      limits: Object.fromEntries(Object.keys(MERCHANT_LIMITS).map((name) => [name, null])),
      createdAt: test.clock.now().toISOString(),
    });
    expect((await test.backOffice.get(`/api/merchants/${body.id}`)).body).toEqual(body);
  });

  it("two merchants may have the same name and address", async () => {
    const [one, two] = [await create(), await create()];
    expect(one.body.id).not.toBe(two.body.id);
  });

  it.each([
    ["EUR", "12.5", "12.50"],
    ["EUR", "0", "0.00"],
    ["EUR", "0.01", "0.01"],
    ["EUR", "1000000000.00", "1000000000.00"],
    ["USD", "007.10", "7.10"],
    ["JPY", "1200", "1200"],
    ["JPY", "0", "0"],
    ["KWD", "1.234", "1.234"],
    ["KWD", "0.001", "0.001"],
    ["KWD", "5", "5.000"],
  ])(
    "shows a credit limit with the decimals of its currency: %s %s → %s",
    async (currency, amount, shown) => {
      const { status, body } = await create({ currency, creditLimit: { amount, currency } });
      expect(status, JSON.stringify(body)).toBe(201);
      expect(body.creditLimit).toEqual({ amount: shown, currency });
      expect((await test.backOffice.get(`/api/merchants/${body.id}`)).body).toEqual(body);
    },
  );

  it.each([
    ["too many decimals for EUR", "EUR", "1.234"],
    ["even when they are zero", "EUR", "1.230"],
    ["a decimal for JPY", "JPY", "1.5"],
    ["four decimals for KWD", "KWD", "1.2345"],
    ["more than can be kept", "EUR", "1000000000.01"],
  ])("rejects an amount with %s", async (_title, currency, amount) => {
    expect(await errorsOf({ currency, creditLimit: { amount, currency } })).toEqual(["/creditLimit"]);
  });

  it.each([
    "",
    "-1",
    "+1",
    "1.",
    ".5",
    "1,50",
    "1e3",
    "0x1",
    " 1",
    "1 ",
    "١",
    "NaN",
    "1.2.3",
    "9".repeat(16),
  ])("rejects the amount %j, which is not a decimal string", async (amount) => {
    expect(await errorsOf({ creditLimit: { amount, currency: "EUR" } })).toEqual(["/creditLimit/amount"]);
  });

  it("rejects an amount that is a number: no parser may round it", async () => {
    expect(await errorsOf({ creditLimit: { amount: 12.5, currency: "EUR" } })).toEqual([
      "/creditLimit/amount",
    ]);
  });

  it("rejects a credit limit in another currency than the merchant's, also than its default", async () => {
    const creditLimit = { amount: "1.00", currency: "USD" };
    expect(await errorsOf({ currency: "GBP", creditLimit })).toEqual(["/creditLimit"]);
    expect(await errorsOf({ creditLimit })).toEqual(["/creditLimit"]);
  });

  it.each<[string, object, string[]]>([
    ["no name", { name: undefined }, ["/name"]],
    ["an empty name", { name: "" }, ["/name"]],
    ["a name of 256 characters", { name: "x".repeat(256) }, ["/name"]],
    ["a name with a NUL", { name: "a\u0000" }, ["/name"]],
    ["a name that is a number", { name: 1 }, ["/name"]],
    ["no address", { accountEmail: undefined }, ["/accountEmail"]],
    ["an address that is none", { accountEmail: "shop" }, ["/accountEmail"]],
    ["an address of 255 characters", { accountEmail: `${"x".repeat(243)}@example.com` }, ["/accountEmail"]],
    ["a currency that is none", { currency: "EURO" }, ["/currency"]],
    ["an unknown currency", { currency: "ZZZ" }, ["/currency"]],
    ["a currency in small letters", { currency: "eur" }, ["/currency"]],
    ["a credit limit without its currency", { creditLimit: { amount: "1" } }, ["/creditLimit/currency"]],
    [
      "all errors at once",
      { name: "", accountEmail: "x", currency: "x", creditLimit: {} },
      ["/accountEmail", "/creditLimit/amount", "/creditLimit/currency", "/currency", "/name"],
    ],
  ])("rejects %s", async (_title, fields, pointers) => {
    expect(await errorsOf(fields)).toEqual(pointers);
  });

  it("takes a name of 255 characters of any script, counted as people count them", async () => {
    const name = "🦊".repeat(255);
    expect((await create({ name })).body.name).toBe(name);
  });

  it("ignores fields it does not know, and an id cannot be chosen", async () => {
    const { body } = await create({ id: "mer_01hzzzzzzzzzzzzzzzzzzzzzzz", unknown: true });
    expect(body.id).not.toBe("mer_01hzzzzzzzzzzzzzzzzzzzzzzz");
    expect(body).not.toHaveProperty("unknown");
  });

  it.each([
    ["not JSON", "{", "application/json", 400],
    ["no JSON type", "{}", "text/plain", 415],
    ["a body over 256 KiB", JSON.stringify({ x: "x".repeat(256 * 1024) }), "application/json", 413],
  ])("rejects %s", async (_title, rawBody, contentType, status) => {
    const options = { rawBody, headers: { "content-type": contentType } };
    expect((await test.backOffice.request("POST", "/api/merchants", options)).status).toBe(status);
  });
});

describe("PATCH /api/merchants/{id}", () => {
  it.each<[string, bigint | null, string | null, boolean]>([
    ["a limit that is raised", 500n, "5.01", true],
    ["a limit that is removed", 500n, null, true],
    ["the limit as it is", 500n, "5.00", true],
    ["a limit that is lowered", 500n, "4.99", false],
    ["a first limit", null, "5.00", false],
  ])("with %s decides about declined charges", async (_, before, amount, areRetried) => {
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 500n);
    await placeOrder(partner);
    await processDuePayments(test);
    await setCreditLimit(test, partner, before);
    const creditLimit = amount === null ? null : { amount, currency: "EUR" };
    const path = `/api/merchants/${partner.merchantId}`;
    expect((await test.backOffice.request("PATCH", path, { body: { creditLimit } })).status).toBe(200);
    expect(await processDuePayments(test)).toBe(areRetried ? 1 : 0);
    expect((await test.backOffice.request("PATCH", path, { body: { name: "New" } })).status).toBe(200);
    expect(await processDuePayments(test)).toBe(0);
  });
});

describe("GET /api/merchants/{id}", () => {
  it.each(["mer_01hzzzzzzzzzzzzzzzzzzzzzzz", "none", "mer_", "%00", "x".repeat(300)])(
    "returns 404 for %s, which names no merchant",
    async (id) => {
      const { status, body } = await test.backOffice.get(`/api/merchants/${id}`);
      expect(status).toBe(404);
      expect(body).toMatchObject({ title: "Resource not found", detail: "No such merchant." });
    },
  );
});

describe("the credit limit of a merchant that is created without one", () => {
  const merchant = { name: "M", accountEmail: "m@example.com" };

  it("is that of CREDIT_LIMITS for its currency, unless the request says null", async () => {
    const creditLimitsMinor = new Map([["EUR", 500_000n]]);
    const limited = await startServiceForTest({ config: { creditLimitsMinor } });
    const limitOf = async (fields: object = {}) =>
      (await limited.backOffice.post("/api/merchants", { ...merchant, ...fields })).body.creditLimit;
    expect(await limitOf()).toEqual({ amount: "5000.00", currency: "EUR" });
    expect(await limitOf({ currency: "USD" })).toBeNull();
    expect(await limitOf({ creditLimit: null })).toBeNull();
    const own = { amount: "9000.00", currency: "EUR" };
    expect(await limitOf({ creditLimit: own })).toEqual(own);
  });
});
