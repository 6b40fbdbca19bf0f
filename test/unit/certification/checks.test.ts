import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { answerIn, proofOf } from "../../../src/certification/answer.ts";
import {
  CHECK_TEXTS,
  CHECKS,
  judgeCreation,
  judgeScenario,
  judgeState,
  judgeThroughput,
  SCENARIOS,
  type ScenarioCheck,
  type SeenAttempt,
  type SeenDelivery,
  type TrueOrder,
} from "../../../src/certification/checks.ts";

const AT = new Date("2026-11-29T00:00:00Z");

function attempt(responseStatus: number | null, fields: Partial<SeenAttempt> = {}): SeenAttempt {
  const error = responseStatus === null ? "timeout" : responseStatus < 300 ? null : `HTTP ${responseStatus}`;
  return { startedAt: AT, durationMs: 5, responseStatus, responseBody: "", error, fault: null, ...fields };
}

const delivery = (fields: Partial<SeenDelivery> = {}): SeenDelivery => ({
  streamId: "s",
  eventType: "order.created",
  sequence: 1,
  status: "succeeded",
  fault: null,
  happenedAt: AT,
  attempts: [attempt(200)],
  ...fields,
});

const judge = (check: ScenarioCheck, ...deliveries: SeenDelivery[]) => {
  const scenario = SCENARIOS.find((one) => one.check === check);
  if (scenario === undefined) throw new Error(check);
  return judgeScenario(scenario, deliveries);
};

const faulty = (fault: string, ...attempts: SeenAttempt[]) =>
  delivery({
    eventType: "order.shipmentCreated",
    sequence: 2,
    fault,
    attempts,
    status: attempts.at(-1)?.error === null ? "succeeded" : "failed",
  });

describe("a scenario", () => {
  it.each(["wrong-signature", "stale-timestamp"] as const)(
    "%s: what must be rejected is rejected, in whatever way, and the right request is accepted",
    (check) => {
      const first = (status: number | null) => attempt(status, { fault: check });
      for (const status of [401, 400, 500, null])
        expect(judge(check, delivery(), faulty(check, first(status), attempt(200))).result).toBe("passed");
      for (const status of [200, 204])
        expect(judge(check, delivery(), faulty(check, first(status), attempt(200)))).toMatchObject({
          result: "failed",
          seen: expect.stringContaining(`returned ${status}`),
        });
      expect(judge(check, delivery(), faulty(check, first(401), attempt(401)))).toMatchObject({
        result: "failed",
        seen: expect.stringContaining("HTTP 401, after 2 attempts"),
      });
    },
  );

  it.each([
    "duplicate",
    "two-at-once",
    "reordered",
    "unknown-type",
    "unknown-field",
    "largest-body",
  ] as const)("%s: one rejected attempt fails it, although a retry succeeds", (check) => {
    const first = (status: number) => attempt(status, { fault: check });
    expect(judge(check, delivery(), faulty(check, first(200), attempt(200))).result).toBe("passed");
    expect(judge(check, delivery(), faulty(check, first(409), attempt(200)))).toMatchObject({
      result: "failed",
      seen: expect.stringContaining(`order.shipmentCreated (sequence 2) with the fault ${check}: HTTP 409`),
    });
  });

  it("cut-body: an event is not accepted before it is there; afterwards it is", () => {
    const cut = (status: number | null) =>
      attempt(status, { fault: "cut-body", error: "cut off by a rehearsed fault" });
    expect(judge("cut-body", delivery(), faulty("cut-body", cut(null), attempt(200))).result).toBe("passed");
    expect(judge("cut-body", delivery(), faulty("cut-body", cut(400), attempt(200))).result).toBe("passed");
    expect(judge("cut-body", delivery(), faulty("cut-body", cut(200), attempt(200))).result).toBe("failed");
    expect(judge("cut-body", delivery(), faulty("cut-body", cut(null), attempt(500))).result).toBe("failed");
  });

  it("valid: every event at the first attempt", () => {
    expect(judge("valid", delivery(), delivery({ sequence: 2 })).result).toBe("passed");
    expect(judge("valid", delivery(), delivery({ attempts: [attempt(503), attempt(200)] })).result).toBe(
      "failed",
    );
  });

  it("names an event that was never sent, because an earlier one was not accepted", () => {
    const waiting = faulty("duplicate");
    expect(judge("duplicate", { ...waiting, status: "pending", attempts: [] })).toMatchObject({
      result: "failed",
      seen: expect.stringContaining("the endpoint has not accepted earlier events"),
    });
  });

  it("fails if the fault was not sent, or nothing was", () => {
    expect(judge("duplicate", delivery()).seen).toContain("The fault was not sent");
    expect(judge("valid").result).toBe("failed");
  });
});

