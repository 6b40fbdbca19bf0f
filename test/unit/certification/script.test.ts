import { describe, expect, it } from "vitest";
import type { SeenDelivery } from "../../../src/certification/checks.ts";
import {
  type Answer,
  decide,
  type Facts,
  firstProgress,
  type Phase,
  type Progress,
} from "../../../src/certification/script.ts";
import { after } from "../../../src/platform/time.ts";

const START = new Date("2026-11-29T00:00:00Z");
const at = (seconds: number) => after(START, seconds * 1_000);

const facts = (seconds: number, fields: Partial<Facts> = {}): Facts => ({
  now: at(seconds),
  startedAt: START,
  isPull: false,
  inFlightMax: 8,
  answer: { is: "pending" },
  deliveriesOf: () => [],
  orders: [],
  creation: { externalOrderId: "x", lostAt: null, repeatedAt: null, otherwise: null },
  ...fields,
});

const progress = (phase: Phase, fields: Partial<Progress> = {}): Progress => ({
  ...firstProgress(START, false),
  phase,
  ...fields,
});

const asked = (seconds = 0) => ({ eventId: "e", challenge: "c", askedAt: at(seconds) });
const proven: Answer = { is: "proven", orders: {} };
const none: Answer = { is: "none", seen: "timeout" };
const unproven: Answer = { is: "unproven", seen: "no proof" };

const delivery = (status: SeenDelivery["status"]): SeenDelivery => ({
  streamId: "o",
  eventType: "order.created",
  sequence: 1,
  status,
  fault: null,
  happenedAt: START,
  attempts: [],
});

describe("challenge", () => {
  it("begins with a question; a pull endpoint begins with the deliveries", () => {
    expect(decide(firstProgress(START, false), facts(0))).toMatchObject({
      next: "ask",
      progress: { asked: 1 },
    });
    const pull = decide(firstProgress(START, true), facts(0, { isPull: true }));
    expect(pull).toMatchObject({ next: "rehearse", results: [{ check: "challenge", result: "skipped" }] });
  });

  it.each<[string, Answer, number, number, object]>([
    ["waits for an answer", { is: "pending" }, 1, 19, { next: "wait", results: [] }],
    ["asks again after 20 s", { is: "pending" }, 1, 20, { next: "wait", progress: { question: null } }],
    ["asks again after a failed attempt", none, 2, 1, { next: "wait", progress: { question: null } }],
    ["ends after the third failed attempt", none, 3, 1, { next: "end", results: [{ result: "failed" }] }],
    ["ends at once without the proof", unproven, 1, 1, { next: "end", results: [{ result: "failed" }] }],
    [
      "continues with the proof",
      proven,
      1,
      1,
      { next: "wait", progress: { phase: "deliveries", question: null } },
    ],
  ])("%s", (_name, answer, count, seconds, expected) => {
    const before = progress("challenge", { asked: count, question: asked() });
    expect(decide(before, facts(seconds, { answer }))).toMatchObject(expected);
  });
});

describe("deliveries", () => {
  const placed = progress("deliveries", { orders: { valid: "o", duplicate: "o" } });
  it("places the orders once, and then waits for all of them, two minutes at most", () => {
    expect(decide(progress("deliveries"), facts(0)).next).toBe("rehearse");
    const pending = { deliveriesOf: () => [delivery("pending")] };
    expect(decide(placed, facts(119, pending)).next).toBe("wait");
    const late = decide(placed, facts(120, pending));
    expect(late).toMatchObject({ progress: { phase: "state" } });
    expect(late.results).toHaveLength(11);
    expect(decide(placed, facts(1, { deliveriesOf: () => [delivery("succeeded")] })).progress.phase).toBe(
      "state",
    );
  });
});

describe("state", () => {
  const order = { check: "valid", wireId: "test_1", status: "NEW", sequence: 1 } as const;
  it("asks up to four times, because a program may process events later", () => {
    const before = (count: number) => progress("state", { asked: count, question: asked() });
    const wrong = facts(1, { answer: proven, orders: [order] });
    for (const count of [1, 2, 3])
      expect(decide(before(count), wrong)).toMatchObject({
        next: "wait",
        progress: { question: null, phase: "state" },
      });
    expect(decide(before(4), wrong)).toMatchObject({
      results: [{ result: "failed" }],
      progress: { phase: "throughput" },
    });
    expect(decide(before(4), facts(1, { answer: unproven })).results).toMatchObject([{ result: "failed" }]);
    const right = facts(1, {
      answer: { is: "proven", orders: { test_1: { status: "NEW", sequence: 1, handled: 1 } } },
      orders: [order],
    });
    expect(decide(before(1), right)).toMatchObject({
      results: [{ result: "passed" }],
      progress: { phase: "throughput" },
    });
  });
});

describe("throughput", () => {
  const burst = (published: number) =>
    progress("throughput", { orders: { valid: "o" }, burst: { orders: ["o"], published } });
  const accepted = { deliveriesOf: () => [delivery("succeeded")] };
  it("publishes three times, a second apart, and waits half a minute at most", () => {
    for (const published of [0, 1, 2]) {
      const decision = decide(burst(published), facts(1, accepted));
      expect(decision).toMatchObject({ next: "publish", lookAgainAt: at(2) });
    }
    const pending = { deliveriesOf: () => [delivery("pending")] };
    expect(decide(burst(3), facts(32, pending)).next).toBe("wait");
    expect(decide(burst(3), facts(33, pending))).toMatchObject({ results: [{ result: "advice" }] });
    expect(decide(burst(3), facts(2, accepted)).progress.phase).toBe("lost-creation");
  });

  it("sends nothing to a receiver that does not accept valid events", () => {
    const failed = { deliveriesOf: () => [delivery("failed")] };
    expect(decide(burst(0), facts(1, failed))).toMatchObject({
      next: "wait",
      results: [{ check: "throughput", result: "skipped" }],
      progress: { phase: "lost-creation" },
    });
  });
});

it("the lost creation ends the run, ten minutes after its start at the latest", () => {
  const before = progress("lost-creation");
  expect(decide(before, facts(599)).next).toBe("wait");
  expect(decide(before, facts(600))).toMatchObject({ next: "end", results: [{ result: "failed" }] });
  const repeated = { externalOrderId: "x", lostAt: START, repeatedAt: START, otherwise: null };
  expect(decide(before, facts(1, { creation: repeated }))).toMatchObject({
    next: "end",
    results: [{ result: "passed" }],
  });
});
