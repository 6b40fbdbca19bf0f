import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../../src/platform/config.ts";
import { nextAttemptAt } from "../../../src/webhooks/delivery/send-delivery.ts";

const HOUR_MS = 3_600_000;
const now = new Date("2026-03-01T12:00:00Z");
const DEFAULTS = readConfig({});

const failed = (fields: Partial<Parameters<typeof nextAttemptAt>[0]> = {}) => ({
  attemptCount: 1,
  now,
  retryMs: DEFAULTS.webhookRetryMs,
  random: 0.5,
  retryAfter: null,
  responseStatus: 500,
  notAfter: null,
  ...fields,
});

/** The wait until the next try, or null. */
const waitMs = (fields: Parameters<typeof failed>[0]): number | null => {
  const next = nextAttemptAt(failed(fields));
  return next && next.getTime() - now.getTime();
};

const retryMs = fc.array(fc.integer({ min: 0, max: 100 * HOUR_MS }), { minLength: 1, maxLength: 50 });
const random = fc.double({ min: 0, max: 1, noNaN: true });
const retryAfter = fc.oneof(
  fc.constant(null),
  fc.nat().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  fc.string(),
);
const responseStatus = fc.oneof(
  fc.constant(null),
  fc.constantFrom(429, 503),
  fc.integer({ min: 300, max: 599 }),
);

describe("the schedule", () => {
  it("is 13 attempts in about 68 hours by default", () => {
    const waits = DEFAULTS.webhookRetryMs.map(
      (_, index) => waitMs({ attemptCount: index + 1 }) ?? Number.NaN,
    );
    expect(waits.map((wait) => wait / 1_000)).toEqual([
      5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 57_600, 86_400,
    ]);
    expect(waits.reduce((sum, wait) => sum + wait, 0) / HOUR_MS).toBeCloseTo(67.7, 1);
    expect(waitMs({ attemptCount: 13 })).toBeNull();
  });

  it("is five retries for test events", () => {
    const retries = DEFAULTS.webhookTestRetryMs;
    expect(retries.map((_, index) => waitMs({ attemptCount: index + 1, retryMs: retries }))).toEqual([
      5_000, 30_000, 120_000, 600_000, 1_800_000,
    ]);
    expect(waitMs({ attemptCount: 6, retryMs: retries })).toBeNull();
  });

  it("varies each interval from 20 % less to 20 % more", () => {
    expect(waitMs({ attemptCount: 4, random: 0 })).toBe(480_000);
    expect(waitMs({ attemptCount: 4, random: 1 })).toBe(720_000);
    fc.assert(
      fc.property(retryMs, random, fc.nat(60), (retryMs, random, index) => {
        const delay = retryMs[index];
        const wait = waitMs({ attemptCount: index + 1, retryMs, random });
        if (delay === undefined) {
          expect(wait).toBeNull();
          return;
        }
        expect(wait).toBeGreaterThanOrEqual(Math.floor(delay * 0.8));
        expect(wait).toBeLessThanOrEqual(Math.ceil(delay * 1.2));
      }),
    );
  });

  it("never ends early and is never in the past: each attempt of it is at or after now", () => {
    fc.assert(
      fc.property(
        retryMs,
        random,
        retryAfter,
        responseStatus,
        (retryMs, random, retryAfter, responseStatus) => {
          const attemptCount = retryMs.length;
          const wait = waitMs({ attemptCount, retryMs, random, retryAfter, responseStatus });
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(
            waitMs({ attemptCount: attemptCount + 1, retryMs, random, retryAfter, responseStatus }),
          ).toBeNull();
        },
      ),
    );
  });

  it("has no retries if the list is empty", () => {
    expect(waitMs({ retryMs: [] })).toBeNull();
  });
});

