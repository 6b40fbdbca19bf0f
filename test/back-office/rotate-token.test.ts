import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { processDuePayments } from "../support/payments.ts";
import { placeAcceptedOrder } from "../support/real-orders.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";
import { tokenPath, tokensOf } from "../support/tokens.ts";

let test: TestService;
let partner: Partner;
let tokens: ReturnType<typeof tokensOf>;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  tokens = tokensOf(test);
});
afterAll(() => test.close());

describe("POST /api/tokens/{id}/rotate", () => {
  const rotate = (token: Answer, body: object = {}): Promise<Answer> =>
    test.backOffice.post(tokenPath(token, "/rotate"), body);

  it("gives the same rights to a new token, and lets the old one overlap", async () => {
    const old = await tokens.create({ role: "merchant", merchantIds: [partner.merchantId] });
    const { status, body } = await rotate(old, { overlapHours: 2 });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: "Stock sync",
      role: "merchant",
      merchantIds: [partner.merchantId],
      expiresAt: null,
      replaces: old.body.id,
      replacedBy: null,
      previousExpiresAt: tokens.inHours(2),
    });
    expect((await test.backOffice.get(tokenPath(old))).body).toMatchObject({
      replacedBy: body.id,
      expiresAt: tokens.inHours(2),
    });
    const texts = [old.body.token, body.token];
    expect(await Promise.all(texts.map(tokens.statusWith))).toEqual([200, 200]);
    test.clock.advance({ hours: 2 });
    expect(await Promise.all(texts.map(tokens.statusWith))).toEqual([401, 200]);
  });

  it("overlaps for 24 hours by default, for none if requested, and never longer than before", async () => {
    expect((await rotate(await tokens.create())).body.previousExpiresAt).toBe(tokens.inHours(24));
    const leaked = await tokens.create();
    await rotate(leaked, { overlapHours: 0 });
    expect(await tokens.statusWith(leaked.body.token)).toBe(401);
    expect((await rotate(await tokens.create({ expiresAt: tokens.inHours(1) }))).body.previousExpiresAt).toBe(
      tokens.inHours(1),
    );
  });

  it("renews the expiry: for as long as before, until a given time, or without end", async () => {
    const old = await tokens.create({ expiresAt: tokens.inHours(10) });
    test.clock.advance({ hours: 9 });
    const renewed = await rotate(old);
    expect(renewed.body.expiresAt).toBe(tokens.inHours(10));
    const given = await rotate(renewed, { expiresAt: tokens.inHours(3) });
    expect(given.body.expiresAt).toBe(tokens.inHours(3));
    expect((await rotate(given, { expiresAt: null })).body.expiresAt).toBeNull();
    const distant = await tokens.create({ expiresAt: "9999-12-31T00:00:00Z" });
    test.clock.advance({ hours: 24 });
    expect((await rotate(distant)).body.expiresAt).toBe("9999-12-31T23:59:59.999Z");
  });

  it("works once for a token, also when requests are concurrent", async () => {
    const old = await tokens.create();
    const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(old)));
    const [made] = answers.filter(({ status }) => status === 201);
    const rejected = answers.filter(({ status }) => status === 409);
    expect(rejected).toHaveLength(7);
    for (const { body } of rejected)
      expect(body).toMatchObject({
        code: "token-not-rotatable",
        reason: "replaced",
        replacedBy: made?.body.id,
      });
  });

  it.each([
    ["revoked", async (token: Answer) => test.backOffice.post(tokenPath(token, "/revoke"))],
    ["expired", async () => test.clock.advance({ hours: 1 })],
  ])("is rejected for a token that is %s", async (reason, end) => {
    const token = await tokens.create({ expiresAt: tokens.inHours(1) });
    await end(token);
    expect((await rotate(token)).body).toMatchObject({ status: 409, reason, replacedBy: null });
  });

  it.each([-1, 168.1, "1"])("rejects an overlap of %s hours", async (overlapHours) => {
    expect((await rotate(await tokens.create(), { overlapHours })).status).toBe(422);
  });
});

