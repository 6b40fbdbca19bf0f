import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countRows, createKey, createPartner, type Partner } from "../support/builders.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const keysPath = () => `/api/connections/${partner.connectionId}/keys`;
const issue = (body: object) => test.backOffice.post(keysPath(), body);
const revoke = (id: string) => test.backOffice.post(`/api/keys/${id}/revoke`);
const statusWith = async (key: string) => (await test.partner(key).get("/v1/me")).status;
const inMs = (ms: number) => new Date(test.clock.now().getTime() + ms).toISOString();

describe("POST /api/connections/{id}/keys", () => {
  it("issues a key that works at once and does not expire", async () => {
    const { status, body } = await issue({ name: "production" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
      connectionId: partner.connectionId,
      name: "production",
      mode: "live",
      key: expect.stringMatching(/^pok_live_[A-Za-z0-9_-]{43}$/),
      prefix: body.key.slice(0, 16),
      createdAt: test.clock.now().toISOString(),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      replacedBy: null,
    });
    expect(await statusWith(body.key)).toBe(200);
  });

  it("several live keys at a time act as the same connection", async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => createKey(test, partner.connectionId)));
    expect(new Set(keys.map(({ key }) => key)).size).toBe(5);
    for (const { id, key } of keys) {
      const { body } = await test.partner(key).get("/v1/me");
      expect(body).toMatchObject({ id: partner.connectionId, key: { id } });
    }
  });

  it("shows the key only once: no list and no revocation shows it again", async () => {
    const { id, key } = await createKey(test, partner.connectionId);
    const answers = [
      await test.backOffice.get(`${keysPath()}?limit=100`),
      await test.partner(key).get("/v1/me"),
      await revoke(id),
    ];
    expect(answers[0]?.body.data.map((listed: { id: string }) => listed.id)).toContain(id);
    for (const { body } of answers) expect(JSON.stringify(body)).not.toContain(key.slice(16));
    for (const listed of answers[0]?.body.data ?? []) expect(listed).not.toHaveProperty("key");
  });

  it("stores only the key's hash: neither the key nor its random part is in any table", async () => {
    const { key } = await createKey(test, partner.connectionId);
    await test.partner(key).get("/v1/me");
    const stored = JSON.stringify(await dumpTables(test));
    const random = key.slice(4);
    const forms = [
      key,
      random,
      random.slice(8),
      Buffer.from(key).toString("hex"),
      Buffer.from(random, "base64url").toString("hex"),
      Buffer.from(key).toString("base64"),
    ];
    for (const form of forms) expect(stored).not.toContain(form);
    expect(stored).toContain(createHash("sha256").update(key).digest("hex"));
  });

  it.each<[string, object, string]>([
    ["a name of 256 characters", { name: "x".repeat(256) }, "/name"],
    ["an end that is no time", { expiresAt: "tomorrow" }, "/expiresAt"],
    ["an end without a time zone", { expiresAt: "2030-01-01T00:00:00" }, "/expiresAt"],
    ["an end on a day that is none", { expiresAt: "2030-02-30T00:00:00Z" }, "/expiresAt"],
    ["an end that is a number", { expiresAt: 1_900_000_000 }, "/expiresAt"],
    ["an end long ago", { expiresAt: "2020-01-01T00:00:00Z" }, "/expiresAt"],
  ])("rejects %s with 422", async (_title, body, pointer) => {
    const before = await countRows(test, "api_keys");
    const answer = await issue(body);
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toMatchObject([{ pointer }]);
    expect(JSON.stringify(answer.body)).not.toContain("pok_");
    expect(await countRows(test, "api_keys")).toBe(before);
  });

  it("rejects an expiry that is now; one a millisecond ahead is accepted", async () => {
    expect((await issue({ expiresAt: inMs(0) })).status).toBe(422);
    expect((await issue({ expiresAt: inMs(1) })).status).toBe(201);
  });

  it("returns 404 for a missing connection", async () => {
    for (const id of ["con_01hzzzzzzzzzzzzzzzzzzzzzzz", "none", partner.merchantId])
      expect((await test.backOffice.post(`/api/connections/${id}/keys`, {})).status).toBe(404);
  });
});

