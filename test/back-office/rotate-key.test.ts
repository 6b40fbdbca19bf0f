import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { developerOf } from "../support/back-office-resources.ts";
import { createKey, createPartner, type Partner } from "../support/builders.ts";
import { expectErrors, expectProblem } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const HOUR_MS = 3_600_000;
const inMs = (ms: number) => new Date(test.clock.now().getTime() + ms).toISOString();
const rotate = (id: string, body: object = {}): Promise<Answer> =>
  test.backOffice.post(`/api/keys/${id}/rotate`, body);
const readKey = async (id: string) => (await test.backOffice.get(`/api/keys/${id}`)).body;
const statusWith = async (key: string) => (await test.partner(key).get("/v1/me")).status;

describe("POST /api/keys/{id}/rotate", () => {
  it("issues a key like the old one, which ends after the overlap", async () => {
    const old = await createKey(test, partner.connectionId, { name: "shop", mode: "test" });
    const { status, body } = await rotate(old.id, { overlapHours: 1.5 });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      connectionId: partner.connectionId,
      name: "shop",
      mode: "test",
      expiresAt: null,
      previousExpiresAt: inMs(1.5 * HOUR_MS),
      key: expect.stringMatching(/^pok_test_/),
    });
    expect(await readKey(old.id)).toMatchObject({ replacedBy: body.id, expiresAt: inMs(1.5 * HOUR_MS) });
    expect([await statusWith(old.key), await statusWith(body.key)]).toEqual([200, 200]);
    test.clock.advance({ ms: 1.5 * HOUR_MS });
    expect([await statusWith(old.key), await statusWith(body.key)]).toEqual([401, 200]);
    expect(JSON.stringify(await readKey(body.id))).not.toContain(body.key.slice(16));
    const { body: log } = await test.backOffice.get(
      `/api/audit-entries?subjectId=${old.id}&action=rotateKey`,
    );
    expect(log.data).toMatchObject([{ subjectIds: [body.id, old.id], details: { replaces: old.id } }]);
    expect(JSON.stringify(log)).not.toContain(body.key.slice(16));
  });

  it("ends a leaked key at once, and never prolongs a key", async () => {
    const leaked = await createKey(test, partner.connectionId);
    const { body } = await rotate(leaked.id, { overlapHours: 0 });
    expect([await statusWith(leaked.key), await statusWith(body.key)]).toEqual([401, 200]);
    const short = await createKey(test, partner.connectionId, { expiresAt: inMs(HOUR_MS) });
    test.clock.advance({ ms: HOUR_MS / 2 });
    const renewed = await rotate(short.id, { overlapHours: 168 });
    expect(renewed.body).toMatchObject({ previousExpiresAt: inMs(HOUR_MS / 2), expiresAt: inMs(HOUR_MS) });
    const endless = await rotate(renewed.body.id, { expiresAt: null });
    expect(endless.body).toMatchObject({ previousExpiresAt: inMs(HOUR_MS), expiresAt: null });
  });

  it("rotates a key once, also for ten requests at once", async () => {
    const { id } = await createKey(test, partner.connectionId);
    const answers = await Promise.all(Array.from({ length: 10 }, () => rotate(id)));
    const [made, ...others] = answers.filter(({ status }) => status === 201);
    expect(others).toEqual([]);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectProblem(answer, 409, "key-not-rotatable", { reason: "replaced", replacedBy: made?.body.id });
    const { body } = await test.backOffice.get(`/api/connections/${partner.connectionId}/keys`);
    expect(body.data).toHaveLength(3); // With the one of the partner.
  });

  it("rejects keys that have ended, and wrong bodies", async () => {
    const [revoked, expired, valid] = [
      await createKey(test, partner.connectionId),
      await createKey(test, partner.connectionId, { expiresAt: inMs(1) }),
      await createKey(test, partner.connectionId),
    ];
    await test.backOffice.post(`/api/keys/${revoked.id}/revoke`);
    test.clock.advance({ ms: 1 });
    const before = await dumpTables(test);
    expectProblem(await rotate(revoked.id), 409, "key-not-rotatable", {
      reason: "revoked",
      replacedBy: null,
    });
    expectProblem(await rotate(expired.id), 409, "key-not-rotatable", {
      reason: "expired",
      replacedBy: null,
    });
    expectProblem(await rotate("key_01m7y7np16fe68bxp4h91tdmdn"), 404, "not-found");
    expectErrors(await rotate(valid.id, { overlapHours: 169 }), [{ pointer: "/overlapHours" }]);
    expectErrors(await rotate(valid.id, { expiresAt: inMs(0) }), [{ pointer: "/expiresAt" }]);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("lets a partner's developers rotate test keys, and no live ones", async () => {
    const developer = developerOf(test, partner);
    const live = await createKey(test, partner.connectionId);
    const forTests = await createKey(test, partner.connectionId, { mode: "test" });
    expectProblem(await developer.post(`/api/keys/${live.id}/rotate`, {}), 403, "forbidden");
    expect((await developer.post(`/api/keys/${forTests.id}/rotate`, {})).status).toBe(201);
  });
});

describe("the last use of a key", () => {
  /** The use is written beside the request: asks until the key shows it. */
  async function usedAt(id: string, expected: string): Promise<void> {
    for (let asked = 0; asked < 200; asked += 1) if ((await readKey(id)).lastUsedAt === expected) return;
    expect((await readKey(id)).lastUsedAt).toBe(expected);
  }

  it("is shown to within five minutes, of valid keys only", async () => {
    const [used, other] = [
      await createKey(test, partner.connectionId),
      await createKey(test, partner.connectionId),
    ];
    expect((await readKey(used.id)).lastUsedAt).toBeNull();
    const first = inMs(0);
    await statusWith(used.key);
    await usedAt(used.id, first);
    test.clock.advance({ ms: 299_999 });
    await statusWith(used.key);
    test.clock.advance({ ms: 1 });
    const second = inMs(0);
    await statusWith(used.key);
    await usedAt(used.id, second);
    const listed = await test.backOffice.get(`/api/connections/${partner.connectionId}/keys`);
    expect(listed.body.data.map(({ lastUsedAt }: { lastUsedAt: string | null }) => lastUsedAt)).toEqual([
      null,
      second,
      null,
    ]);
    await test.backOffice.post(`/api/keys/${other.id}/revoke`);
    expect(await statusWith(other.key)).toBe(401);
    await statusWith(partner.key);
    await usedAt(listed.body.data[0].id, second);
    expect((await readKey(other.id)).lastUsedAt).toBeNull();
  });
});