describe("the initiator of a change", () => {
  it("is named with its id in the timeline and in the audit log", async () => {
    const { body } = await tokens.create({ name: "Night shift", role: "operator" });
    const actor = { kind: "operator", name: "Night shift", id: body.id };
    const client = test.backOfficeAs(body.token);
    const { id } = await placeOrder(partner);
    expect((await client.post(`/api/orders/${id}/hold`, { reasons: ["fraud"] })).status).toBe(200);
    const order = (await client.get(`/api/orders/${id}`)).body;
    expect(order.timeline.at(-1).actor).toEqual(actor);
    expect(order.holds).toMatchObject([{ reason: "fraud", placedBy: actor }]);
    for (const filter of [`actor=${body.id}`, "actor=Night%20shift"]) {
      const { data } = (await test.backOffice.get(`/api/audit-entries?${filter}`)).body;
      expect(data.map(({ action }: { action: string }) => action)).toEqual(["getOrder", "holdOrder"]);
      expect(data[0].actor).toEqual(actor);
    }
  });

  it("is named with its id by refunds, returns and movements of stock", async () => {
    const { body } = await tokens.create({ name: "Night shift", role: "operator", scopes: ["*"] });
    const actor = { kind: "operator", name: "Night shift", id: body.id };
    const client = test.backOfficeAs(body.token);
    const { id } = await placeAcceptedOrder(test, partner);
    await processDuePayments(test);
    const refund = { reason: "damaged", reference: "ticket-1", amount: { amount: "1.00", currency: "EUR" } };
    const refunded = await client.post(`/api/orders/${id}/refund`, refund);
    expect(refunded.body.refunds).toMatchObject([{ actor }]);
    await client.post(`/api/orders/${id}/ship`, {});
    expect((await client.post(`/api/orders/${id}/return`, {})).body.returns).toMatchObject([{ actor }]);
    const facility = (await client.post("/api/facilities", { name: "Depot", countryCode: "GB" })).body.id;
    const stock = `/api/facilities/${facility}/stock/${partner.productIds[0]}`;
    await client.request("PUT", stock, { body: { onHand: 5 } });
    await client.post(`${stock}/adjust`, { difference: -1, reason: "lost" });
    const { data } = (await client.get(`/api/facilities/${facility}/stock-movements`)).body;
    expect(data).toMatchObject([{ actor }, { actor }]);
  });

  it("is audited when it creates, rotates and revokes tokens", async () => {
    const first = await tokens.create();
    const second = (await test.backOffice.post(tokenPath(first, "/rotate"), {})).body;
    await test.backOffice.post(`/api/tokens/${second.id}/revoke`);
    const { data } = (await test.backOffice.get(`/api/audit-entries?subjectId=${second.id}`)).body;
    expect(data).toMatchObject([
      { action: "revokeToken", subjectIds: [second.id] },
      { action: "rotateToken", subjectIds: [second.id, first.body.id], details: { replaces: first.body.id } },
    ]);
    for (const secret of [first.body.token, second.token]) expect(JSON.stringify(data)).not.toContain(secret);
  });
});

describe("the last use", () => {
  it("is written at most once in five minutes", async () => {
    const token = await tokens.create();
    const lastUse = async () => (await test.backOffice.get(tokenPath(token))).body.lastUsedAt;
    const first = test.clock.now().toISOString();
    for (const [seconds, expected] of [
      [0, first],
      [299, first],
      [1, tokens.inHours(1 / 12)],
    ] as const) {
      test.clock.advance({ seconds });
      await tokens.statusWith(token.body.token);
      expect(await lastUse()).toBe(expected);
    }
  });

  it("does not count if the token is not valid any more", async () => {
    const token = await tokens.create({ expiresAt: tokens.inHours(1) });
    test.clock.advance({ hours: 1 });
    await tokens.statusWith(token.body.token);
    expect((await test.backOffice.get(tokenPath(token))).body.lastUsedAt).toBeNull();
  });
});
