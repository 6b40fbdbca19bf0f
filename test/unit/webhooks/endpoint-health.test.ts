import { describe, expect, it } from "vitest";
import {
  afterFailure,
  afterSuccess,
  type EndpointHealth,
  isOnProbation,
} from "../../../src/webhooks/endpoints/health.ts";

const START = new Date("2026-03-02T09:00:00.000Z");
const HOUR = 3_600_000;
const at = (hours: number): Date => new Date(START.getTime() + hours * HOUR);
const retryMs = [5_000, 30_000, 120_000, 600_000];
const HEALTHY: EndpointHealth = {
  consecutiveFailures: 0,
  failingSince: null,
  lastFailureAt: null,
  lastError: null,
  lastSuccessAt: START,
  succeededAt: START,
  backoffUntil: null,
  warningsSent: 0,
};
const fail = (health: EndpointHealth, when: Date, gone = false) =>
  afterFailure(health, { at: when, error: "HTTP 503", gone, retryMs });

/** Failures every hour from one hour to another; what was warned of and when. */
function failHourly(from: number, to: number) {
  const changes: [hour: number, warning: number | null, pause: string | null][] = [];
  let health = HEALTHY;
  for (let hour = from; hour <= to; hour += 1) {
    const change = fail(health, at(hour));
    health = change.health;
    if (change.warning !== null || change.pause !== null) changes.push([hour, change.warning, change.pause]);
    if (change.pause !== null) break;
  }
  return changes;
}

describe("an endpoint that fails", () => {
  it("causes warnings after a day and three days, and is paused after five, give or take the hour between stored successes", () => {
    expect(failHourly(1, 200)).toEqual([
      [25, 1, null],
      [73, 2, null],
      [121, 3, "failing"],
    ]);
  });

  it("is not paused before its failures are spread over twelve hours, however long it had no events", () => {
    expect(failHourly(500, 511).filter(([, , pause]) => pause !== null)).toEqual([]);
    expect(failHourly(500, 530).at(-1)).toEqual([512, 3, "failing"]);
  });

  it("is paused at once by 410", () => {
    expect(fail(HEALTHY, at(1), true)).toMatchObject({ pause: "gone", warning: 3 });
  });

  it("starts again after a success", () => {
    let health = HEALTHY;
    for (let hour = 1; hour <= 30; hour += 1) health = fail(health, at(hour)).health;
    const recovered = afterSuccess(health, at(31));
    expect(recovered).toMatchObject({
      consecutiveFailures: 0,
      failingSince: null,
      backoffUntil: null,
      warningsSent: 0,
    });
  });

  it("backs off after ten failures in a row, for the first interval of the schedule and then twice as long each time", () => {
    let health = HEALTHY;
    const holds: (number | null)[] = [];
    let now = START.getTime();
    for (let count = 1; count <= 18; count += 1) {
      health = fail(health, new Date(now)).health;
      const held = health.backoffUntil === null ? null : health.backoffUntil.getTime() - now;
      holds.push(held);
      now += held ?? 1_000;
    }
    expect(holds.slice(0, 9)).toEqual(Array(9).fill(null));
    expect(holds.slice(9)).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1_000));
  });

  it("does not back off longer for requests that were in flight when the backoff began", () => {
    let health = HEALTHY;
    for (let count = 1; count <= 10; count += 1) health = fail(health, at(1)).health;
    const later = fail(health, new Date(at(1).getTime() + 10)).health;
    expect(later).toMatchObject({ consecutiveFailures: 10, backoffUntil: health.backoffUntil });
  });
});

describe("a success of a healthy endpoint", () => {
  it("is stored once an hour, so that not every delivery writes", () => {
    expect(afterSuccess(HEALTHY, at(0.9))).toBeNull();
    expect(afterSuccess(HEALTHY, at(1))).toMatchObject({ lastSuccessAt: at(1), succeededAt: at(1) });
    expect(afterSuccess({ ...HEALTHY, lastSuccessAt: at(1.9) }, at(2))).toMatchObject({ succeededAt: at(2) });
    expect(afterSuccess({ ...HEALTHY, succeededAt: null }, at(0.1))).toMatchObject({ succeededAt: at(0.1) });
  });
});

