import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MERCHANT_LIMITS } from "../../src/merchants/limits.ts";
import { personOf } from "../support/back-office-resources.ts";
import { aProduct, createKey, createPartner, type Partner } from "../support/builders.ts";
import { countsOf, importCsv } from "../support/imports.ts";
import { expectErrors, expectProblem } from "../support/orders.ts";
import { type Answer, type Client, startTestService, type TestService } from "../support/test-service.ts";
import { anEndpoint, createEndpoint, ENDPOINTS, endpointPath, uuidIn } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let merchant: Client;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
  merchant = personOf(test, partner.merchantId);
});
afterAll(() => test.close());

const path = (step = "") => `/api/merchants/${partner.merchantId}${step}`;
const setLimits = (limits: object) => test.backOffice.request("PATCH", path(), { body: { limits } });
const NO_OVERRIDES = Object.fromEntries(Object.keys(MERCHANT_LIMITS).map((name) => [name, null]));

/** Sends a request ten times at once, and returns what was created. All other responses name the limit. */
async function createdAtOnce(
  send: (number: number) => Promise<Answer>,
  limit: object,
): Promise<Answer["body"][]> {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, number) => send(number)));
  for (const refused of answers.filter(({ status }) => status !== 201))
    expectProblem(refused, 409, "limit-reached", limit);
  return answers.filter(({ status }) => status === 201).map(({ body }) => body);
}

/** Another connection of the merchant. */
async function createConnection(): Promise<string> {
  const { status, body } = await merchant.post(path("/connections"), { name: "Another partner" });
  expect(status).toBe(201);
  return body.id;
}

describe("the limits of a merchant", () => {
  it("are the defaults until the operator sets others, and again when it sets null", async () => {
    expect((await test.backOffice.get(path())).body.limits).toEqual(NO_OVERRIDES);
    const changed = await setLimits({ connections: 3, products: 7 });
    expect(changed.body.limits).toEqual({ ...NO_OVERRIDES, connections: 3, products: 7 });
    await setLimits({ connections: null });
    expect((await test.backOffice.get(path())).body.limits).toEqual({ ...NO_OVERRIDES, products: 7 });
    const { body } = await test.backOffice.request("PATCH", path(), { body: { name: "Renamed" } });
    expect(body).toMatchObject({ name: "Renamed", limits: { products: 7 } });
  });

  it.each([-1, 1.5, "3", 10_000_001])("cannot be %s", async (value) => {
    expectErrors(await setLimits({ connections: value }), [{ pointer: "/limits/connections" }]);
  });

  it("are changed by the operator only", async () => {
    const answer = await merchant.request("PATCH", path(), { body: { limits: { connections: 1_000 } } });
    expectProblem(answer, 403, "forbidden");
  });

  it("are shown with what is used, also to the merchant, and not to another one", async () => {
    await createEndpoint(partner);
    await createEndpoint(partner, { mode: "test" });
    const { id } = await createEndpoint(partner);
    await partner.client.request("DELETE", endpointPath(id));
    await merchant.post("/api/tokens", { name: "T", role: "merchant", merchantIds: [partner.merchantId] });
    await setLimits({ connections: 9 });
    const { body } = await merchant.get(path("/usage"));
    expect(body).toEqual({
      connections: { used: 1, maximum: 9, default: 200 },
      products: { used: partner.productIds.length, maximum: 500_000, default: 500_000 },
      merchantApiKeys: { used: 1, maximum: 1_000, default: 1_000 },
      merchantEndpoints: { used: 1, maximum: 2_000, default: 2_000 },
      merchantTestEndpoints: { used: 1, maximum: 200, default: 200 },
      merchantTokens: { used: 1, maximum: 100, default: 100 },
      merchantPeople: { used: 0, maximum: 200, default: 200 },
      invitationsPerDay: { used: 0, maximum: 100, default: 100 },
      merchantStreams: { used: null, maximum: 50, default: 50 },
    });
    const stranger = personOf(test, (await createPartner(test)).merchantId);
    expectProblem(await stranger.get(path("/usage")), 404, "not-found");
  });
});

