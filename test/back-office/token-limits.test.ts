import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { tokenAuthentication } from "../../src/back-office/authentication.ts";
import { MERCHANT_TOKENS_MAX, TOKENS_MAX } from "../../src/people/token.ts";
import { openDatabase } from "../../src/platform/database/database.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { createPartner } from "../support/builders.ts";
import { freePort } from "../support/free-port.ts";
import { OPERATOR_TOKEN, startTestService, type TestService } from "../support/test-service.ts";
import { tokenPath, tokensOf } from "../support/tokens.ts";

let test: TestService;
let tokens: ReturnType<typeof tokensOf>;
beforeAll(async () => {
  test = await startTestService();
  tokens = tokensOf(test);
});
beforeEach(async () => {
  await test.db.query({ name: "test-delete-tokens", text: "delete from back_office_tokens", values: [] });
});
afterAll(() => test.close());

/** Stores valid tokens, of a merchant if one is given. */
async function fill(count: number, merchantId: string | null = null): Promise<void> {
  await test.db.query({
    name: "test-fill-tokens",
    text: `
      insert into back_office_tokens (id, token_hash, name, role, merchant_ids, scopes, prefix, created_by_kind, created_at)
      select gen_random_uuid(), sha256(n::text::bytea), 'T', case when $2::uuid is null then 'support' else 'merchant' end,
             array_remove(array[$2::uuid], null), '{orders:read}', 'pot', 'operator', $3
      from generate_series(1, $1::integer) as n`,
    values: [count, merchantId === null ? null : fromTypeId("mer", merchantId), test.clock.now()],
  });
}

async function countStored(): Promise<number> {
  const text = "select count(*)::integer as count from back_office_tokens";
  const [row] = await test.db.query<{ count: number }>({ name: "test-count-tokens", text, values: [] });
  return row?.count ?? 0;
}

describe("stored tokens", () => {
  it("are at most 1,000, also when requests are concurrent", async () => {
    await fill(TOKENS_MAX - 2);
    const answers = await Promise.all(Array.from({ length: 6 }, () => tokens.send({})));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      code: "limit-reached",
      limit: "tokens",
      maximum: TOKENS_MAX,
    });
    expect(await countStored()).toBe(TOKENS_MAX);
    const valid = answers.find(({ status }) => status === 201);
    if (valid === undefined) throw new Error("Two tokens were created.");
    expect((await test.backOffice.post(tokenPath(valid, "/rotate"), {})).body.limit).toBe("tokens");
  });

  it("lose the one that ended first to a new one", async () => {
    const later = await tokens.create({ expiresAt: tokens.inHours(2) });
    const first = await tokens.create({ expiresAt: tokens.inHours(1) });
    const rotated = await tokens.create();
    test.clock.advance({ hours: 3 });
    await fill(TOKENS_MAX - 3);
    expect((await test.backOffice.post(tokenPath(rotated, "/rotate"), {})).status).toBe(201);
    const statusOf = async (token: typeof first) => (await test.backOffice.get(tokenPath(token))).status;
    expect([await statusOf(first), await statusOf(later)]).toEqual([404, 200]);
    await tokens.create();
    expect(await statusOf(later)).toBe(404);
    expect((await tokens.send({})).status).toBe(409);
    expect(await countStored()).toBe(TOKENS_MAX);
  });

  it("of a merchant are at most 100 that it creates itself, and others have room", async () => {
    const { merchantId, connectionId } = await createPartner(test);
    const { merchantId: other } = await createPartner(test);
    const own = { role: "merchant", merchantIds: [merchantId], scopes: ["*"] };
    const mine = test.backOfficeAs((await tokens.create(own)).body.token);
    await fill(MERCHANT_TOKENS_MAX - 2, merchantId);
    const answers = await Promise.all(Array.from({ length: 3 }, () => tokens.send(own, mine)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      limit: "merchantTokens",
      maximum: MERCHANT_TOKENS_MAX,
    });
    const both = { role: "merchant", merchantIds: [other, merchantId], scopes: ["*"] };
    const ofBoth = test.backOfficeAs((await tokens.create(both)).body.token);
    expect((await tokens.send({ role: "merchant", merchantIds: [other] }, ofBoth)).status).toBe(201);
    expect((await tokens.send(own, ofBoth)).status).toBe(409);
    const ofPartner = { role: "partner", connectionIds: [connectionId] };
    expect((await tokens.send(ofPartner, ofBoth)).status).toBe(409);
    expect((await tokens.send(own)).status).toBe(201);
  });
});

describe("without a database", () => {
  it("OPERATOR_TOKEN still opens the back office, and a guess is rejected as ever", async () => {
    const url = `postgres://127.0.0.1:${await freePort()}/none`;
    const db = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
    const context = { ...test.context, db };
    const app = createBackOffice(context, tokenAuthentication(OPERATOR_TOKEN, context), createMetrics());
    const statusWith = async (token: string) =>
      (await app.inject({ url: "/api/me", headers: { authorization: `Bearer ${token}` } })).statusCode;
    expect(await statusWith(OPERATOR_TOKEN)).toBe(200);
    expect(await statusWith("guess")).toBe(401);
    expect(await statusWith(`pot_operator_${"a".repeat(43)}`)).toBe(503);
    await app.close();
    await db.close();
  });
});
