import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { tokenAuthentication } from "../../src/back-office/authentication.ts";
import { TOKENS_MAX } from "../../src/people/token.ts";
import { openDatabase } from "../../src/platform/database/database.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { countRows, createPartner } from "../support/builders.ts";
import { freePort } from "../support/free-port.ts";
import { expectProblem } from "../support/orders.ts";
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
async function fill(
  count: number,
  merchantId: string | null = null,
  expiresAt: string | null = null,
): Promise<void> {
  await test.db.query({
    name: "test-fill-tokens",
    text: `
      insert into back_office_tokens (id, token_hash, name, role, merchant_ids, scopes, prefix, created_by_kind, created_at, expires_at)
      select gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), 'T', case when $2::uuid is null then 'support' else 'merchant' end,
             array_remove(array[$2::uuid], null), '{orders:read}', 'pot', 'operator', $3, $4
      from generate_series(1, $1::integer) as n`,
    values: [count, merchantId === null ? null : fromTypeId("mer", merchantId), test.clock.now(), expiresAt],
  });
}

async function countStored(): Promise<number> {
  const text = "select count(*)::integer as count from back_office_tokens";
  const [row] = await test.db.query<{ count: number }>({ name: "test-count-tokens", text, values: [] });
  return row?.count ?? 0;
}

const rotate = ({ body }: { body: { id: string } }) =>
  test.backOffice.post(tokenPath({ body } as never, "/rotate"), {});

describe("tokens for no merchant", () => {
  it("are at most 1,000 valid ones, also when requests are concurrent, and a rotation needs no room", async () => {
    await fill(TOKENS_MAX - 2);
    const answers = await Promise.all(Array.from({ length: 6 }, () => tokens.send({})));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
    for (const refused of answers.filter(({ status }) => status === 409))
      expectProblem(refused, 409, "limit-reached", { limit: "tokens", maximum: TOKENS_MAX });
    const valid = answers.find(({ status }) => status === 201);
    if (valid === undefined) throw new Error("Two tokens were created.");
    expect((await rotate(valid)).status).toBe(201);
    await test.backOffice.post(tokenPath(valid, "/revoke"));
    expect((await tokens.send({})).status, "the new one counts").toBe(409);
  });

  it("are not stopped by those of merchants, and do not stop them", async () => {
    const { merchantId } = await createPartner(test);
    await fill(TOKENS_MAX, merchantId);
    expect((await tokens.send({})).status).toBe(201);
    await fill(TOKENS_MAX);
    const ofOther = {
      role: "merchant",
      merchantIds: [(await createPartner(test)).merchantId],
      scopes: ["*"],
    };
    const mine = test.backOfficeAs((await tokens.create(ofOther)).body.token);
    expect((await tokens.send(ofOther, mine)).status).toBe(201);
  });
});

describe("tokens of a merchant", () => {
  it("are at most as many valid ones as the operator has set, and merchants do not share them", async () => {
    const { merchantId, connectionId } = await createPartner(test);
    const { merchantId: other } = await createPartner(test);
    const own = { role: "merchant", merchantIds: [merchantId], scopes: ["*"] };
    const mine = test.backOfficeAs((await tokens.create(own)).body.token);
    await fill(98, merchantId);
    const answers = await Promise.all(Array.from({ length: 9 }, () => tokens.send(own, mine)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const refused of answers.filter(({ status }) => status !== 201))
      expectProblem(refused, 409, "limit-reached", { limit: "merchantTokens", maximum: 100 });
    const both = { role: "merchant", merchantIds: [other, merchantId], scopes: ["*"] };
    const ofBoth = test.backOfficeAs((await tokens.create(both)).body.token);
    expect((await tokens.send({ role: "merchant", merchantIds: [other] }, ofBoth)).status).toBe(201);
    for (const full of [own, both, { role: "partner", connectionIds: [connectionId] }])
      expectProblem(await tokens.send(full, ofBoth), 409, "limit-reached", {
        limit: "merchantTokens",
        maximum: 100,
      });
    expect((await tokens.send(own)).status, "the operator is not bound").toBe(201);
    const body = { limits: { merchantTokens: 103 } };
    await test.backOffice.request("PATCH", `/api/merchants/${merchantId}`, { body });
    expect((await tokens.send(own, mine)).status).toBe(201);
    expect((await tokens.send(own, mine)).status).toBe(409);
  });

  it("are rotated without room, and ten that were replaced keep their overlap", async () => {
    const { merchantId } = await createPartner(test);
    const own = { role: "merchant", merchantIds: [merchantId] };
    const chain = [await tokens.create(own)];
    await fill(99, merchantId);
    for (let count = 0; count < 12; count += 1) {
      const rotated = await rotate(chain.at(-1) as never);
      expect(rotated.status).toBe(201);
      chain.push(rotated);
    }
    const statuses = await Promise.all(chain.map(({ body }) => tokens.statusWith(body.token)));
    expect(statuses).toEqual([401, 401, ...Array.from({ length: 11 }, () => 200)]);
  });

  it("that have ended are kept up to 100, and those of another merchant stay", async () => {
    const [mine, other] = [await createPartner(test), await createPartner(test)];
    const own = { role: "merchant", merchantIds: [mine.merchantId], expiresAt: tokens.inHours(1) };
    const first = await tokens.create(own);
    const view = { name: "Mine", page: "orders", query: "" };
    await test.backOfficeAs(first.body.token).post("/api/views", view);
    const foreign = await tokens.create({ ...own, merchantIds: [other.merchantId] });
    test.clock.advance({ ms: 1 });
    await fill(100, mine.merchantId, tokens.inHours(1));
    test.clock.advance({ hours: 2 });
    await tokens.create({ ...own, expiresAt: undefined });
    const statusOf = async (token: typeof first) => (await test.backOffice.get(tokenPath(token))).status;
    expect([await statusOf(first), await statusOf(foreign)]).toEqual([404, 200]);
    expect(await countStored()).toBe(102);
    expect(await countRows(test, "saved_views"), "its views go with a token").toBe(0);
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