describe("the erasure of a test order", () => {
  it.each([
    ["before", 5_001, 5_000],
    ["at", 5_000, null],
    ["after", 4_999, null],
  ])("with the next attempt %s it", (_, erasedAfterMs, expected) => {
    expect(waitMs({ notAfter: new Date(now.getTime() + erasedAfterMs) })).toBe(expected);
  });

  it("also ends a wait that the receiver has requested", () => {
    const notAfter = new Date(now.getTime() + 30_000);
    expect(waitMs({ notAfter, responseStatus: 429, retryAfter: "29" })).toBe(29_000);
    expect(waitMs({ notAfter, responseStatus: 429, retryAfter: "30" })).toBeNull();
  });
});

describe("Retry-After", () => {
  const obeyed = (retryAfter: string, fields: Parameters<typeof failed>[0] = {}) =>
    waitMs({ responseStatus: 429, retryAfter, ...fields });

  it("counts on 429 and 503 only", () => {
    expect(obeyed("20")).toBe(20_000);
    expect(obeyed("20", { responseStatus: 503 })).toBe(20_000);
    for (const responseStatus of [null, 301, 400, 410, 500, 502, 504])
      expect(obeyed("20", { responseStatus })).toBe(5_000);
  });

  it("is seconds or an HTTP date in either form", () => {
    expect(obeyed(" 20 ")).toBe(20_000);
    expect(obeyed("Sun, 01 Mar 2026 12:00:20 GMT")).toBe(20_000);
    expect(obeyed("Sunday, 01-Mar-26 12:00:20 GMT")).toBe(20_000);
  });

  it("never makes a wait shorter", () => {
    expect(obeyed("0")).toBe(5_000);
    expect(obeyed("4")).toBe(5_000);
    expect(obeyed("Sun, 01 Mar 2020 12:00:00 GMT")).toBe(5_000);
    expect(obeyed("500", { attemptCount: 4, random: 1 })).toBe(720_000);
  });

  it("is obeyed up to 60 s also where the interval is shorter, then up to twice the interval", () => {
    expect(obeyed("60")).toBe(60_000);
    expect(obeyed("3600")).toBe(60_000);
    expect(obeyed("60", { retryMs: [0] })).toBe(60_000);
    expect(obeyed("1200", { attemptCount: 4 })).toBe(1_200_000);
    expect(obeyed("1201", { attemptCount: 4 })).toBe(1_200_000);
    expect(obeyed("99999999999999999999")).toBe(60_000);
  });

  it("cannot postpone an attempt for more than 24 hours", () => {
    expect(obeyed("86400", { attemptCount: 11 })).toBe(24 * HOUR_MS);
    expect(obeyed("86401", { attemptCount: 11 })).toBe(24 * HOUR_MS);
    expect(obeyed("999999", { attemptCount: 12 })).toBe(24 * HOUR_MS);
  });

  it.each([
    "",
    "soon",
    "-5",
    "1.5",
    "2026-03-01T13:00:00Z",
    "1e3",
    "0x10",
    "20, 30",
    "Never, GMT",
    "1 20",
    "20 s",
    "after Sun, 01 Mar 2026 12:00:20 GMT",
    "Sun, 01 Mar 2026 12:00:20 GMT-0001",
  ])("is ignored when it is %j", (text) => {
    expect(obeyed(text)).toBe(5_000);
  });

  it("keeps every wait between the varied interval and its own limit", () => {
    fc.assert(
      fc.property(
        retryMs,
        random,
        retryAfter,
        responseStatus,
        (retryMs, random, retryAfter, responseStatus) => {
          const delay = retryMs[0] ?? 0;
          const scheduled = waitMs({ retryMs, random }) ?? Number.NaN;
          const wait = waitMs({ retryMs, random, retryAfter, responseStatus });
          expect(wait).toBeGreaterThanOrEqual(scheduled);
          const limit = Math.min(Math.max(2 * delay, 60_000), 24 * HOUR_MS);
          expect(wait).toBeLessThanOrEqual(Math.max(scheduled, limit));
        },
      ),
    );
  });
});
