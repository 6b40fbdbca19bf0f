import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { namedScopes } from "../../src/audit/scope.ts";
import { created, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { countRowsNaming } from "../support/tables.ts";
import { type Client, OPERATOR_TOKEN, startTestService, type TestService } from "../support/test-service.ts";
import { tokenPath, tokensOf } from "../support/tokens.ts";

let test: TestService;
let partner: Partner;
let other: Partner;
let mine: Client;
let tokens: ReturnType<typeof tokensOf>;
beforeAll(async () => {
  test = await startTestService();
  tokens = tokensOf(test);
  [partner, other] = [await createPartner(test), await createPartner(test)];
  mine = test.backOfficeAs(
    (await tokens.create({ role: "merchant", merchantIds: [partner.merchantId], scopes: ["*"] })).body.token,
  );
});
afterAll(() => test.close());

describe("POST /api/tokens", () => {
  it("creates a token, which is shown once and stored as a hash only", async () => {
    const { body } = await tokens.create({ role: "warehouse", expiresAt: tokens.inHours(1) });
    expect(body).toEqual({
      id: expect.stringMatching(/^tok_[0-9a-z]{26}$/),
      name: "Stock sync",
      role: "warehouse",
      merchantIds: [],
      facilityIds: null,
      connectionIds: [],
      scopes: namedScopes("warehouse", undefined),
      prefix: body.token.slice(0, 20),
      createdAt: test.clock.now().toISOString(),
      token: expect.stringMatching(/^pot_warehouse_[A-Za-z0-9_-]{43}$/),
      createdBy: { kind: "operator", name: "operator", id: null },
      expiresAt: tokens.inHours(1),
      revokedAt: null,
      lastUsedAt: null,
      replaces: null,
      replacedBy: null,
    });
    const { token, ...shown } = body;
    expect((await test.backOffice.get(`/api/tokens/${body.id}`)).body).toEqual(shown);
    expect(await countRowsNaming(test, token, token.slice(-20))).toEqual({});
  });

  it("names each merchant once", async () => {
    const { merchantId } = partner;
    const { body } = await tokens.create({ role: "merchant", merchantIds: [merchantId, merchantId] });
    expect(body.merchantIds).toEqual([merchantId]);
  });

  it("makes a caller with a name, a role and an id", async () => {
    const { body } = await tokens.create({
      role: "merchant",
      merchantIds: [other.merchantId, partner.merchantId],
    });
    expect((await test.backOfficeAs(body.token).get("/api/me")).body).toEqual({
      type: "token",
      role: "merchant",
      name: "Stock sync",
      personId: null,
      email: null,
      tokenId: body.id,
      merchantIds: [other.merchantId, partner.merchantId],
      scopes: body.scopes,
      grants: [
        {
          role: "merchant",
          merchantIds: [other.merchantId, partner.merchantId],
          facilityIds: null,
          connectionIds: [],
        },
      ],
    });
    expect((await test.backOffice.get("/api/me")).body).toEqual({
      type: "token",
      role: "operator",
      name: "operator",
      personId: null,
      email: null,
      tokenId: null,
      merchantIds: null,
      scopes: null,
      grants: [{ role: "operator", merchantIds: [], facilityIds: null, connectionIds: [] }],
    });
  });

  it("is for all facilities or for named ones, and for named connections", async () => {
    const facility = await created(test.backOffice.post("/api/facilities", { name: "A", countryCode: "DE" }));
    const { connectionId } = partner;
    const cases = [
      [{ role: "warehouse" }, { facilityIds: null }],
      [{ role: "warehouse", facilityIds: [facility.id, facility.id] }, { facilityIds: [facility.id] }],
      [{ role: "partner", connectionIds: [connectionId, connectionId] }, { connectionIds: [connectionId] }],
    ] as const;
    for (const [fields, shown] of cases) {
      const { body } = await tokens.create(fields);
      const grant = { role: fields.role, merchantIds: [], facilityIds: null, connectionIds: [], ...shown };
      expect(body).toMatchObject(grant);
      expect((await test.backOfficeAs(body.token).get("/api/me")).body.grants).toEqual([grant]);
      const rotated = await test.backOffice.post(`/api/tokens/${body.id}/rotate`, {});
      expect(rotated.body).toMatchObject(grant);
    }
  });

  it.each([
    ["no name", { name: undefined }, "/name"],
    ["a name of 256 characters", { name: "n".repeat(256) }, "/name"],
    ["an unknown role", { role: "root" }, "/role"],
    ["a past expiry", { expiresAt: "2020-01-01T00:00:00Z" }, "/expiresAt"],
    ["an expiry beyond RFC 3339", { expiresAt: "9999-12-31T23:59:59-14:00" }, "/expiresAt"],
    ["the role merchant without merchants", { role: "merchant" }, "/merchantIds"],
    ["no merchants", { role: "merchant", merchantIds: [] }, "/merchantIds"],
    ["merchants of another role", { merchantIds: ["mer_01m7y7np16fe68bxp4h91tdmdn"] }, "/merchantIds"],
    [
      "a missing merchant",
      { role: "merchant", merchantIds: ["mer_01m7y7np16fe68bxp4h91tdmdn"] },
      "/merchantIds/0",
    ],
    ["what is no id", { role: "merchant", merchantIds: ["x"] }, "/merchantIds/0"],
    ["the role partner without connections", { role: "partner" }, "/connectionIds"],
    ["connections of another role", { connectionIds: ["x"] }, "/connectionIds"],
    [
      "a missing connection",
      { role: "partner", connectionIds: ["con_01m7y7np16fe68bxp4h91tdmdn"] },
      "/connectionIds/0",
    ],
    ["no facilities", { role: "warehouse", facilityIds: [] }, "/facilityIds"],
    [
      "a missing facility",
      { role: "warehouse", facilityIds: ["fac_01m7y7np16fe68bxp4h91tdmdn"] },
      "/facilityIds/0",
    ],
    [
      "101 facilities",
      { role: "warehouse", facilityIds: Array.from({ length: 101 }, String) },
      "/facilityIds",
    ],
    ["101 merchants", { role: "merchant", merchantIds: Array.from({ length: 101 }, String) }, "/merchantIds"],
  ])("rejects %s", async (_title, fields, pointer) => {
    const { status, body } = await tokens.send(fields);
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([{ pointer }]);
  });

  it("rejects an expiry of lists so deep within lists that they cannot be written out", async () => {
    const lists = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const rawBody = `{"name":"Stock sync","role":"support","expiresAt":${lists}}`;
    const { status, body } = await test.backOffice.request("POST", "/api/tokens", { rawBody });
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([{ pointer: "/expiresAt" }]);
  });
});

describe("a token of a merchant", () => {
  it("creates tokens for its own merchants, and none with more rights", async () => {
    const within = { role: "merchant", merchantIds: [partner.merchantId] };
    const { body } = await tokens.create(within, mine);
    expect(body.createdBy).toMatchObject({ kind: "merchant", name: "Stock sync" });
    const beyond = [
      [{ role: "operator" }, "/role"],
      [{ role: "monitoring" }, "/role"],
      [{ role: "merchant", merchantIds: [other.merchantId] }, "/merchantIds/0"],
      [{ role: "merchant", merchantIds: [partner.merchantId, other.merchantId] }, "/merchantIds/1"],
      [{ role: "warehouse" }, "/role"],
      [{ role: "partner", connectionIds: [partner.connectionId, other.connectionId] }, "/connectionIds/1"],
    ] as const;
    for (const [fields, pointer] of beyond) {
      const answer = await tokens.send(fields, mine);
      expect(answer.status).toBe(422);
      expect(answer.body.errors).toMatchObject([{ pointer }]);
    }
  });

  it("learns nothing about other merchants: their errors are those of missing ones", async () => {
    const errorsOf = async (id: string) =>
      (await tokens.send({ role: "merchant", merchantIds: [id] }, mine)).body.errors;
    expect(await errorsOf(other.merchantId)).toEqual(await errorsOf("mer_01m7y7np16fe68bxp4h91tdmdn"));
    const connectionErrorsOf = async (id: string) =>
      (await tokens.send({ role: "partner", connectionIds: [id] }, mine)).body.errors;
    const missing = await connectionErrorsOf("con_01m7y7np16fe68bxp4h91tdmdn");
    expect(await connectionErrorsOf(other.connectionId)).toEqual(missing);
  });

  it("sees, rotates and revokes only tokens with no more rights than its own", async () => {
    const both = { role: "merchant", merchantIds: [partner.merchantId, other.merchantId] };
    const ofPartners = (...connectionIds: string[]) => ({ role: "partner", connectionIds });
    const hidden = [
      await tokens.create({ role: "operator" }),
      await tokens.create({ role: "warehouse" }),
      await tokens.create(both),
      await tokens.create(ofPartners(partner.connectionId, other.connectionId)),
    ];
    const ofMine = await tokens.create(ofPartners(partner.connectionId), mine);
    expect((await mine.get(tokenPath(ofMine))).status).toBe(200);
    for (const token of hidden) {
      const answers = [
        await mine.get(tokenPath(token)),
        await mine.post(tokenPath(token, "/revoke")),
        await mine.post(tokenPath(token, "/rotate"), {}),
      ];
      for (const { status, body } of answers) expect([status, body.detail]).toEqual([404, "No such token."]);
    }
    const { data } = (await mine.get("/api/tokens?limit=100")).body;
    expect(data.length).toBeGreaterThan(0);
    expect(data.map(({ id }: { id: string }) => id)).toContain(ofMine.body.id);
    for (const { role, merchantIds, connectionIds } of data)
      expect(role === "merchant" ? merchantIds : connectionIds).toEqual(
        role === "merchant" ? [partner.merchantId] : [partner.connectionId],
      );
  });

  it("of several merchants lists the orders and the merchants of all of them", async () => {
    const third = await createPartner(test);
    const both = { role: "merchant", merchantIds: [partner.merchantId, other.merchantId] };
    const client = test.backOfficeAs((await tokens.create(both)).body.token);
    const orders = [await placeOrder(partner), await placeOrder(other), await placeOrder(third)];
    const idsOf = async (path: string): Promise<string[]> =>
      (await client.get(path)).body.data.map(({ id }: { id: string }) => id).sort();
    for (const query of ["", "?status=NEW"])
      expect(await idsOf(`/api/orders${query}`)).toEqual([orders[0]?.id, orders[1]?.id].sort());
    expect(await idsOf(`/api/orders?merchantId=${other.merchantId}`)).toEqual([orders[1]?.id]);
    expect(await idsOf(`/api/orders?merchantId=${third.merchantId}`)).toEqual([]);
    expect(await idsOf("/api/merchants")).toEqual([partner.merchantId, other.merchantId].sort());
  });
});

describe("the end of a token", () => {
  it("is its revocation: the next request is rejected, and the time of the first one stays", async () => {
    const token = await tokens.create();
    expect(await tokens.statusWith(token.body.token)).toBe(200);
    const revokedAt = test.clock.now().toISOString();
    expect((await test.backOffice.post(tokenPath(token, "/revoke"))).body.revokedAt).toBe(revokedAt);
    expect(await tokens.statusWith(token.body.token)).toBe(401);
    test.clock.advance({ seconds: 1 });
    expect((await test.backOffice.post(tokenPath(token, "/revoke"))).body.revokedAt).toBe(revokedAt);
    const about = `/api/audit-entries?subjectId=${token.body.id}&action=revokeToken`;
    expect((await test.backOffice.get(about)).body.data).toHaveLength(1);
  });

  it("is its expiry, to the millisecond", async () => {
    const { body } = await tokens.create({ expiresAt: tokens.inHours(1) });
    test.clock.advance({ ms: 3_600_000 - 1 });
    expect(await tokens.statusWith(body.token)).toBe(200);
    test.clock.advance({ ms: 1 });
    expect(await tokens.statusWith(body.token)).toBe(401);
  });

  it("looks to its user exactly like a wrong token", async () => {
    const token = await tokens.create();
    await test.backOffice.post(tokenPath(token, "/revoke"));
    const answerTo = async (text: string) => {
      const { headers, body, status } = await test.backOfficeAs(text).get("/api/me");
      return { body, status, challenge: headers["www-authenticate"] };
    };
    expect(await answerTo(token.body.token)).toEqual(await answerTo("not-a-token"));
  });
});

describe("GET /api/tokens", () => {
  it("lists tokens, oldest first, by role and whether they are valid", async () => {
    const live = await tokens.create({ role: "monitoring" });
    const revoked = await tokens.create({ role: "monitoring" });
    await test.backOffice.post(tokenPath(revoked, "/revoke"));
    const idsOf = async (query: string): Promise<string[]> =>
      (await test.backOffice.get(`/api/tokens?role=monitoring&limit=100${query}`)).body.data.map(
        ({ id }: { id: string }) => id,
      );
    expect(await idsOf("")).toEqual([live.body.id, revoked.body.id]);
    expect(await idsOf("&live=true")).toEqual([live.body.id]);
    expect(await idsOf("&live=false")).toEqual([revoked.body.id]);
    const [page] = [(await test.backOffice.get("/api/tokens?role=monitoring&limit=1")).body];
    expect(page.data).toHaveLength(1);
    const next = await test.backOffice.get(`/api/tokens?role=monitoring&limit=1&cursor=${page.nextCursor}`);
    expect(next.body).toMatchObject({ data: [{ id: revoked.body.id }], nextCursor: null });
    expect(JSON.stringify(page)).not.toContain(live.body.token);
    expect(JSON.stringify(page)).not.toContain(OPERATOR_TOKEN);
  });
});
