import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRateLimiter, type RateLimiter } from "../../src/http/rate-limiter.ts";
import type { ConnectionKey } from "../../src/platform/connection-key.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { created } from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { makePartner, send, startService } from "../support/running-service.ts";
import { createDatabase, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

const limiterOf = (rateLimitPerMinute: number, db: Queryable = test.db): RateLimiter =>
  createRateLimiter(db, { rateLimitPerMinute, backOfficeRateLimitPerMinute: 0 }, test.clock);
const newMerchant = async (): Promise<string> =>
  (await created(test.backOffice.post("/api/merchants", { name: "Merchant", accountEmail: "m@example.com" })))
    .id;
async function newConnection(ofMerchant?: string): Promise<ConnectionKey> {
  const merchantId = ofMerchant ?? (await newMerchant());
  const path = `/api/merchants/${merchantId}/connections`;
  const { id } = await created(test.backOffice.post(path, { name: "Partner" }));
  return connectionKey({ merchantId, connectionId: id });
}

async function isAllowed(limiter: RateLimiter, connection: ConnectionKey): Promise<boolean> {
  const allowance = await limiter.take("live", connection);
  return allowance?.problem === undefined;
}

async function drain(limiter: RateLimiter, connection: ConnectionKey): Promise<number> {
  for (let allowed = 0; ; allowed += 1) if (!(await isAllowed(limiter, connection))) return allowed;
}

describe("processes that share the allowance of a connection", () => {
  /** A minute, in which `limiters` take turns; the times of the requests that were allowed, in milliseconds. */
  const turns = fc.array(
    fc.record({
      limiter: fc.nat({ max: 2 }),
      requests: fc.integer({ min: 1, max: 60 }),
      pauseMs: fc.oneof(fc.constant(0), fc.nat({ max: 300 }), fc.nat({ max: 12_000 })),
    }),
    { minLength: 1, maxLength: 25 },
  );

  it.each([600, 6_000, 7])(
    "never allow more than the limit and the burst: %d a minute",
    async (perMinute) => {
      const burst = Math.min(100, perMinute);
      await fc.assert(
        fc.asyncProperty(turns, async (steps) => {
          const connection = await newConnection();
          const limiters = [limiterOf(perMinute), limiterOf(perMinute), limiterOf(perMinute)];
          const times: number[] = [];
          for (const { limiter, requests, pauseMs } of steps) {
            const taken = limiters[limiter];
            if (taken === undefined) continue;
            const allowed = await Promise.all(
              Array.from({ length: requests }, () => isAllowed(taken, connection)),
            );
            times.push(...allowed.filter(Boolean).map(() => test.clock.now().getTime()));
            test.clock.advance({ ms: pauseMs });
          }
          times.forEach((from, first) => {
            times.slice(first).forEach((to, further) => {
              expect(further + 1).toBeLessThanOrEqual(burst + ((to - from) * perMinute) / 60_000);
            });
          });
        }),
        { numRuns: 8 },
      );
    },
  );

  it("a single one gets exactly what a token bucket would give", async () => {
    const connection = await newConnection();
    const limiter = limiterOf(600);
    await fc.assert(
      fc.asyncProperty(turns, async (steps) => {
        test.clock.advance({ minutes: 1 });
        let tokens = 100;
        for (const { requests, pauseMs } of steps) {
          let allowed = 0;
          for (let sent = 0; sent < requests; sent += 1)
            if (await isAllowed(limiter, connection)) allowed += 1;
          expect(allowed).toBe(Math.min(requests, Math.floor(tokens + 1e-9)));
          tokens = Math.min(100, tokens - allowed + pauseMs / 100);
          test.clock.advance({ ms: pauseMs });
        }
      }),
      { numRuns: 20 },
    );
  });

  it("leave what they do not use to the others", async () => {
    const connection = await newConnection();
    const [first, second] = [limiterOf(600), limiterOf(600)];
    await isAllowed(first, connection);
    await isAllowed(first, connection);
    expect(await drain(second, connection)).toBeGreaterThan(70);
    test.clock.advance({ seconds: 10 });
    expect(await drain(second, connection)).toBe(100);
  });

  it("continue from the first one when it has ended", async () => {
    const connection = await newConnection();
    await drain(limiterOf(600), connection);
    expect(await drain(limiterOf(600), connection)).toBe(0);
    test.clock.advance({ seconds: 1 });
    // A process that ends takes a quarter of a second with it, and the part of an interval.
    expect(await drain(limiterOf(600), connection)).toBeOneOf([6, 7, 8, 9, 10]);
  });

  it("wait for each other and never in a circle, with many connections at once", async () => {
    const connections = await Promise.all(Array.from({ length: 8 }, () => newConnection()));
    const limiters = Array.from({ length: 4 }, () => limiterOf(60));
    const allowed = await Promise.all(
      limiters.flatMap((limiter, at) => {
        const order = at % 2 === 0 ? connections : connections.toReversed();
        return Array.from({ length: 20 }, () =>
          order.map((connection) => isAllowed(limiter, connection)),
        ).flat();
      }),
    );
    const count = allowed.filter(Boolean).length;
    expect(count).toBeLessThanOrEqual(8 * 60);
    expect(count).toBeGreaterThan(8 * 50);
  });
});

describe("the connections of a merchant", () => {
  it("never send together more than ten times what one of them may, over all processes", async () => {
    const merchantId = await newMerchant();
    const connections = await Promise.all(Array.from({ length: 30 }, () => newConnection(merchantId)));
    const limiters = [limiterOf(6), limiterOf(6)];
    const allowed = await Promise.all(
      connections.flatMap((connection) =>
        limiters.flatMap((limiter) => Array.from({ length: 5 }, () => isAllowed(limiter, connection))),
      ),
    );
    expect(allowed.filter(Boolean).length).toBeLessThanOrEqual(60);
    expect(allowed.filter(Boolean).length).toBeGreaterThan(50);
  });

  it("take nothing from another merchant's", async () => {
    const merchantId = await newMerchant();
    const connections = await Promise.all(Array.from({ length: 12 }, () => newConnection(merchantId)));
    const limiter = limiterOf(6);
    for (const connection of connections) await drain(limiter, connection);
    expect(await drain(limiter, await newConnection(merchantId))).toBe(0);
    expect(await drain(limiter, await newConnection())).toBe(6);
  });
});

describe("the statements that a limit costs", () => {
  const counting = () => {
    let statements = 0;
    const query: TestService["db"]["query"] = (statement) => {
      statements += 1;
      return test.db.query(statement);
    };
    const limiter = limiterOf(600, { ...test.db, query });
    return { limiter, count: () => statements };
  };

  it("are few for a burst, and none for what is rejected", async () => {
    const connection = await newConnection();
    const { limiter, count } = counting();
    expect(await drain(limiter, connection)).toBe(100);
    expect(count()).toBeLessThan(25);
    const before = count();
    for (let sent = 0; sent < 500; sent += 1) expect(await isAllowed(limiter, connection)).toBe(false);
    expect(count()).toBe(before);
  });

  it("is one for the requests of many connections that arrive together", async () => {
    const connections = await Promise.all(Array.from({ length: 5 }, () => newConnection()));
    const { limiter, count } = counting();
    await Promise.all(
      connections.flatMap((connection) => [1, 2, 3].map(() => isAllowed(limiter, connection))),
    );
    expect(count()).toBe(1);
  });

  it("is none without a limit", () => {
    expect(limiterOf(0).take("live", { merchantId: "", connectionId: "" })).toBeNull();
  });

  it("fails the request if the database does not respond, and queries it again for the next one", async () => {
    const connection = await newConnection();
    let isDown = true;
    const query: TestService["db"]["query"] = async (statement) => {
      if (isDown) throw new Error("The connection is lost.");
      return test.db.query(statement);
    };
    const limiter = limiterOf(600, { ...test.db, query });
    await expect(isAllowed(limiter, connection)).rejects.toThrow("The connection is lost.");
    isDown = false;
    expect(await drain(limiter, connection)).toBe(100);
  });
});

it("two real processes on one database allow no more than one", async () => {
  const environment = { RATE_LIMIT_PER_MINUTE: "60", DATABASE_URL: await createDatabase() };
  const [first, second] = await Promise.all([startService(environment), startService(environment)]);
  const { key } = await makePartner(first.backOffice);
  const startedAt = performance.now();
  const statuses = await Promise.all(
    Array.from(
      { length: 150 },
      async (_, at) => (await send(`${at % 2 === 0 ? first.api : second.api}/v1/me`, key)).status,
    ),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const allowed = statuses.filter((status) => status === 200).length;
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(allowed).toBeLessThanOrEqual(60 + seconds);
  expect(allowed).toBeGreaterThanOrEqual(55);
});
