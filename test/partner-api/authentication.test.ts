import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anOrder, createKey, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { expectProblem, withoutItsOwn } from "../support/orders.ts";
import { countRowsNaming, dumpTables } from "../support/tables.ts";
import { OPERATOR_TOKEN, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const me = (headers: Record<string, string>) => test.partner().get("/v1/me", { headers });

const NO_KEY = 'Bearer realm="partner-orders"';
const BAD_KEY = 'Bearer realm="partner-orders", error="invalid_token"';

async function expectUnauthorized(headers: Record<string, string>, challenge = BAD_KEY): Promise<void> {
  const answer = await me(headers);
  expectProblem(answer, 401, "unauthorized");
  expect(answer.headers["www-authenticate"]).toBe(challenge);
}

const revoke = (keyId: string) => test.backOffice.post(`/api/keys/${keyId}/revoke`);

/** Method, path and body of the seven routes. */
const ROUTES: [method: string, path: string, body?: object][] = [
  ["POST", "/v1/orders", {}],
  ["GET", "/v1/orders/an-order"],
  ["POST", "/v1/orders/an-order/cancel"],
  ["GET", "/v1/products"],
  ["GET", "/v1/products/018f0000-0000-7000-8000-000000000000"],
  ["GET", "/v1/me"],
  ["POST", "/v1/test/orders/an-order/transitions", { transition: "accept" }],
];

describe("a key", () => {
  it("is sent as Authorization: Bearer", async () => {
    const { status, body } = await me({ authorization: `Bearer ${partner.key}` });
    expect(status).toBe(200);
    expect(body.id).toBe(partner.connectionId);
  });

  it("is accepted in x-api-key as an alternative", async () => {
    const { status, body } = await me({ "x-api-key": partner.key });
    expect(status).toBe(200);
    expect(body.id).toBe(partner.connectionId);
  });

  it.each(["bearer", "BEARER", "bEaReR"])("takes the scheme in any case: %s", async (scheme) => {
    expect((await me({ authorization: `${scheme} ${partner.key}` })).status).toBe(200);
  });

  it("is taken from Authorization when both headers are sent", async () => {
    const other = await createPartner(test);
    const both = { authorization: `Bearer ${partner.key}`, "x-api-key": other.key };
    expect((await me(both)).body.id).toBe(partner.connectionId);
    expect((await me({ ...both, "x-api-key": "no key" })).status).toBe(200);
    expect((await me({ ...both, "x-api-key": "" })).status).toBe(200);
  });

  it("in x-api-key does not count when Authorization contains no valid one", async () => {
    for (const authorization of ["Bearer pok_unknown", "Basic dXNlcjpwYXNz", "Bearer", "", partner.key])
      await expectUnauthorized({ authorization, "x-api-key": partner.key });
  });

  it("is not taken from the query, a cookie or the body", async () => {
    const client = test.partner();
    for (const name of ["api_key", "apikey", "key", "access_token", "x-api-key"])
      expect((await client.get(`/v1/me?${name}=${partner.key}`)).status).toBe(401);
    await expectUnauthorized({ cookie: `x-api-key=${partner.key}` }, NO_KEY);
    expect((await client.post("/v1/orders", { access_token: partner.key })).status).toBe(401);
  });

  it("acts as exactly one connection", async () => {
    const other = await createPartner(test);
    expect((await partner.client.get("/v1/me")).body.id).toBe(partner.connectionId);
    expect((await other.client.get("/v1/me")).body.id).toBe(other.connectionId);
  });

  it("is stored only as a hash", async () => {
    const { key } = await createKey(test, partner.connectionId);
    expect(await countRowsNaming(test, key, key.slice("pok_live_".length), key.slice(-20))).toEqual({});
    const hash = createHash("sha256").update(key).digest("hex");
    expect(await countRowsNaming(test, hash)).toEqual({ api_keys: 1 });
  });
});

describe("a missing key", () => {
  it("returns 401 unauthorized with a challenge that names no error", async () => {
    await expectUnauthorized({}, NO_KEY);
  });

  it.each(ROUTES)("returns 401 on %s %s", async (method, path, body) => {
    const answer = await test.partner().request(method, path, body && { body });
    expectProblem(answer, 401, "unauthorized");
    expect(answer.headers["www-authenticate"]).toBe(NO_KEY);
  });

  it("is returned before anything of the request is checked", async () => {
    const client = test.partner();
    const long = "x".repeat(201);
    for (const answer of [
      await client.request("POST", "/v1/orders", { rawBody: "{" }),
      await client.request("POST", "/v1/orders", { rawBody: "x".repeat(300_000) }),
      await client.request("POST", "/v1/orders", { rawBody: "x", headers: { "content-type": "text/plain" } }),
      await client.request("POST", "/v1/orders"),
      await client.post("/v1/orders", {}, { headers: { "idempotency-key": "x".repeat(256) } }),
      await client.get(`/v1/orders/${long}`),
      await client.get("/v1/products?limit=0&cursor=x"),
      await client.post(`/v1/test/orders/${long}/transitions`, { transition: "explode" }),
    ])
      expectProblem(answer, 401, "unauthorized");
  });

  it("changes nothing", async () => {
    const order = await placeOrder(partner);
    const before = await dumpTables(test);
    await test.partner().post("/v1/orders", anOrder(partner));
    await test.partner("pok_unknown").post("/v1/orders", anOrder(partner));
    await test.partner("pok_unknown").post(`/v1/orders/${order.id}/cancel`);
    expect(await dumpTables(test)).toEqual(before);
  });
});

describe("an invalid key", () => {
  it("returns 401 unauthorized with error invalid_token", async () => {
    await expectUnauthorized({ authorization: "Bearer pok_unknown" });
    await expectUnauthorized({ "x-api-key": "pok_unknown" });
  });

  it.each(ROUTES)("returns 401 on %s %s", async (method, path, body) => {
    const answer = await test.partner("pok_unknown").request(method, path, body && { body });
    expectProblem(answer, 401, "unauthorized");
    expect(answer.headers["www-authenticate"]).toBe(BAD_KEY);
  });

  const foreignForms: [name: string, authorization: (key: string) => string][] = [
    ["nothing", () => ""],
    ["the scheme alone", () => "Bearer"],
    ["the key alone", (key) => key],
    ["another scheme", (key) => `Basic ${Buffer.from(`${key}:`).toString("base64")}`],
    ["a scheme that is not known", (key) => `Token ${key}`],
    ["the scheme twice", (key) => `Bearer Bearer ${key}`],
    ["two keys", (key) => `Bearer ${key} ${key}`],
    ["a list of two", (key) => `Bearer ${key}, Bearer ${key}`],
    ["a parameter", (key) => `Bearer token=${key}`],
    ["quotes", (key) => `Bearer "${key}"`],
    ["brackets", (key) => `Bearer <${key}>`],
    ["no space", (key) => `Bearer${key}`],
    ["a colon", (key) => `Bearer: ${key}`],
    ["a tab instead of the space", (key) => `Bearer\t${key}`],
    ["a comma behind", (key) => `Bearer ${key},`],
    ["one character less", (key) => `Bearer ${key.slice(0, -1)}`],
    ["one character more", (key) => `Bearer ${key}A`],
    ["the other case", (key) => `Bearer ${key.toUpperCase()}`],
    ["its prefix alone", (key) => `Bearer ${key.slice(0, 16)}`],
    ["its hash", (key) => `Bearer ${createHash("sha256").update(key).digest("hex")}`],
    ["percent-encoding", (key) => `Bearer ${key.replace("_", "%5F")}`],
    ["bytes beyond ASCII", (key) => `Bearer ${key}\u00e9`],
    ["very long", () => `Bearer ${"x".repeat(10_000)}`],
  ];
  it.each(foreignForms)("has another form in Authorization: %s", async (_name, authorization) => {
    await expectUnauthorized({ authorization: authorization(partner.key) });
  });

  it.each<[name: string, sent: (key: string) => string]>([
    ["nothing", () => ""],
    ["with a scheme", (key) => `Bearer ${key}`],
    ["two keys", (key) => `${key}, ${key}`],
    ["quotes", (key) => `"${key}"`],
    ["bytes beyond ASCII", (key) => `${key}\u00e9`],
  ])("has another form in x-api-key: %s", async (_name, sent) => {
    await expectUnauthorized({ "x-api-key": sent(partner.key) });
  });

  it("is not the id of a key or connection, nor the operator's token", async () => {
    const { id } = await createKey(test, partner.connectionId);
    for (const key of [id, partner.connectionId, OPERATOR_TOKEN])
      await expectUnauthorized({ authorization: `Bearer ${key}` });
  });

  it("is a partner's key at the back office", async () => {
    const answer = await test.backOffice.get("/api/merchants", {
      headers: { authorization: `Bearer ${partner.key}` },
    });
    expect(answer.status).toBe(401);
  });

  it("gets the same response whether it is unknown, revoked or expired", async () => {
    const revoked = await createKey(test, partner.connectionId);
    await revoke(revoked.id);
    const expiresAt = new Date(test.clock.now().getTime() + 1_000).toISOString();
    const expired = await createKey(test, partner.connectionId, { expiresAt });
    test.clock.advance({ seconds: 2 });
    const unknown = `pok_live_${"A".repeat(43)}`;
    expect(unknown).toHaveLength(partner.key.length);
    const answers = await Promise.all(
      [unknown, revoked.key, expired.key].map(async (key) =>
        withoutItsOwn(await test.partner(key).get("/v1/me")),
      ),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).not.toMatch(/revoked|expired|unknown/i);
  });
});

describe("what can be no key by its form", () => {
  const token = `pot_merchant_${"A".repeat(43)}`;
  const key = `pok_live_${"A".repeat(43)}`;
  it.each<[headers: Record<string, string>, detail: RegExp]>([
    [{ authorization: "" }, /^Authorization contains no key\. Send a key as Authorization: Bearer <key>, or/],
    [{ authorization: "Bearer" }, /^Authorization contains no key\./],
    [{ authorization: `Bearer Bearer ${key}` }, /^Authorization contains the word Bearer twice\./],
    [{ authorization: key }, /^Authorization lacks the word Bearer\./],
    [
      { authorization: `Basic ${btoa(`${key}:`)}` },
      /^Authorization has the scheme Basic instead of Bearer\./,
    ],
    [{ authorization: `Token ${key}` }, /^Authorization has another form/],
    [
      { authorization: `Bearer ${key} ${key}` },
      /^Authorization contains more than Bearer, a space and the key\./,
    ],
    [{ authorization: `Bearer "${key}"` }, /^The key is in quotes or brackets\./],
    [{ "x-api-key": `<${key}>` }, /^The key is in quotes or brackets\./],
    [{ "x-api-key": `Bearer ${key}` }, /^x-api-key takes the key alone, without the word Bearer\.$/],
    [{ "x-api-key": "" }, /^x-api-key contains no key\.$/],
    [
      { authorization: "Bearer $KEY" },
      /^Authorization contains the name of a variable instead of its value\.$/,
    ],
    [{ authorization: "Bearer {{key}}" }, /the name of a variable/],
    [{ authorization: `Bearer ${token}` }, /^This is a token of the back office\./],
    [{ authorization: "Bearer whsec_c2VjcmV0" }, /^This is the signing secret of a webhook endpoint\./],
    [{ authorization: `Bearer sk_live_${"A".repeat(43)}` }, /: a key begins with pok_live_ or pok_test_\.$/],
    [{ authorization: `Bearer ${key.slice(0, -1)}` }, /: it was not copied exactly\./],
    [
      { authorization: "Bearer pok_test_\u00e2\u0080\u00a6" },
      /^This is the placeholder of an example\. Put your own key/,
    ],
    [{ authorization: "Bearer pok_test_..." }, /^This is the placeholder of an example\./],
    [{ "x-api-key": "pok_live_YOUR_KEY" }, /^This is the placeholder of an example\./],
    [{ authorization: `Bearer ${key}` }, /^The API key is not valid\.$/],
    [{ authorization: "Bearer", "x-api-key": key }, / If both headers are sent, Authorization counts\.$/],
  ])("gets a detail that says which form is expected: %o", async (headers, detail) => {
    const { status, body } = await me(headers);
    expect(status).toBe(401);
    expect(body.detail).toMatch(detail);
    expect(body.detail).not.toContain("AAAA");
  });

  it.each<[headers: Record<string, string>, detail: RegExp]>([
    [{ authorization: `Bearer ${key}` }, /^This is a key of the partner API\./],
    [{ authorization: "", "x-api-key": key }, /^Authorization contains no token\./],
    [{ authorization: `Bearer ${token.slice(1)}` }, /^The token is not valid\.$/],
    [{ authorization: `Bearer ${token.slice(0, -1)}` }, /: it was not copied exactly\.$/],
    [
      { authorization: "Bearer pot_merchant_xxx" },
      /^This is the placeholder of an example\. Put your own token/,
    ],
    [{ authorization: `Bearer ${token}` }, /^The token is not valid\.$/],
  ])("gets one in the back office too: %o", async (headers, detail) => {
    const { status, body } = await test.backOffice.get("/api/merchants", { headers });
    expect(status).toBe(401);
    expect(body.detail).toMatch(detail);
  });
});
