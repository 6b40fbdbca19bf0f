import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RetryTimers } from "../../../../src/webhooks/delivery/claimer.ts";
import { aConnection } from "../../../support/claims.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Timers and the connections that they have reported. */
function start(): { timers: RetryTimers; due: string[] } {
  const due: string[] = [];
  return { timers: new RetryTimers(({ connectionId }) => due.push(connectionId)), due };
}

it("a timer reports its connection once, when it is due and not before", () => {
  const { timers, due } = start();
  timers.set(aConnection("a"), 1_500);
  vi.advanceTimersByTime(1_499);
  expect(due).toEqual([]);
  vi.advanceTimersByTime(5_000);
  expect(due).toEqual(["a"]);
});

it("a time in the past is due at once", () => {
  const { timers, due } = start();
  timers.set(aConnection("a"), -60_000);
  vi.advanceTimersByTime(0);
  expect(due).toEqual(["a"]);
});

it("waits of more than two seconds are left to polling", () => {
  const { timers, due } = start();
  timers.set(aConnection("near"), 2_000);
  timers.set(aConnection("far"), 2_001);
  vi.advanceTimersByTime(60_000);
  expect(due).toEqual(["near"]);
});

it("nothing is reported after a stop, and nothing keeps the process alive", () => {
  const { timers, due } = start();
  timers.set(aConnection("before"), 100);
  timers.stop();
  timers.set(aConnection("after"), 100);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect(due).toEqual([]);
});