describe("beyond a limit of a merchant the response is 409 with its name and value, also for ten requests at once", () => {
  it("connections", async () => {
    await setLimits({ connections: 4 });
    const create = () => merchant.post(path("/connections"), { name: "Another partner" });
    expect(await createdAtOnce(create, { limit: "connections", maximum: 4 })).toHaveLength(3);
    const asOperator = await test.backOffice.post(path("/connections"), { name: "P" });
    expectProblem(asOperator, 409, "limit-reached", { limit: "connections", maximum: 4 });
    await setLimits({ connections: 5 });
    await createConnection();
  });

  it("valid keys of all connections", async () => {
    const connectionIds = [partner.connectionId, await createConnection()];
    await setLimits({ merchantApiKeys: 4 });
    const issue = (number: number) => merchant.post(`/api/connections/${connectionIds[number % 2]}/keys`, {});
    const [key] = await createdAtOnce(issue, { limit: "merchantApiKeys", maximum: 4 });
    await merchant.post(`/api/keys/${key.id}/revoke`);
    expect(
      await createdAtOnce(issue, { limit: "merchantApiKeys", maximum: 4 }),
      "a revoked key makes room",
    ).toHaveLength(1);
  });

  it("endpoints of all connections, test endpoints apart from live ones", async () => {
    const another = await createKey(test, await createConnection());
    const clients = [partner.client, test.partner(another.key)];
    await setLimits({ merchantEndpoints: 3, merchantTestEndpoints: 1 });
    for (const [fields, limit, maximum] of [
      [{ mode: "test" }, "merchantTestEndpoints", 1],
      [{}, "merchantEndpoints", 3],
    ] as const) {
      const create = (number: number) =>
        clients[number % 2]?.post(ENDPOINTS, anEndpoint(fields)) as Promise<Answer>;
      expect(await createdAtOnce(create, { limit, maximum })).toHaveLength(maximum);
    }
    expectProblem(
      await merchant.post(`/api/connections/${partner.connectionId}/webhook-endpoints`, anEndpoint()),
      409,
      "limit-reached",
      { limit: "merchantEndpoints", maximum: 3 },
    );
  });

  it("products, one by one and imported, of which nothing is stored then", async () => {
    const before = partner.productIds.length;
    await setLimits({ products: before + 5 });
    const limit = { limit: "products", maximum: before + 5 };
    const csv = (count: number, sku: string) =>
      `sku,name,price\n${Array.from({ length: count }, (_, row) => `${sku}-${row},New,1.00`).join("\n")}`;
    const load = (count: number, options = {}, sku = "N") =>
      importCsv(merchant, partner.merchantId, csv(count, sku), { match: "none", ...options });
    for (const options of [{}, { dryRun: true }])
      expectProblem(await load(6, options), 409, "limit-reached", limit);
    expect((await merchant.get(path("/usage"))).body.products.used).toBe(before);
    expect(countsOf(await load(3))).toEqual({ created: 3, changed: 0, unchanged: 0 });
    const create = (number: number) =>
      number > 0 // A merchant has one import under way.
        ? merchant.post(path("/products"), aProduct())
        : load(1, {}, "M").then((answer) => (answer.status === 200 ? { ...answer, status: 201 } : answer));
    expect(await createdAtOnce(create, limit)).toHaveLength(2);
    expect(countsOf(await load(3, { match: "sku" })), "a change needs no room").toMatchObject({ created: 0 });
    const { body } = await merchant.get(`${path("/products")}?limit=100`);
    expect(body.data).toHaveLength(before + 5);
  });

  it("people, invited or given access, but for the operator", async () => {
    const { merchantId: other } = await createPartner(test);
    const staff = [{ role: "merchant", merchantIds: [partner.merchantId, other] }];
    const body = { name: "Mia", ...staff[0], scopes: ["*"] };
    const { token } = (await test.backOffice.post("/api/tokens", body)).body;
    const ofBoth = test.backOfficeAs(token);
    await setLimits({ merchantPeople: 2 });
    const invite = (client: Client, grants: readonly object[]) =>
      client.post("/api/people", { name: "P", email: `${test.context.newId()}@example.com`, grants });
    const limit = { limit: "merchantPeople", maximum: 2 };
    expect(await createdAtOnce(() => invite(ofBoth, staff), limit)).toHaveLength(2);
    const { body: person } = await invite(ofBoth, [{ role: "merchant", merchantIds: [other] }]);
    const grants = { grants: staff };
    expectProblem(
      await ofBoth.request("PUT", `/api/people/${person.id}/grants`, { body: grants }),
      409,
      "limit-reached",
      limit,
    );
    expect((await invite(test.backOffice, staff)).status).toBe(201);
  });
});

describe("a rotation of a key", () => {
  it("needs no room, and ten keys that were replaced one after the other keep their overlap", async () => {
    const { connectionId } = partner;
    const chain = [await createKey(test, connectionId)];
    await setLimits({ merchantApiKeys: 2 });
    await test.backOffice.request("PATCH", `/api/connections/${connectionId}`, {
      body: { limits: { apiKeys: 2 } },
    });
    for (let count = 0; count < 12; count += 1) {
      const { status, body } = await merchant.post(`/api/keys/${chain.at(-1)?.id}/rotate`, {});
      expect(status).toBe(201);
      chain.push(body);
    }
    const statuses = await Promise.all(
      chain.map(async ({ key }) => (await test.partner(key).get("/v1/me")).status),
    );
    expect(statuses).toEqual([401, 401, ...Array.from({ length: 11 }, () => 200)]);
    const issued = await merchant.post(`/api/connections/${connectionId}/keys`, {});
    expectProblem(issued, 409, "limit-reached", { limit: "apiKeys", maximum: 2 });
  });

  it("leaves the newest 100 of the ended keys of a connection", async () => {
    const { connectionId } = partner;
    const first = await createKey(test, connectionId);
    await merchant.post(`/api/keys/${first.id}/revoke`);
    await test.db.query({
      name: "test-fill-ended-keys",
      text: `
        insert into api_keys (key_hash, id, merchant_id, connection_id, prefix, created_at, expires_at)
        select sha256(gen_random_uuid()::text::bytea), gen_random_uuid(), $1, $2, 'pok', $3, $3
        from generate_series(1, 100)`,
      values: [uuidIn("mer", partner.merchantId), uuidIn("con", connectionId), test.clock.now()],
    });
    test.clock.advance({ ms: 1 });
    const last = await createKey(test, connectionId);
    await merchant.post(`/api/keys/${last.id}/revoke`);
    test.clock.advance({ ms: 1 });
    await createKey(test, connectionId);
    const statusOf = async ({ id }: { id: string }) => (await merchant.get(`/api/keys/${id}`)).status;
    expect(await statusOf(last)).toBe(200);
    const { body } = await merchant.get(`/api/connections/${connectionId}/keys?live=false&limit=100`);
    expect(body).toMatchObject({ nextCursor: null });
    expect(body.data).toHaveLength(100);
  });
});
