import { describe, expect, it } from "vitest";
import { readConfig } from "../../../../src/platform/config.ts";
import type { ClaimedDelivery, Completion } from "../../../../src/webhooks/delivery/claimed-delivery.ts";
import type { SendResult } from "../../../../src/webhooks/delivery/exchange.ts";
import { firstDelayMs, sendDelivery } from "../../../../src/webhooks/delivery/send-delivery.ts";
import type { SendRequest } from "../../../../src/webhooks/delivery/sender.ts";
import { aClaim, NOW } from "../../../support/claims.ts";

const config = {
  ...readConfig({}),
  webhookRetryMs: [1_000, 2_000],
  webhookTestRetryMs: [500],
  webhookTimeoutMs: 15_000,
};

/** Sends a claim to a receiver with this response. Returns what was sent as well. */
async function send(
  claim: ClaimedDelivery,
  response: Partial<SendResult> = { responseStatus: 200 },
): Promise<Completion & { requests: SendRequest[] }> {
  const requests: SendRequest[] = [];
  const sender = {
    send: async (request: SendRequest): Promise<SendResult> => {
      requests.push(request);
      return {
        durationMs: 7,
        responseStatus: null,
        responseBody: null,
        error: null,
        retryAfter: null,
        ...response,
      };
    },
    originCount: () => 0,
    cancelAll: () => undefined,
    close: async () => undefined,
  };
  const context = { config, clock: { now: () => NOW }, random: () => 0.5 };
  const destination = { url: new URL("https://partner.example/hooks"), headers: {}, keys: [] };
  return { ...(await sendDelivery(context, sender, claim, destination)), requests };
}

const inMs = (ms: number): Date => new Date(NOW.getTime() + ms);

describe("a delivery that is sent", () => {
  it.each([200, 204, 299])("succeeds with a response of %d", async (responseStatus) => {
    const { outcome, attempt } = await send(aClaim(), { responseStatus });
    expect(outcome).toEqual({ is: "succeeded" });
    expect(attempt).toMatchObject({ startedAt: NOW, durationMs: 7, responseStatus, error: null });
  });

  it.each([199, 300, 404, 410, 500])("is retried after a response of %d", async (responseStatus) => {
    const { outcome, attempt } = await send(aClaim(), { responseStatus });
    expect(outcome).toEqual({ is: "retry", at: inMs(1_000) });
    expect(attempt?.error).toBe(`HTTP ${responseStatus}`);
  });

  it("is retried when the response broke off, even if its status was good", async () => {
    const { outcome, attempt } = await send(aClaim(), { responseStatus: 200, error: "timeout" });
    expect(outcome.is).toBe("retry");
    expect(attempt?.error).toBe("timeout");
  });

  it("fails after the last attempt of the schedule", async () => {
    const failed = { responseStatus: 500 };
    expect((await send(aClaim({ attemptCount: 1 }), failed)).outcome).toEqual({
      is: "retry",
      at: inMs(2_000),
    });
    expect((await send(aClaim({ attemptCount: 2 }), failed)).outcome).toEqual({ is: "failed" });
  });

  it("follows the schedule of test orders, and never after their erasure", async () => {
    const failed = { responseStatus: 500 };
    const at = (notAfter: Date) => send(aClaim({ notAfter }), failed);
    expect((await at(inMs(501))).outcome).toEqual({ is: "retry", at: inMs(500) });
    expect((await at(inMs(500))).outcome).toEqual({ is: "failed" });
  });

  it("fails at once when it is manual", async () => {
    const manual = aClaim({ trigger: "manual" });
    expect((await send(manual, { responseStatus: 500 })).outcome).toEqual({ is: "failed" });
  });

  it("is released when it was cut off by a stop, with its attempt", async () => {
    const { outcome, attempt } = await send(aClaim(), { error: "canceled" });
    expect([outcome.is, attempt?.error]).toEqual(["released", "canceled"]);
  });
});

describe("a delivery that is not sent", () => {
  const expectUnsent = async (claim: ClaimedDelivery, outcome: "failed" | "released") => {
    const completion = await send(claim);
    expect(completion).toMatchObject({ attempt: null, outcome: { is: outcome }, requests: [] });
  };

  it("fails if its event is no longer kept", () => expectUnsent(aClaim({ event: null }), "failed"));

  it("fails from the erasure of its test order on", () => expectUnsent(aClaim({ notAfter: NOW }), "failed"));

  it("fails when it lost more than five claims beyond its schedule", async () => {
    expect((await send(aClaim({ attemptCount: 2 + 5 }))).requests).toHaveLength(1);
    await expectUnsent(aClaim({ attemptCount: 2 + 6 }), "failed");
  });

  it("is released when the lease might expire before its outcome is stored", async () => {
    expect((await send(aClaim({ leasedUntil: inMs(25_000) }))).requests).toHaveLength(1);
    await expectUnsent(aClaim({ leasedUntil: inMs(24_999) }), "released");
  });
});

describe("the time to the first attempt", () => {
  it("is that from the event to its first scheduled attempt", async () => {
    expect(firstDelayMs(await send(aClaim()))).toBe(25);
  });

  it.each([
    ["a retry", { attemptCount: 1 }],
    ["a manual attempt", { trigger: "manual" as const }],
    ["a recovery", { trigger: "recovery" as const }],
    ["a delivery that was not sent", { event: null }],
  ])("is unknown for %s", async (_title, fields) => {
    expect(firstDelayMs(await send(aClaim(fields)))).toBeNull();
  });
});