describe("after a success", () => {
  const failing = fail(HEALTHY, at(0.5)).health;

  it("an endpoint that was failing is healthy at once, however recent its last success", () => {
    expect(afterSuccess(failing, at(0.6))).toEqual({
      ...HEALTHY,
      lastFailureAt: at(0.5),
      lastError: "HTTP 503",
      lastSuccessAt: at(0.6),
      succeededAt: at(0.6),
    });
  });

  it("its next failure is the first one again", () => {
    const health = fail(afterSuccess(failing, at(100)) ?? failing, at(101)).health;
    expect(health).toMatchObject({ consecutiveFailures: 1, failingSince: at(101), lastFailureAt: at(101) });
  });
});

describe("after the backoff: one delivery at a time", () => {
  it.each([
    [0, false],
    [9, false],
    [10, true],
    [11, true],
  ])("after %s failures in a row: %s", (consecutiveFailures, expected) => {
    expect(isOnProbation({ ...HEALTHY, consecutiveFailures })).toBe(expected);
  });
});

describe("a failure", () => {
  it("is counted, and the first one is kept", () => {
    const first = fail(HEALTHY, at(1));
    expect(first).toEqual({
      health: {
        ...HEALTHY,
        consecutiveFailures: 1,
        failingSince: at(1),
        lastFailureAt: at(1),
        lastError: "HTTP 503",
      },
      pause: null,
      warning: null,
    });
    expect(fail(first.health, at(2)).health).toMatchObject({
      consecutiveFailures: 2,
      failingSince: at(1),
      lastFailureAt: at(2),
    });
  });

  it("at the end of the backoff is counted; before it, it is not", () => {
    const backingOff = { ...HEALTHY, consecutiveFailures: 10, failingSince: at(0), backoffUntil: at(1) };
    const before = fail(backingOff, new Date(at(1).getTime() - 1)).health;
    expect(before).toMatchObject({ consecutiveFailures: 10, backoffUntil: at(1) });
    const atEnd = fail(backingOff, at(1)).health;
    expect(atEnd).toMatchObject({
      consecutiveFailures: 11,
      backoffUntil: new Date(at(1).getTime() + 10_000),
    });
  });

  it("is backed off for no longer than the schedule's longest interval, and not at all without a schedule", () => {
    const ninth = { ...HEALTHY, consecutiveFailures: 9, failingSince: at(0) };
    const thirtieth = { ...HEALTHY, consecutiveFailures: 30, failingSince: at(0) };
    const backoffOf = (health: EndpointHealth, retryMs: number[]) =>
      afterFailure(health, { at: at(1), error: "timeout", gone: false, retryMs }).health.backoffUntil;
    expect(backoffOf(ninth, [4_000, 3_000])).toEqual(new Date(at(1).getTime() + 4_000));
    expect(backoffOf(thirtieth, [4_000, 9_000])).toEqual(new Date(at(1).getTime() + 9_000));
    expect(backoffOf({ ...thirtieth, consecutiveFailures: 5_000 }, [1])).toEqual(
      new Date(at(1).getTime() + 1),
    );
    expect(backoffOf(thirtieth, [])).toEqual(at(1));
  });

  it.each<[string, number, number, number, EndpointHealth["warningsSent"], number | null, string | null]>([
    ["a day and an hour after the last success", 25, 12, 0, 1, 1, null],
    ["a moment before 25 hours", 25 - 1 / 3_600_000, 12, 0, 0, null, null],
    ["again, a day and an hour after", 30, 12, 1, 1, null, null],
    ["three days and an hour after", 73, 12, 1, 2, 2, null],
    ["a moment before 73 hours", 73 - 1 / 3_600_000, 12, 1, 1, null, null],
    ["three days after without a first warning", 80, 12, 0, 2, 2, null],
    ["three days after a long silence, spread over less", 80, 12 - 1 / 3_600_000, 0, 0, null, null],
    ["five days and an hour after", 121, 12, 2, 3, 3, "failing"],
    ["a moment before 121 hours", 121 - 1 / 3_600_000, 12, 2, 2, null, null],
    ["five days after, spread over less than twelve hours", 121, 12 - 1 / 3_600_000, 0, 0, null, null],
  ])("%s warns or pauses", (_, hour, spreadHours, sent, sentAfter, warning, pause) => {
    const health = {
      ...HEALTHY,
      consecutiveFailures: 3,
      failingSince: at(hour - spreadHours),
      warningsSent: sent,
    };
    const change = fail(health, at(hour));
    expect(change).toMatchObject({
      warning,
      pause,
      health: { warningsSent: sentAfter, consecutiveFailures: 4 },
    });
  });

  it("of 410 pauses at once, and is counted", () => {
    expect(fail(HEALTHY, at(1), true).health).toMatchObject({ consecutiveFailures: 1, lastFailureAt: at(1) });
  });
});
