import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NAMED_ONLY, namedScopes, SCOPES, scopesOfRole } from "../../src/audit/scope.ts";
import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import {
  type BackOfficeRequest,
  createMerchantResources,
  type MerchantResources,
  requestsOf,
} from "../support/back-office-resources.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, type Client, startTestService, type TestService } from "../support/test-service.ts";
import { tokenPath, tokensOf } from "../support/tokens.ts";

let test: TestService;
let resources: MerchantResources;
let requests: BackOfficeRequest[];
let tokens: ReturnType<typeof tokensOf>;
beforeAll(async () => {
  test = await startTestService();
  tokens = tokensOf(test);
  resources = await createMerchantResources(test);
  requests = requestsOf(resources);
});
afterAll(() => test.close());

const scopeOf = new Map(backOfficeRoutes.map(({ operationId, scope }) => [operationId, scope]));
const ofMerchant = () => ({ role: "merchant", merchantIds: [resources.partner.merchantId] });

/** A client with a token of these scopes. It was used before, so that its next use is not recorded. */
async function clientWith(fields: object): Promise<Client> {
  const client = test.backOfficeAs((await tokens.create(fields)).body.token);
  await client.get("/api/me");
  return client;
}

describe("the scopes of a token", () => {
  it("reject each request outside of them with the scope that it needs, and nothing changes", async () => {
    const clients = new Map<string, Client>();
    for (const scope of SCOPES) {
      const others = SCOPES.filter((each) => each !== scope);
      clients.set(scope, await clientWith({ role: "operator", scopes: others }));
    }
    const before = await dumpTables(test);
    for (const { operationId, send } of requests) {
      const scope = scopeOf.get(operationId) ?? "";
      if (scope === "every-token") continue;
      const { status, body } = await send(clients.get(scope) as Client); // Each scope has one.
      expect([status, body.code, body.scope], operationId).toEqual([403, "scope-required", scope]);
      expect(body.detail).toContain(scope);
    }
    expect(await dumpTables(test)).toEqual(before);
  });

  it("admit what they name", async () => {
    for (const scope of SCOPES.filter((each) => each.endsWith(":read"))) {
      const client = await clientWith({ role: "operator", scopes: [scope] });
      const within = requests.filter(({ operationId }) => scopeOf.get(operationId) === scope);
      expect(within.length, scope).toBeGreaterThan(0);
      for (const { operationId, send } of within)
        expect([401, 403], operationId).not.toContain((await send(client)).status);
      expect((await client.get("/api/me")).body.scopes).toEqual([scope]);
    }
  });

  it("come after the role: a request that the role does not allow is forbidden", async () => {
    const client = await clientWith({ ...ofMerchant(), scopes: ["orders:read"] });
    expect((await client.post("/api/facilities", {})).body.code).toBe("forbidden");
  });

  it("without a name are all of the role but those that issue credentials or move money", async () => {
    const { body } = await tokens.create(ofMerchant());
    expect(body.scopes).toEqual(scopesOfRole("merchant").filter((scope) => !NAMED_ONLY.includes(scope)));
    const { connectionId } = resources.partner;
    const client = test.backOfficeAs(body.token);
    expect((await client.get(`/api/connections/${connectionId}/keys`)).status).toBe(200);
    const issued = [
      await client.post(`/api/connections/${connectionId}/keys`, {}),
      await client.post("/api/tokens", { name: "Another", ...ofMerchant() }),
      await client.post("/api/people", { name: "P", email: "p@example.com", grants: [ofMerchant()] }),
      await client.post(`/api/connections/${connectionId}/webhook-endpoints`, {}),
    ];
    expect(issued.map((answer) => answer.body.scope)).toEqual([
      "keys:write",
      "tokens:write",
      "people:write",
      "endpoints:write",
    ]);
  });

  it("make a merchant's token that only reads", async () => {
    const client = await clientWith({ ...ofMerchant(), scopes: ["*:read"] });
    const [reads, changes] = [
      requests.filter(({ method }) => method === "GET"),
      requests.filter(({ method }) => method !== "GET"),
    ];
    for (const { operationId, send } of reads)
      expect((await send(client)).body.code, operationId).not.toBe("scope-required");
    const before = await dumpTables(test);
    for (const { operationId, send } of changes) {
      const { status, body } = await send(client);
      expect(status, operationId).toBe(403);
      expect(["forbidden", "scope-required"], operationId).toContain(body.code);
    }
    expect(await dumpTables(test)).toEqual(before);
  });

  it("are stored as named: `*` and `*:read` are resolved when the token is created", async () => {
    const { body } = await tokens.create({ role: "warehouse", scopes: ["*:read", "stock:write"] });
    expect(body.scopes).toEqual(namedScopes("warehouse", ["*:read", "stock:write"]));
    expect(
      (
        await tokens.create({
          role: "partner",
          connectionIds: [resources.partner.connectionId],
          scopes: ["*"],
        })
      ).body.scopes,
    ).toEqual(scopesOfRole("partner"));
    const rotated = await test.backOffice.post(`/api/tokens/${body.id}/rotate`, {});
    expect(rotated.body.scopes).toEqual(body.scopes);
  });

  it.each([
    ["an unknown scope", { scopes: ["orders:delete"] }, "/scopes/0", "one_of"],
    ["no scopes", { scopes: [] }, "/scopes", "min_items"],
    [
      "a scope that the role cannot have",
      { scopes: ["orders:read", "money:write"] },
      "/scopes/1",
      "scope_of_role",
    ],
  ])("cannot be %s", async (_title, fields, pointer, rule) => {
    const { status, body } = await tokens.send({ ...ofMerchant(), ...fields });
    expect([status, body.errors]).toMatchObject([422, [{ pointer, rule }]]);
  });
});