describe("the answer to a question", () => {
  const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  const other = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
  const answer = (body: unknown, status = 200) =>
    answerIn(attempt(status, { responseBody: typeof body === "string" ? body : JSON.stringify(body) }), "c", [
      secret,
      other,
    ]);

  it("is proven by the HMAC of the challenge with a secret of the endpoint, and by nothing else", () => {
    for (const key of [secret, other])
      expect(answer({ challenge: proofOf("c", key) })).toEqual({ is: "proven", orders: null });
    for (const wrong of [proofOf("d", secret), proofOf("c", secret).toUpperCase(), "c", "", 1, null])
      expect(answer({ challenge: wrong }).is).toBe("unproven");
    for (const body of ["OK", "", "[]", "null", proofOf("c", secret), JSON.stringify(proofOf("c", secret))])
      expect(answer(body).is).toBe("unproven");
  });

  it("does not count with another status, or without a whole response", () => {
    expect(answer({ challenge: proofOf("c", secret) }, 201).is).toBe("proven");
    expect(answer({ challenge: proofOf("c", secret) }, 500).is).toBe("none");
    expect(answerIn(attempt(null), "c", [secret])).toMatchObject({
      is: "none",
      seen: expect.stringContaining("timeout"),
    });
  });

  it("leaves out orders of another form, as if they were not known", () => {
    const good = { status: "NEW", sequence: 1, handled: 1 };
    const orders = { a: good, b: { ...good, sequence: "1" }, c: null, d: { ...good, handled: 1.5 }, e: [] };
    expect(answer({ challenge: proofOf("c", secret), orders })).toEqual({
      is: "proven",
      orders: { a: good },
    });
  });
});

describe("what the receiver has stored", () => {
  const order: TrueOrder = { check: "reordered", wireId: "test_1", status: "COMPLETED", sequence: 3 };
  const judged = (found: object) =>
    judgeState([order], { test_1: { status: "COMPLETED", sequence: 3, handled: 3, ...found } });

  it("is right with each event acted on once, or with older ones ignored", () => {
    expect(judged({}).result).toBe("passed");
    expect(judged({ handled: 2 }).result).toBe("passed");
  });

  it.each([
    ["a duplicate that was acted on", { handled: 4 }, "acted 4 times"],
    ["an older event that won", { status: "IN_PROGRESS", sequence: 2 }, "as IN_PROGRESS with sequence 2"],
    ["an event that was lost", { sequence: 2 }, "sequence 2"],
  ])("names %s", (_name, found, seen) => {
    expect(judged(found)).toMatchObject({ result: "failed", seen: expect.stringContaining(seen) });
  });

  it("fails if an order is not known, and if there is no answer", () => {
    expect(judgeState([order], {}).seen).toContain("does not know the order of reordered (test_1)");
    expect(judgeState([order], null).result).toBe("failed");
  });
});

it("throughput is advice alone: what 20 events a second need, by the duration and the requests at a time", () => {
  const burst = (durationMs: number, status: SeenDelivery["status"] = "succeeded") =>
    Array.from({ length: 60 }, () => delivery({ status, attempts: [attempt(200, { durationMs })] }));
  expect(judgeThroughput(burst(400), 8).result).toBe("passed");
  expect(judgeThroughput(burst(401), 8).result).toBe("advice");
  expect(judgeThroughput(burst(50), 1).result).toBe("passed");
  expect(judgeThroughput(burst(1, "failed"), 8).result).toBe("advice");
  expect(judgeThroughput([], 8).result).toBe("advice");
});

describe("a creation whose response is lost", () => {
  const creation = {
    externalOrderId: "crt_1-lost-creation",
    lostAt: null,
    repeatedAt: null,
    otherwise: null,
  };
  it.each([
    ["waits for the creation", creation, false, null],
    ["fails without one in time", creation, true, "failed"],
    ["waits for the repetition", { ...creation, lostAt: AT }, false, null],
    ["fails without the repetition in time", { ...creation, lostAt: AT }, true, "failed"],
    ["passes with the repetition", { ...creation, lostAt: AT, repeatedAt: AT }, false, "passed"],
    ["passes if only the repetition was noted", { ...creation, repeatedAt: AT }, false, "passed"],
    ["fails with another request", { ...creation, lostAt: AT, otherwise: "another" }, false, "failed"],
  ])("%s", (_name, seen, isLate, result) => {
    expect(judgeCreation(seen, isLate)?.result ?? null).toBe(result);
  });
});

it("docs/partners/certification.md has a row for each check, in their order", async () => {
  const [, page = ""] = (await readFile("docs/partners/certification.md", "utf8")).split("## The checks");
  expect([...page.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name)).toEqual([...CHECKS]);
  for (const check of CHECKS)
    for (const text of Object.values(CHECK_TEXTS[check])) expect(text.length).toBeLessThan(250);
});
