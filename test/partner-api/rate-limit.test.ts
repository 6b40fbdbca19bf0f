import { beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/platform/config.ts";
import { anOrder, created, createKey, createPartner, type Partner } from "../support/builders.ts";
import { expectProblem } from "../support/orders.ts";
import {
  type Client,
  createDatabase,
  startServiceForTest,
  type TestService,
} from "../support/test-service.ts";

/** Every test has a process of its own, with unused rate limits. Partners are new, so the database is shared. */
let databaseUrl: string;
beforeAll(async () => {
  databaseUrl = await createDatabase();
});

const startLimited = (rateLimitPerMinute: number): Promise<TestService> =>
  startServiceForTest({ config: { rateLimitPerMinute }, databaseUrl });

async function startWithPartner(
  rateLimitPerMinute: number,
): Promise<{ test: TestService; partner: Partner }> {
  const test = await startLimited(rateLimitPerMinute);
  return { test, partner: await createPartner(test) };
}

const statuses = async (client: Client, count: number): Promise<number[]> => {
  const found: number[] = [];
  for (let sent = 0; sent < count; sent += 1) found.push((await client.get("/v1/me")).status);
  return found;
};
const times = (count: number, status: number): number[] => Array.from({ length: count }, () => status);

/** Sends requests until one is rejected; returns how many were accepted. */
async function drain(client: Client): Promise<number> {
  for (let allowed = 0; ; allowed += 1) if ((await client.get("/v1/me")).status === 429) return allowed;
}

describe("the rate limit of a connection", () => {
  it("accepts 100 requests at once, and rejects the next with 429 rate-limited", async () => {
    const { partner } = await startWithPartner(600);
    expect(await statuses(partner.client, 100)).toEqual(times(100, 200));
    expectProblem(await partner.client.get("/v1/me"), 429, "rate-limited");
  });

  it("applies to requests that arrive together", async () => {
    const { partner } = await startWithPartner(600);
    const answers = await Promise.all(Array.from({ length: 130 }, () => partner.client.get("/v1/products")));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  });

  it("has a burst no larger than the requests of a minute", async () => {
    const { partner } = await startWithPartner(3);
    expect(await drain(partner.client)).toBe(3);
  });

  it("has a burst of 100 at most, however many requests a minute are allowed", async () => {
    const { partner } = await startWithPartner(6_000);
    expect(await drain(partner.client)).toBe(100);
  });

  it("refills evenly: 600 a minute are one every 100 ms", async () => {
    const { test, partner } = await startWithPartner(600);
    expect(await drain(partner.client)).toBe(100);
    test.clock.advance({ ms: 99 });
    expect(await drain(partner.client)).toBe(0);
    test.clock.advance({ ms: 1 });
    expect(await drain(partner.client)).toBe(1);
    test.clock.advance({ seconds: 1 });
    expect(await drain(partner.client)).toBe(10);
  });

  it("is full again after the burst's time, and never exceeds the burst", async () => {
    const { test, partner } = await startWithPartner(600);
    await drain(partner.client);
    test.clock.advance({ seconds: 10 });
    expect(await drain(partner.client)).toBe(100);
    test.clock.advance({ hours: 5 });
    expect(await drain(partner.client)).toBe(100);
  });

  it("allows 600 requests a minute in the long run", async () => {
    const { test, partner } = await startWithPartner(600);
    await drain(partner.client);
    let allowed = 0;
    for (let second = 0; second < 60; second += 1) {
      test.clock.advance({ seconds: 1 });
      allowed += await drain(partner.client);
    }
    expect(allowed).toBe(600);
  });

  it("is not extended by requests that were rejected", async () => {
    const { test, partner } = await startWithPartner(60);
    await drain(partner.client);
    expect(await statuses(partner.client, 50)).toEqual(times(50, 429));
    test.clock.advance({ seconds: 1 });
    expect(await drain(partner.client)).toBe(1);
  });

  it("tolerates a clock that is set back", async () => {
    const { test, partner } = await startWithPartner(60);
    await drain(partner.client);
    test.clock.advance({ hours: -1 });
    expect(await drain(partner.client)).toBe(0);
    test.clock.advance({ seconds: 1 });
    expect(await drain(partner.client)).toBe(1);
  });
});

describe("what the rate limit counts", () => {
  it("each connection separately", async () => {
    const { test, partner } = await startWithPartner(5);
    const other = await createPartner(test);
    expect(await drain(partner.client)).toBe(5);
    expect(await drain(other.client)).toBe(5);
  });

  it("the connection and not the key: several keys share one allowance", async () => {
    const { test, partner } = await startWithPartner(5);
    const { key } = await createKey(test, partner.connectionId);
    expect(await statuses(test.partner(key), 2)).toEqual([200, 200]);
    expect(await drain(partner.client)).toBe(3);
    expect(await drain(test.partner(key))).toBe(0);
  });

  it("every authenticated request, whatever its response", async () => {
    const { partner } = await startWithPartner(5);
    const { client } = partner;
    expect((await client.get("/v1/orders/nothing")).status).toBe(404);
    expect((await client.post("/v1/orders", {})).status).toBe(422);
    expect((await client.request("POST", "/v1/orders", { rawBody: "{" })).status).toBe(400);
    expect(await drain(client)).toBe(2);
  });

  it("replays like any request", async () => {
    const { partner } = await startWithPartner(3);
    const order = anOrder(partner);
    const answers = [201, 200, 200, 429];
    for (const status of answers)
      expect((await partner.client.post("/v1/orders", order)).status).toBe(status);
  });

  it("no request without a valid key, which it does not reject either", async () => {
    const { test, partner } = await startWithPartner(3);
    const { id, key } = await createKey(test, partner.connectionId);
    await test.backOffice.post(`/api/keys/${id}/revoke`);
    for (const client of [test.partner(), test.partner("pok_unknown"), test.partner(key)])
      expect(await statuses(client, 10)).toEqual(times(10, 401));
    expect(await drain(partner.client)).toBe(3);
    expect(await statuses(test.partner(key), 2)).toEqual([401, 401]);
  });

  it("no path outside the table, which it does not reject either", async () => {
    const { partner } = await startWithPartner(3);
    const unmatched = async () => (await partner.client.get("/v1/nothing")).status;
    for (let sent = 0; sent < 10; sent += 1) expect(await unmatched()).toBe(404);
    expect(await drain(partner.client)).toBe(3);
    expect(await unmatched()).toBe(404);
  });

  it("no request to the back office", async () => {
    const { test } = await startWithPartner(1);
    for (let sent = 0; sent < 10; sent += 1)
      expect((await test.backOffice.get("/api/merchants")).status).toBe(200);
  });

  it("all processes together", async () => {
    const first = await startLimited(4);
    const second = await startLimited(4);
    const { key, client } = await createPartner(first);
    expect(await drain(client)).toBe(4);
    expect(await drain(second.partner(key))).toBe(0);
    for (const { clock } of [first, second]) clock.advance({ seconds: 16 });
    expect(await drain(second.partner(key))).toBe(1);
    expect(await drain(client)).toBe(0);
  });
});

describe("test keys", () => {
  it("have an allowance of their own, beside that of live keys", async () => {
    const { test, partner } = await startWithPartner(600);
    const { key } = await createKey(test, partner.connectionId, { mode: "test" });
    const { headers } = await test.partner(key).get("/v1/me");
    expect(headers["ratelimit-policy"]).toBe('"default";q=600;w=60');
    expect(await drain(test.partner(key))).toBe(99);
    expect(await drain(partner.client)).toBe(100);
  });

  it("take nothing from live orders when they flood the service", async () => {
    const { test, partner } = await startWithPartner(600);
    const { key } = await createKey(test, partner.connectionId, { mode: "test" });
    const flood = test.partner(key);
    const rejected: number[] = [];
    for (let placed = 0; placed < 20; placed += 1) {
      const answers = await Promise.all(Array.from({ length: 30 }, () => flood.get("/v1/me")));
      rejected.push(...answers.map(({ status }) => status).filter((status) => status === 429));
      expect((await partner.client.post("/v1/orders", anOrder(partner))).status).toBe(201);
    }
    expect(rejected.length).toBeGreaterThan(400);
  });

  it("get nothing of what live keys leave", async () => {
    const { test, partner } = await startWithPartner(5);
    const { key } = await createKey(test, partner.connectionId, { mode: "test" });
    expect(await drain(test.partner(key))).toBe(5);
    expect(await drain(partner.client)).toBe(5);
    expect(await drain(test.partner(key))).toBe(0);
  });
});

describe("the connections of a merchant together", () => {
  async function addConnection(test: TestService, { merchantId }: Partner): Promise<Client> {
    const path = `/api/merchants/${merchantId}/connections`;
    const { id } = await created(test.backOffice.post(path, { name: "Partner" }));
    return test.partner((await createKey(test, id)).key);
  }

  it("have ten times the allowance of one: ten that use theirs do not notice, an eleventh is rejected", async () => {
    const { test, partner } = await startWithPartner(4);
    const others: Client[] = [];
    for (let added = 0; added < 10; added += 1) others.push(await addConnection(test, partner));
    const [last, ...nine] = others;
    if (last === undefined) throw new Error("There are ten.");
    for (const client of [partner.client, ...nine]) expect(await drain(client)).toBe(4);
    const rejected = await last.get("/v1/me");
    expect(rejected.body).toMatchObject({ status: 429, code: "rate-limited", limit: "merchant-requests" });
    expect(rejected.headers["ratelimit-policy"]).toBe('"merchant";q=40;w=60');
    expect(rejected.headers["retry-after"]).toBe("2");
    const { client: another } = await createPartner(test);
    expect(await drain(another)).toBe(4);
  });

  it("show a partner nothing of what the others use until it is used up", async () => {
    const { test, partner } = await startWithPartner(4);
    await drain(await addConnection(test, partner));
    expect((await partner.client.get("/v1/me")).headers["ratelimit"]).toBe('"default";r=3;t=15');
  });
});

describe("a rejected request", () => {
  it("does nothing", async () => {
    const { test, partner } = await startWithPartner(1);
    await drain(partner.client);
    const order = anOrder(partner);
    expectProblem(await partner.client.post("/v1/orders", order), 429, "rate-limited");
    test.clock.advance({ minutes: 1 });
    // 201 and not 200: the rejected one has not used up the key.
    expect((await partner.client.post("/v1/orders", order)).status).toBe(201);
  });

  it("is rejected before its body is read", async () => {
    const { partner } = await startWithPartner(1);
    await drain(partner.client);
    const answer = await partner.client.request("POST", "/v1/orders", { rawBody: "{" });
    expectProblem(answer, 429, "rate-limited");
  });

  it.each([
    [600, 1],
    [60, 1],
    [30, 2],
    [7, 9],
    [1, 60],
  ])("at %d a minute has to wait %d s, and passes after it", async (perMinute, seconds) => {
    const { test, partner } = await startWithPartner(perMinute);
    await drain(partner.client);
    const { headers } = await partner.client.get("/v1/me");
    expect(headers["retry-after"]).toBe(String(seconds));
    test.clock.advance({ seconds });
    expect((await partner.client.get("/v1/me")).status).toBe(200);
  });

  it("waits less when some of the time has passed", async () => {
    const { test, partner } = await startWithPartner(1);
    await drain(partner.client);
    test.clock.advance({ seconds: 45 });
    expect((await partner.client.get("/v1/me")).headers["retry-after"]).toBe("15");
  });
});

describe("the header fields", () => {
  it("report the policy, the remaining requests, and the time of the reset, on every response", async () => {
    const { test, partner } = await startWithPartner(60);
    const first = await partner.client.get("/v1/me");
    expect(first.headers["ratelimit-policy"]).toBe('"default";q=60;w=60');
    expect(first.headers["ratelimit"]).toBe('"default";r=59;t=1');
    const second = await partner.client.post("/v1/orders", anOrder(partner));
    expect(second.headers["ratelimit"]).toBe('"default";r=58;t=2');
    const missing = await partner.client.get("/v1/orders/nothing");
    expect(missing.headers["ratelimit"]).toBe('"default";r=57;t=3');
    test.clock.advance({ seconds: 2 });
    expect((await partner.client.get("/v1/me")).headers["ratelimit"]).toBe('"default";r=58;t=2');
  });

  it("report 0 remaining requests on a rejection", async () => {
    const { partner } = await startWithPartner(60);
    await drain(partner.client);
    const { headers } = await partner.client.get("/v1/me");
    expect(headers["ratelimit-policy"]).toBe('"default";q=60;w=60');
    expect(headers["ratelimit"]).toBe('"default";r=0;t=60');
    expect(headers["retry-after"]).toBe("1");
  });

  it("contain no Retry-After for an accepted request", async () => {
    const { partner } = await startWithPartner(60);
    expect((await partner.client.get("/v1/me")).headers["retry-after"]).toBeUndefined();
  });

  it("are absent for a request without a valid key", async () => {
    const { test } = await startWithPartner(60);
    for (const client of [test.partner(), test.partner("pok_unknown")]) {
      const { headers } = await client.get("/v1/me");
      expect(headers["ratelimit"]).toBeUndefined();
      expect(headers["ratelimit-policy"]).toBeUndefined();
    }
  });
});

describe("a limit of 0", () => {
  it("means no limit: nothing is rejected, and no field is sent", async () => {
    const { partner } = await startWithPartner(0);
    const answers = await Promise.all(Array.from({ length: 300 }, () => partner.client.get("/v1/me")));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(answers[0]?.headers["ratelimit"]).toBeUndefined();
    expect(answers[0]?.headers["ratelimit-policy"]).toBeUndefined();
  });
});

describe("the default", () => {
  it("is 600 requests a minute", () => {
    expect(readConfig({}).rateLimitPerMinute).toBe(600);
  });
});