describe("a token that gives rights", () => {
  const pointersOf = ({ status, body }: Answer) => [
    status,
    body.errors?.[0]?.pointer,
    body.errors?.[0]?.rule,
  ];

  it("gives no scope that it lacks, neither by name, nor by default, nor by rotating another token", async () => {
    const wide = await tokens.create({ ...ofMerchant(), scopes: ["*"] });
    const narrow = await clientWith({
      ...ofMerchant(),
      scopes: ["tokens:write", "catalog:read", "orders:read"],
    });
    const beyond = await tokens.send({ ...ofMerchant(), scopes: ["orders:read", "orders:write"] }, narrow);
    expect(pointersOf(beyond)).toEqual([422, "/scopes/1", "scopes_of_caller"]);
    const made = await tokens.create(ofMerchant(), narrow);
    expect(made.body.scopes).toEqual(["orders:read", "catalog:read"]);
    const all = await tokens.create({ ...ofMerchant(), scopes: ["*"] }, narrow);
    expect(all.body.scopes).toEqual(["orders:read", "catalog:read", "tokens:write"]);
    const rotated = await narrow.post(tokenPath(wide, "/rotate"), {});
    expect([rotated.status, rotated.body.code]).toEqual([403, "scope-required"]);
    expect((await test.backOffice.get(tokenPath(wide))).body.replacedBy).toBeNull();
  });

  it("without anything to give says so", async () => {
    const onlyTokens = await clientWith({ ...ofMerchant(), scopes: ["tokens:write"] });
    expect(pointersOf(await tokens.send(ofMerchant(), onlyTokens))).toEqual([
      422,
      "/scopes",
      "scopes_of_caller",
    ]);
  });

  it("gives people only roles of which it has all scopes, and changes only such people", async () => {
    const invitation = (email: string) => ({ name: "P", email, grants: [ofMerchant()] });
    const full = await clientWith({ ...ofMerchant(), scopes: ["*"] });
    const invited = await full.post("/api/people", invitation("full@example.com"));
    expect(invited.status).toBe(201);
    const narrow = await clientWith({
      ...ofMerchant(),
      scopes: ["people:write", "people:read", "orders:read"],
    });
    const path = `/api/people/${invited.body.id}`;
    const answers = [
      await narrow.post("/api/people", invitation("narrow@example.com")),
      await narrow.request("PUT", `${path}/grants`, { body: { grants: [ofMerchant()] } }),
      await narrow.post(`${path}/resend-invitation`),
      await narrow.post(`${path}/enable`),
    ];
    for (const { status, body } of answers) expect([status, body.code]).toEqual([403, "scope-required"]);
    // What takes rights away needs none of them.
    expect((await narrow.post(`${path}/end-sessions`)).status).toBe(200);
    expect((await narrow.post(`${path}/disable`)).status).toBe(200);
  });

  it("waives a failed payment only with the scope for money, and releases other reasons without it", async () => {
    const path = `/api/orders/${resources.ids["orders"]}/release-hold`;
    const client = await clientWith({ role: "operator", scopes: ["orders:write"] });
    const { body } = await client.post(path, { reasons: ["fraud", "payment_failed"] });
    expect([body.code, body.scope]).toEqual(["scope-required", "money:write"]);
    const rich = await clientWith({ role: "operator", scopes: ["orders:write", "money:write"] });
    for (const answer of [
      await client.post(path, { reasons: ["fraud"] }),
      await rich.post(path, { reasons: ["payment_failed"] }),
    ])
      expect(answer.body.code).not.toBe("scope-required");
  });

  it("refunds with a return only with the scope for money", async () => {
    const client = await clientWith({ role: "operator", scopes: ["fulfilment:write"] });
    const path = `/api/orders/${resources.ids["orders"]}/return`;
    const lines = [{ lineId: "019f1f83-aac1-73a5-9745-52489a50b5b6", quantity: 1 }];
    const { body } = await client.post(path, { lines, refund: { reference: "ticket-1" } });
    expect([body.code, body.scope]).toEqual(["scope-required", "money:write"]);
  });
});
