import { describe, expect, it } from "vitest";
import {
  afterFailure,
  afterSuccess,
  type EndpointHealth,
} from "../../../src/webhooks/health/endpoint-health.ts";

const START = new Date("2026-03-02T09:00:00.000Z");
const HOUR = 3_600_000;
const at = (hours: number): Date => new Date(START.getTime() + hours * HOUR);
const retryMs = [5_000, 30_000, 120_000, 600_000];
const HEALTHY: EndpointHealth = {
  consecutiveFailures: 0,
  failingSince: null,
  lastFailureAt: null,
  lastSuccessAt: START,
  backoffUntil: null,
  warningsSent: 0,
};
const fail = (health: EndpointHealth, when: Date, gone = false) =>
  afterFailure(health, { at: when, gone, retryMs });

/** Failures every hour from one hour to another; what was warned of and when. */
function failHourly(from: number, to: number) {
  const told: [hour: number, warning: number | null, pause: string | null][] = [];
  let health = HEALTHY;
  for (let hour = from; hour <= to; hour += 1) {
    const change = fail(health, at(hour));
    health = change.health;
    if (change.warning !== null || change.pause !== null) told.push([hour, change.warning, change.pause]);
    if (change.pause !== null) break;
  }
  return told;
}

describe("an endpoint that fails", () => {
  it("is warned of after a day and three days, and paused after five, with an hour's grace for the notes", () => {
    expect(failHourly(1, 200)).toEqual([
      [25, 1, null],
      [73, 2, null],
      [121, 3, "failing"],
    ]);
  });

  it("is not paused before its failures are spread over twelve hours, however long it was quiet", () => {
    expect(failHourly(500, 511).filter(([, , pause]) => pause !== null)).toEqual([]);
    expect(failHourly(500, 530).at(-1)).toEqual([512, 3, "failing"]);
  });

  it("is paused at once by 410", () => {
    expect(fail(HEALTHY, at(1), true)).toMatchObject({ pause: "gone", warning: 3 });
  });

  it("begins anew after a success", () => {
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

  it("is held after ten failures in a row, for the first step of the schedule and then twice as long each time", () => {
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

  it("is not held longer by requests that were under way when the hold began", () => {
    let health = HEALTHY;
    for (let count = 1; count <= 10; count += 1) health = fail(health, at(1)).health;
    const later = fail(health, new Date(at(1).getTime() + 10)).health;
    expect(later).toMatchObject({ consecutiveFailures: 10, backoffUntil: health.backoffUntil });
  });
});

describe("a success of an endpoint that is well", () => {
  it("is noted once an hour, so that not every delivery is a write", () => {
    expect(afterSuccess(HEALTHY, at(0.9))).toBeNull();
    expect(afterSuccess(HEALTHY, at(1))).toMatchObject({ lastSuccessAt: at(1) });
  });
});
