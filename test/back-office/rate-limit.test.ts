import { describe, expect, it } from "vitest";
import type { Role } from "../../src/audit/grant.ts";
import type { Config } from "../../src/platform/config.ts";
import { anOrder, created, createKey, createPartner, placeOrder } from "../support/builders.ts";
import { expectProblem } from "../support/orders.ts";
import {
  type Client,
  createDatabase,
  startServiceForTest,
  type TestService,
} from "../support/test-service.ts";
import { tokensOf } from "../support/tokens.ts";

/** 240 a minute for a merchant or another caller, 40 of them at once; half of it for one caller of a merchant. */
const LIMITS = { backOfficeRateLimitPerMinute: 240, rateLimitPerMinute: 600 };

/** Every test has a database of its own, so the operator's allowance is unused as well. */
const startLimited = async (config: Partial<Config> = LIMITS): Promise<TestService> =>
  startServiceForTest({ config, databaseUrl: await createDatabase() });

/** A program of a role. */
async function newProgram(test: TestService, role: Role, fields: object = {}): Promise<Client> {
  test.clock.advance({ minutes: 1 }); // The operator's own allowance is full again.
  return test.backOfficeAs((await tokensOf(test).create({ role, ...fields })).body.token);
}

const ofMerchant = ({ merchantId }: { merchantId: string }) => ({ merchantIds: [merchantId] });
const ofConnection = ({ connectionId }: { connectionId: string }) => ({ connectionIds: [connectionId] });

/** Sends requests until one is rejected; returns how many were accepted. */
async function drain(client: Client, path = "/api/me"): Promise<number> {
  for (let allowed = 0; ; allowed += 1) if ((await client.get(path)).status === 429) return allowed;
}

describe("the rate limit of the back office", () => {
  it("reports policy, rest and reset on every response, and the wait with 429", async () => {
    const test = await startLimited();
    const program = await newProgram(test, "warehouse");
    const first = await program.get("/api/me");
    expect(first.headers["ratelimit-policy"]).toBe('"default";q=240;w=60');
    expect(first.headers["ratelimit"]).toBe('"default";r=39;t=1');
    const forbidden = await program.get("/api/tokens");
    expect(forbidden.status).toBe(403);
    expect(forbidden.headers["ratelimit"]).toBe('"default";r=38;t=1');
    expect(await drain(program)).toBe(38);
    const rejected = await program.get("/api/me");
    expectProblem(rejected, 429, "rate-limited");
    expect(rejected.headers["retry-after"]).toBe("1");
    expect(rejected.body.limit).toBeUndefined();
    test.clock.advance({ seconds: 1 });
    expect(await drain(program)).toBe(4);
  });

  it("is not used up by requests without a valid token", async () => {
    const test = await startLimited();
    for (let sent = 0; sent < 50; sent += 1) {
      const { status, headers } = await test.backOfficeAs("").get("/api/me");
      expect([status, headers["ratelimit"]]).toEqual([401, undefined]);
    }
    expect(await drain(await newProgram(test, "support"))).toBe(40);
  });

  it("is shared by the people and tokens of a merchant, of which each may use half", async () => {
    const test = await startLimited();
    const partner = await createPartner(test);
    const [one, two] = [
      await newProgram(test, "merchant", ofMerchant(partner)),
      await newProgram(test, "merchant", ofMerchant(partner)),
    ];
    const third = await newProgram(test, "merchant", ofMerchant(partner));
    expect((await one.get("/api/me")).headers["ratelimit-policy"]).toBe('"default";q=120;w=60');
    expect(await drain(one)).toBe(19);
    expect(await drain(two)).toBe(20);
    const rejected = await third.get("/api/me");
    expect(rejected.body).toMatchObject({ code: "rate-limited", limit: "merchant-requests" });
    expect(rejected.headers["ratelimit-policy"]).toBe('"merchant";q=240;w=60');
  });

  it("of a merchant takes nothing from others, from the operator, or from its connections", async () => {
    const test = await startLimited();
    const [partner, other] = [await createPartner(test), await createPartner(test)];
    const callers = {
      ofOther: await newProgram(test, "merchant", ofMerchant(other)),
      warehouse: await newProgram(test, "warehouse"),
      support: await newProgram(test, "support"),
    };
    for (let count = 0; count < 3; count += 1)
      await drain(await newProgram(test, "merchant", ofMerchant(partner)));
    expect(await drain(callers.ofOther)).toBe(20);
    expect(await drain(callers.warehouse)).toBe(40);
    expect(await drain(callers.support)).toBe(40);
    expect((await test.backOffice.get("/api/me")).status).toBe(200);
    for (let placed = 0; placed < 20; placed += 1) await placeOrder(partner);
  });

  it("bounds the reads of addresses, each of which is an entry of the audit log", async () => {
    const test = await startLimited();
    const partner = await createPartner(test);
    const { id } = await created(partner.client.post("/v1/orders", anOrder(partner)));
    expect(await drain(await newProgram(test, "merchant", ofMerchant(partner)), `/api/orders/${id}`)).toBe(
      20,
    );
    const { body } = await test.backOffice.get("/api/audit-entries?action=getOrder&limit=100");
    expect(body.data).toHaveLength(20);
  });

  it.each([{ backOfficeRateLimitPerMinute: 0 }, { rateLimitPerMinute: 0, backOfficeRateLimitPerMinute: 0 }])(
    "means no limit with %j",
    async (config) => {
      const test = await startLimited(config);
      const program = await newProgram(test, "support");
      const answers = await Promise.all(Array.from({ length: 200 }, () => program.get("/api/me")));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      expect(answers[0]?.headers["ratelimit"]).toBeUndefined();
    },
  );
});

describe("the role partner", () => {
  it("uses the allowance of its connection, whichever door it takes", async () => {
    const test = await startLimited();
    const partner = await createPartner(test);
    const program = await newProgram(test, "partner", ofConnection(partner));
    const { headers } = await program.get(`/api/connections/${partner.connectionId}`);
    expect(headers["ratelimit-policy"]).toBe('"default";q=600;w=60');
    expect(headers["ratelimit"]).toBe('"default";r=99;t=1');
    expect(await drain(program)).toBe(99);
    expectProblem(await partner.client.get("/v1/me"), 429, "rate-limited");
    const { key } = await createKey(test, partner.connectionId, { mode: "test" });
    expect((await test.partner(key).get("/v1/me")).status).toBe(200);
  });

  it("uses it for test orders and pings as well, with all of its tokens", async () => {
    const test = await startLimited({ ...LIMITS, rateLimitPerMinute: 6 });
    const partner = await createPartner(test);
    const path = `/api/connections/${partner.connectionId}`;
    const scopes = ["endpoints:write", "deliveries:write", "test-orders:write"];
    const program = await newProgram(test, "partner", { ...ofConnection(partner), scopes });
    const second = await newProgram(test, "partner", ofConnection(partner));
    const { id } = await created(program.post(`${path}/webhook-endpoints`, { url: "https://a.example/" }));
    expect((await program.post(`${path}/test-orders`, anOrder(partner, { testMode: true }))).status).toBe(
      201,
    );
    expect((await program.post(`${path}/webhook-endpoints/${id}/ping`)).status).toBe(202);
    expect(await drain(second)).toBe(3);
    expect((await program.post(`${path}/webhook-endpoints/${id}/ping`)).status).toBe(429);
  });
});