describe("the end of a key", () => {
  it("is exact: it works a millisecond before, and no more from that moment on", async () => {
    const { key } = await createKey(test, partner.connectionId, { expiresAt: inMs(60_000) });
    test.clock.advance({ ms: 59_999 });
    expect(await statusWith(key)).toBe(200);
    test.clock.advance({ ms: 1 });
    expect(await statusWith(key)).toBe(401);
    expect(await statusWith(partner.key)).toBe(200);
  });

  it("is accepted in any time zone", async () => {
    const end = new Date(test.clock.now().getTime() + 3_600_000);
    const shifted = new Date(end.getTime() + 5.5 * 3_600_000).toISOString().replace("Z", "+05:30");
    const { body } = await issue({ expiresAt: shifted });
    expect(body.expiresAt).toBe(end.toISOString());
  });

  it("leaves the key in the list", async () => {
    const { id } = await createKey(test, partner.connectionId, { expiresAt: inMs(1) });
    test.clock.advance({ ms: 1 });
    const { body } = await test.backOffice.get(`${keysPath()}?limit=100`);
    expect(body.data.map((key: { id: string }) => key.id)).toContain(id);
  });
});

describe("POST /api/keys/{id}/revoke", () => {
  it("takes effect at the very next request, in every process", async () => {
    const other = await startTestService({ databaseUrl: test.context.config.databaseUrl ?? "" });
    const { id, key } = await createKey(test, partner.connectionId);
    for (const service of [test, other]) expect((await service.partner(key).get("/v1/me")).status).toBe(200);
    const { status, body } = await revoke(id);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, revokedAt: test.clock.now().toISOString() });
    for (const service of [test, other]) expect((await service.partner(key).get("/v1/me")).status).toBe(401);
    await other.close();
  });

  it("revokes that key only", async () => {
    const [one, two] = [
      await createKey(test, partner.connectionId),
      await createKey(test, partner.connectionId),
    ];
    await revoke(one.id);
    expect([await statusWith(one.key), await statusWith(two.key)]).toEqual([401, 200]);
    expect(await statusWith(partner.key)).toBe(200);
  });

  it("a second time returns the same, and keeps the first time", async () => {
    const { id } = await createKey(test, partner.connectionId);
    const first = await revoke(id);
    test.clock.advance({ hours: 1 });
    expect(await revoke(id)).toMatchObject({ status: 200, body: first.body });
  });

  it("stops every route, and an order in progress is rejected", async () => {
    const { id, key } = await createKey(test, partner.connectionId);
    await revoke(id);
    const before = await dumpTables(test);
    const client = test.partner(key);
    const answers = [
      await client.post("/v1/orders", { externalOrderId: "x" }),
      await client.get("/v1/products"),
      await client.post("/v1/orders/x/cancel"),
      await client.post("/v1/test/orders/x/transitions", { transition: "ship" }),
    ];
    for (const { status, headers } of answers) {
      expect(status).toBe(401);
      expect(headers["www-authenticate"]).toBe('Bearer realm="partner-orders", error="invalid_token"');
    }
    expect(await dumpTables(test)).toEqual(before);
  });

  it("a revoked, an expired and an unknown key get the same response", async () => {
    const revoked = await createKey(test, partner.connectionId);
    await revoke(revoked.id);
    const expired = await createKey(test, partner.connectionId, { expiresAt: inMs(1) });
    test.clock.advance({ ms: 1 });
    const keys = [revoked.key, expired.key, `pok_live_${"x".repeat(43)}`];
    const answers = await Promise.all(keys.map((key) => test.partner(key).get("/v1/me")));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify({ status, body }))).size).toBe(1);
    expect(answers[0]?.status).toBe(401);
  });

  it("returns 404 for a missing one", async () => {
    for (const id of ["key_01hzzzzzzzzzzzzzzzzzzzzzzz", "none", partner.connectionId, partner.key])
      expect((await revoke(id)).status).toBe(404);
  });
});
